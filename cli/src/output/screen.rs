//! Writes the agent's text to standard output and everything else to standard error. If both are one
//! terminal, it is one screen: the agent's Markdown is rendered, and the status lines are kept below it.

mod plain;
mod terminal;

use crate::output::{fold, text};
use plain::Plain;
use std::{
    env,
    io::{self, IsTerminal as _, Write},
};
use terminal::Terminal;

/// Standard output and standard error, as one screen or as two streams.
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

    /// Whether live text of a reply may be printed before it is recorded. A person at a terminal sees that an
    /// attempt failed and what replaces it; a file or a program would keep both, so it gets only recorded
    /// text.
    pub(crate) const fn shows_drafts(&self) -> bool {
        match &self.0 {
            Face::Plain(plain) => plain.shows_drafts(),
            Face::Terminal(_) => true,
        }
    }

    /// The width of standard error's terminal; `None` without one.
    pub(crate) fn width(&self) -> Option<usize> {
        self.size().map(|size| size.columns)
    }

    /// The size of standard error's terminal; `None` without one.
    pub(crate) fn size(&self) -> Option<Size> {
        match &self.0 {
            Face::Plain(_) => stderr_size(),
            Face::Terminal(terminal) => Some(terminal.size()),
        }
    }

    /// The room for lines that are replaced; zero if lines cannot be replaced.
    pub(crate) fn room(&self) -> Size {
        match &self.0 {
            Face::Plain(_) => Size { columns: 0, rows: 0 },
            Face::Terminal(terminal) => terminal.room(),
        }
    }

    /// Prints a piece of the agent's text, unescaped.
    pub(crate) fn words(&mut self, raw: &str) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.words(&text::block(raw)),
            Face::Terminal(terminal) => terminal.words(raw),
        }
    }

    /// A blank line precedes the agent's next text.
    pub(crate) fn paragraph(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.paragraph(),
            Face::Terminal(terminal) => terminal.paragraph(),
        }
    }

    /// The agent's text is complete.
    pub(crate) fn end_words(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.end_line(),
            Face::Terminal(terminal) => terminal.end_words(),
        }
    }

    /// Prints lines beside the agent's text.
    pub(crate) fn note(&mut self, lines: &str) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.note(lines),
            Face::Terminal(terminal) => terminal.note(lines),
        }
    }

    /// Prints prose beside the agent's text: on a terminal its lines break between words.
    pub(crate) fn prose(&mut self, lines: &str) -> io::Result<()> {
        match self.width() {
            Some(columns) => self.note(&fold::folded(lines, columns)),
            None => self.note(lines),
        }
    }

    /// Prints one line without a newline, for input on the same line.
    pub(crate) fn prompt(&mut self, label: &str) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(plain) => plain.prompt(label),
            Face::Terminal(terminal) => terminal.prompt(label),
        }
    }

    /// Sets the status lines at the bottom, until they are set again. Nothing is printed where lines cannot
    /// be replaced.
    pub(crate) fn live(&mut self, lines: Vec<String>) -> io::Result<()> {
        match &mut self.0 {
            Face::Plain(_) => Ok(()),
            Face::Terminal(terminal) => terminal.live(lines),
        }
    }

    /// Removes the status lines; later output on standard error follows after a blank line.
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

/// The width of standard error's terminal; `None` without one.
pub(crate) fn note_width() -> Option<usize> {
    stderr_size().map(|size| size.columns)
}

/// Whether standard output is a terminal.
pub(crate) fn is_seen() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard output is a terminal that takes styles, and styles are not disabled.
pub(crate) fn is_rich() -> bool {
    let stdout = io::stdout();
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    stdout.is_terminal() && !is_dumb && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
}

/// Whether standard output and standard error are the same terminal.
#[cfg(unix)]
fn is_one_terminal() -> bool {
    let device = |fd| rustix::fs::fstat(fd).ok().map(|stat| stat.st_rdev);
    io::stderr().is_terminal() && device(rustix::stdio::stdout()) == device(rustix::stdio::stderr())
}

#[cfg(not(unix))]
fn is_one_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Resolves when standard output is a pipe that nobody reads any more, as that of `head` is when it has
/// enough. A write would say so too, but the next one may be hours away.
#[cfg(unix)]
pub(crate) async fn unread() {
    use std::os::fd::AsFd as _;
    use tokio::{io::Interest, net::unix::pipe::Sender};
    // It stays blocking: other processes may share it. A file cannot be watched, and is always there.
    let watched = io::stdout().as_fd().try_clone_to_owned().and_then(Sender::from_owned_fd_unchecked);
    let Ok(watched) = watched else { return std::future::pending().await };
    // It may return without reason.
    while watched.ready(Interest::ERROR).await.is_ok_and(|ready| !ready.is_error()) {}
}

#[cfg(not(unix))]
pub(crate) async fn unread() {
    std::future::pending().await
}

/// Prints a rendered text to standard output.
pub(crate) fn print(rendered: &str) -> io::Result<()> {
    let mut out = anstream::stdout();
    out.write_all(rendered.as_bytes())?;
    out.flush()
}

/// Prints a line for a person to standard error.
pub(crate) fn note(line: &str) -> io::Result<()> {
    writeln!(anstream::stderr(), "{}", line.trim_end_matches('\n'))
}

#[cfg(test)]
pub(crate) mod captured;
