//! Output without cursor movement: to a pipe, a file, or a terminal without styles.

use std::io::{self, Write};

pub(super) struct Plain {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// The agent's text does not end with a newline yet.
    mid_line: bool,
    has_words: bool,
    shows_drafts: bool,
}

impl Plain {
    pub(super) fn new(
        out: impl Write + Send + 'static,
        err: impl Write + Send + 'static,
        shows_drafts: bool,
    ) -> Self {
        Self { out: Box::new(out), err: Box::new(err), mid_line: false, has_words: false, shows_drafts }
    }

    pub(super) const fn shows_drafts(&self) -> bool {
        self.shows_drafts
    }

    /// The text is escaped already.
    pub(super) fn words(&mut self, words: &str) -> io::Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        self.out.write_all(words.as_bytes())?;
        self.out.flush()?;
        self.mid_line = !words.ends_with('\n');
        self.has_words = true;
        Ok(())
    }

    pub(super) fn paragraph(&mut self) -> io::Result<()> {
        self.end_line()?;
        if self.has_words { self.words("\n") } else { Ok(()) }
    }

    pub(super) fn end_line(&mut self) -> io::Result<()> {
        if self.mid_line { self.words("\n") } else { Ok(()) }
    }

    pub(super) fn note(&mut self, lines: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.err, "{}", lines.trim_end_matches('\n'))
    }

    pub(super) fn prompt(&mut self, label: &str) -> io::Result<()> {
        self.end_line()?;
        write!(self.err, "{label}")?;
        self.err.flush()
    }
}
