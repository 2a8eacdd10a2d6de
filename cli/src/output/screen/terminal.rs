//! A terminal: what was said scrolls away, and below it are lines that are replaced: the words that are being written, and what goes on.
//!
//! Invariants: only those lines are ever erased; no such line is wider than the terminal, and all of them fit on it; a change of what is
//! shown is one write.

use super::{Size, stderr_size};
use crate::output::{markdown::Markdown, text};
use std::io::{self, Write};

/// Where the terminal does not say how large it is.
const USUAL: Size = Size { columns: 80, rows: 24 };
/// Kept free at the end of a line that is replaced: a key that is typed is shown there.
const FREE_COLUMNS: usize = 4;
const ERASE_ROW: &str = "\r\x1b[2K";
const ERASE_ROW_ABOVE: &str = "\x1b[A\x1b[2K";
/// Terminals that know this draw all that is between the two at once.
const BEGIN_FRAME: &str = "\x1b[?2026h";
const END_FRAME: &str = "\x1b[?2026l";

pub(super) struct Terminal {
    to: Box<dyn Write + Send>,
    size: Option<Size>,
    markdown: Markdown,
    live: Vec<String>,
    /// The lines at the bottom, as they were drawn. The cursor is at the end of the last.
    drawn: Vec<String>,
    last: Last,
    /// A blank line comes before the next words.
    is_apart: bool,
}

/// What was said last.
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

    /// One that does not change its size.
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

    /// For lines that are replaced.
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

    /// Ends the words that are open; what comes next stands beside them.
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

    /// Lines of the agent's, with what comes before them.
    fn said(&mut self, mut rendered: String) -> String {
        if !rendered.is_empty() {
            if std::mem::take(&mut self.is_apart) {
                rendered.insert(0, '\n');
            }
            self.last = Last::Words;
        }
        rendered
    }

    /// Of a line that nothing follows on its row.
    fn width(&self) -> usize {
        self.size().columns.saturating_sub(1).max(1)
    }

    /// Puts `said` above the lines at the bottom, and draws those anew.
    fn draw(&mut self, said: &str) -> io::Result<()> {
        let lines = self.bottom();
        if said.is_empty() && lines == self.drawn {
            return Ok(());
        }
        let mut frame = BEGIN_FRAME.to_owned();
        // Row by row: some terminals keep what is erased at once, if it is all that they show.
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

    /// What is being written and what goes on, as much as there is room for.
    fn bottom(&self) -> Vec<String> {
        let room = self.room();
        let mut open = self.markdown.open(room.columns);
        if !open.is_empty() && self.is_apart {
            open.insert(0, String::new());
        }
        // A blank line is the first to go where there is little room.
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

    /// Rows that the lines at the bottom have now: a terminal that became narrower has broken them.
    fn rows_drawn(&self) -> usize {
        let columns = self.size().columns;
        self.drawn.iter().map(|line| painted_width(line).div_ceil(columns).max(1)).sum()
    }
}

/// Columns of a line with styles.
fn painted_width(line: &str) -> usize {
    text::width(&anstream::adapter::strip_str(line).to_string())
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nothing to show if the terminal is gone.
        self.live.clear();
        let _ = self.end_words();
    }
}

#[cfg(test)]
mod tests;
