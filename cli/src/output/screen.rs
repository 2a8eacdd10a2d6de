//! Where it goes: words of the agent to standard output, all else to standard error. Where both are one terminal, they are one screen:
//! the agent's Markdown is rendered, and what goes on is shown below until it is over.

mod plain;
mod terminal;

use crate::output::text;
use plain::Plain;
use std::{
    env,
    io::{self, IsTerminal as _, Write},
};
use terminal::Terminal;

/// The two streams, as a person sees them.
pub(crate) struct Screen(Face);

enum Face {
    Plain(Plain),
    Terminal(Terminal),
}

impl Screen {
    pub(crate) fn new() -> Self {
        if is_rich() && is_one_terminal() {
            Self(Face::Terminal(Terminal::new(io::stderr())))
        } else {
            let drafts = io::stdout().is_terminal();
            Self(Face::Plain(Plain::new(anstream::stdout(), anstream::stderr(), drafts)))
        }
    }

    /// Whether words of a reply that is not recorded yet may be shown. A person at a terminal reads that an attempt failed and what
    /// replaces it; a file or a program would keep both, so it gets words only once they are recorded.
    pub(crate) const fn shows_drafts(&self) -> bool {
        match &self.0 {
            Face::Plain(plain) => plain.shows_drafts(),
            Face::Terminal(_) => true,
        }
    }

    /// Columns of the terminal that a line beside the words goes to; `None` where it is none.
    pub(crate) fn width(&self) -> Option<usize> {
        match &self.0 {
            Face::Plain(_) => stderr_size().map(|size| size.columns),
            Face::Terminal(terminal) => Some(terminal.size().columns),
        }
    }

    /// The room for lines that are replaced; none where that cannot be.
    pub(crate) fn room(&self) -> Size {
        match &self.0 {
            Face::Plain(_) => Size { columns: 0, rows: 0 },
            Face::Terminal(terminal) => terminal.room(),
        }
    }

    /// A piece of the agent's words, as they are.
    pub(crate) fn words(&mut self, raw: &str) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.words(&text::block(raw)),
            Face::Terminal(terminal) => terminal.words(raw),
        }
    }

    /// What the agent says next stands apart from what it said before.
    pub(crate) fn paragraph(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.paragraph(),
            Face::Terminal(terminal) => terminal.paragraph(),
        }
    }

    /// The agent has said what it had to say.
    pub(crate) fn end_words(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.end_line(),
            Face::Terminal(terminal) => terminal.end_words(),
        }
    }

    /// Lines beside the agent's words.
    pub(crate) fn note(&mut self, lines: &str) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.note(lines),
            Face::Terminal(terminal) => terminal.note(lines),
        }
    }

    /// The same without a line end: what is typed comes after it.
    pub(crate) fn prompt(&mut self, label: &str) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.prompt(label),
            Face::Terminal(terminal) => terminal.prompt(label),
        }
    }

    /// What goes on, below all that was said; it stays there until there are other lines, or none. Not shown where it could not be
    /// replaced.
    pub(crate) fn live(&mut self, lines: Vec<String>) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(_) => Ok(()),
            Face::Terminal(terminal) => terminal.live(lines),
        }
    }

    /// All is said; what comes after it on standard error stands apart.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.end_line(),
            Face::Terminal(terminal) => terminal.close(),
        }
    }

    /// Erases the line that a prompt left.
    pub(crate) fn erase_prompt(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.note(""),
            Face::Terminal(terminal) => terminal.erase_prompt(),
        }
    }
}

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

fn stderr_size() -> Option<Size> {
    let (columns, rows) = terminal_size::terminal_size_of(io::stderr())?;
    Some(Size { columns: usize::from(columns.0), rows: usize::from(rows.0) })
}

/// Columns of the terminal that standard error goes to; `None` where it is none.
pub(crate) fn note_width() -> Option<usize> {
    stderr_size().map(|size| size.columns)
}

/// A person sees what is written to standard output.
pub(crate) fn is_seen() -> bool {
    io::stdout().is_terminal()
}

/// Standard output is a terminal that takes styles, and nobody said that it shall have none.
pub(crate) fn is_rich() -> bool {
    let stdout = io::stdout();
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    stdout.is_terminal() && !is_dumb && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
}

/// Standard output and standard error are the same terminal.
#[cfg(unix)]
fn is_one_terminal() -> bool {
    let device = |fd| rustix::fs::fstat(fd).ok().map(|stat| stat.st_rdev);
    io::stderr().is_terminal() && device(rustix::stdio::stdout()) == device(rustix::stdio::stderr())
}

#[cfg(not(unix))]
fn is_one_terminal() -> bool {
    io::stderr().is_terminal()
}

/// A rendered text, whole, on standard output.
pub(crate) fn print(rendered: &str) -> io::Result<()> {
    let mut out = anstream::stdout();
    out.write_all(rendered.as_bytes())?;
    out.flush()
}

/// A line on standard error, for a person, beside what was asked for.
pub(crate) fn note(line: &str) -> io::Result<()> {
    writeln!(anstream::stderr(), "{}", line.trim_end_matches('\n'))
}

#[cfg(test)]
pub(crate) mod captured;
