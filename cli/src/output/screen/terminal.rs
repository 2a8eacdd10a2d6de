//! A terminal: finished text scrolls away. Below it are lines that are replaced: the block being written, and
//! the status lines.
//!
//! Invariants: only those lines are ever erased; none of them is wider than the terminal, and all fit on it;
//! each change of the screen is one write.

use super::{Size, stderr_size};
use crate::output::{markdown::Markdown, text};
use std::io::{self, Write};

/// Used if the terminal does not tell its size.
const USUAL: Size = Size { columns: 80, rows: 24 };
/// Columns left free at the end of a replaced line, since typed keys are echoed there.
const FREE_COLUMNS: usize = 4;
const ERASE_ROW: &str = "\r\x1b[2K";
const ERASE_ROW_ABOVE: &str = "\x1b[A\x1b[2K";
/// Begins a frame that terminals with this feature draw at once.
const BEGIN_FRAME: &str = "\x1b[?2026h";
const END_FRAME: &str = "\x1b[?2026l";

pub(super) struct Terminal {
    to: Box<dyn Write + Send>,
    size: Option<Size>,
    markdown: Markdown,
    live: Vec<String>,
    /// The replaced lines as drawn. The cursor is at the end of the last one.
    drawn: Vec<String>,
    last: Last,
    /// A blank line precedes the next text.
    is_apart: bool,
}

/// The kind of the last text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Words,
    Note,
}

impl Terminal {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        Self {
            to: Box::new(to),
            size: None,
            markdown: Markdown::default(),
            live: Vec::new(),
            drawn: Vec::new(),
            last: Last::Nothing,
            is_apart: false,
        }
    }

    /// A terminal of a fixed size.
    #[cfg(test)]
    pub(super) fn sized(to: impl Write + Send + 'static, columns: usize, rows: usize) -> Self {
        let mut terminal = Self::new(to);
        terminal.size = Some(Size { columns, rows });
        terminal
    }

    pub(super) fn size(&self) -> Size {
        let size = self.size.or_else(stderr_size).unwrap_or(USUAL);
        Size { columns: size.columns.max(1), rows: size.rows.max(1) }
    }

    /// The room for replaced lines.
    pub(super) fn room(&self) -> Size {
        let Size { columns, rows } = self.size();
        Size { columns: columns.saturating_sub(FREE_COLUMNS).max(1), rows: rows.saturating_sub(1).max(1) }
    }

    pub(super) fn words(&mut self, raw: &str) -> io::Result<()> {
        let rendered = self.markdown.push(raw, self.width());
        let said = self.said(rendered);
        self.draw(&said)
    }

    pub(super) fn paragraph(&mut self) -> io::Result<()> {
        self.end_words()?;
        self.is_apart = self.last != Last::Nothing;
        Ok(())
    }

    pub(super) fn end_words(&mut self) -> io::Result<()> {
        let rendered = self.markdown.finish(self.width());
        let said = self.said(rendered);
        self.draw(&said)
    }

    pub(super) fn note(&mut self, lines: &str) -> io::Result<()> {
        let said = self.before_aside();
        self.draw(&format!("{said}{}\n", lines.trim_end_matches('\n')))
    }

    /// Ends the open text before something else is printed.
    fn before_aside(&mut self) -> String {
        let rendered = self.markdown.interrupt(self.width());
        let mut said = self.said(rendered);
        if self.last == Last::Words {
            said.push('\n');
        }
        self.last = Last::Note;
        self.is_apart = true;
        said
    }

    pub(super) fn prompt(&mut self, label: &str) -> io::Result<()> {
        let said = self.before_aside();
        self.live.clear();
        self.draw(&said)?;
        self.to.write_all(label.as_bytes())?;
        self.to.flush()
    }

    pub(super) fn live(&mut self, lines: Vec<String>) -> io::Result<()> {
        self.live = lines;
        self.draw("")
    }

    pub(super) fn close(&mut self) -> io::Result<()> {
        self.live.clear();
        let said = self.before_aside();
        self.markdown = Markdown::default();
        self.draw(&said)
    }

    pub(super) fn erase_prompt(&mut self) -> io::Result<()> {
        self.to.write_all(ERASE_ROW.as_bytes())?;
        self.to.flush()
    }

    /// Text of the agent, after a blank line if one is needed.
    fn said(&mut self, mut rendered: String) -> String {
        if !rendered.is_empty() {
            if std::mem::take(&mut self.is_apart) {
                rendered.insert(0, '\n');
            }
            self.last = Last::Words;
        }
        rendered
    }

    /// The width of a line that has its row to itself.
    fn width(&self) -> usize {
        self.size().columns.saturating_sub(1).max(1)
    }

    /// Prints `said` above the replaced lines and draws those again.
    fn draw(&mut self, said: &str) -> io::Result<()> {
        let lines = self.bottom();
        if said.is_empty() && lines == self.drawn {
            return Ok(());
        }
        let mut frame = BEGIN_FRAME.to_owned();
        // Row by row: some terminals move the screen to the scrollback if all of it is erased at once.
        for row in 0..self.rows_drawn() {
            frame.push_str(if row == 0 { ERASE_ROW } else { ERASE_ROW_ABOVE });
        }
        frame.push_str(said);
        frame.push_str(&lines.join("\n"));
        frame.push_str(END_FRAME);
        self.drawn = lines;
        self.to.write_all(frame.as_bytes())?;
        self.to.flush()
    }

    /// The open block and the status lines, as far as there is room.
    fn bottom(&self) -> Vec<String> {
        let room = self.room();
        let mut open = self.markdown.open(room.columns);
        if !open.is_empty() && self.is_apart {
            open.insert(0, String::new());
        }
        // If there is little room, the blank line goes first.
        let has_said = !open.is_empty() || self.last != Last::Nothing;
        let gap = usize::from(has_said && !self.live.is_empty() && room.rows > 8);
        let left = room.rows.saturating_sub(gap + self.live.len());
        let mut lines = open.split_off(open.len().saturating_sub(left));
        lines.extend((0..gap).map(|_| String::new()));
        lines.extend(self.live.iter().cloned());
        let mut lines = lines.split_off(lines.len().saturating_sub(room.rows));
        for line in lines.iter_mut().filter(|line| painted_width(line) > room.columns) {
            *line = text::fit(&anstream::adapter::strip_str(line).to_string(), room.columns).into_owned();
        }
        lines
    }

    /// How many rows the replaced lines take now: a narrower terminal has broken them.
    fn rows_drawn(&self) -> usize {
        let columns = self.size().columns;
        self.drawn.iter().map(|line| painted_width(line).div_ceil(columns).max(1)).sum()
    }
}

/// The width of a line with styles.
fn painted_width(line: &str) -> usize {
    text::width(&anstream::adapter::strip_str(line).to_string())
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // If the terminal is gone, the error does not matter.
        self.live.clear();
        let _ = self.end_words();
    }
}

#[cfg(test)]
mod tests;
