//! Where it goes: words of the agent to standard output, all else to standard error, and on a terminal a live line at the bottom.

use crate::output::{
    style::{FAINT, paint},
    text,
};
use std::io::{self, IsTerminal as _, Write};

/// Back to the start of the line, and erase it. Cursor control, not colour: it goes where a terminal is, whatever `--color` says.
const ERASE_LINE: &[u8] = b"\r\x1b[2K";

/// The two streams as one screen: both usually end on the same terminal.
pub(crate) struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// The agent's words do not end with a line end yet.
    mid_line: bool,
    has_words: bool,
    drafts: bool,
    /// Whether there is a live line, and whether it shows.
    live: Live,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Live {
    /// Standard error is no terminal that could erase it.
    Never,
    Hidden,
    Shown,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let live = if io::stderr().is_terminal() && !dumb { Live::Hidden } else { Live::Never };
        let mut screen = Self::on(anstream::stdout(), anstream::stderr(), live);
        screen.drafts = io::stdout().is_terminal();
        screen
    }

    fn on(out: impl Write + Send + 'static, err: impl Write + Send + 'static, live: Live) -> Self {
        Self {
            out: Box::new(out),
            err: Box::new(err),
            mid_line: false,
            has_words: false,
            drafts: false,
            live,
        }
    }

    /// Whether words of a reply that is not recorded yet may be shown. A person at a terminal reads that an attempt failed and what
    /// replaces it; a file or a program would keep both, so it gets words only once they are recorded.
    pub(crate) const fn shows_drafts(&self) -> bool {
        self.drafts
    }

    /// A piece of the agent's words, made safe already.
    pub(crate) fn words(&mut self, words: &str) -> io::Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        self.hide_live()?;
        self.out.write_all(words.as_bytes())?;
        self.out.flush()?;
        self.mid_line = !words.ends_with('\n');
        self.has_words = true;
        Ok(())
    }

    /// What the agent says next stands apart from what it said before.
    pub(crate) fn paragraph(&mut self) -> io::Result<()> {
        self.end_line()?;
        if self.has_words { self.words("\n") } else { Ok(()) }
    }

    /// Ends the line of the agent's words, if they did not.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        if self.mid_line { self.words("\n") } else { Ok(()) }
    }

    /// A line beside the agent's words.
    pub(crate) fn note(&mut self, line: &str) -> io::Result<()> {
        self.end_line()?;
        self.hide_live()?;
        writeln!(self.err, "{}", line.trim_end_matches('\n'))
    }

    /// The same without a line end: what is typed comes after it.
    pub(crate) fn prompt(&mut self, label: &str) -> io::Result<()> {
        self.end_line()?;
        self.hide_live()?;
        write!(self.err, "{label}")?;
        self.err.flush()
    }

    /// Columns of the terminal that a line beside the words goes to; `None` where it is none.
    pub(crate) fn width(&self) -> Option<usize> {
        match self.live {
            Live::Never => None,
            Live::Hidden | Live::Shown => {
                terminal_size::terminal_size_of(io::stderr()).map(|(w, _)| usize::from(w.0))
            }
        }
    }

    /// What goes on, on a terminal only; replaced by whatever comes next.
    pub(crate) fn live(&mut self, words: &str) -> io::Result<()> {
        if self.live == Live::Never || self.mid_line {
            return Ok(());
        }
        let room = self.width().unwrap_or(80);
        let line = paint(FAINT, &text::fit(words, room.saturating_sub(1)));
        self.erase()?;
        write!(self.err, "{line}")?;
        self.err.flush()?;
        self.live = Live::Shown;
        Ok(())
    }

    pub(crate) fn hide_live(&mut self) -> io::Result<()> {
        if self.live == Live::Shown {
            self.live = Live::Hidden;
            self.erase()?;
        }
        Ok(())
    }

    /// Erases the line that a prompt left.
    pub(crate) fn erase_prompt(&mut self) -> io::Result<()> {
        if self.live == Live::Never { writeln!(self.err) } else { self.erase() }
    }

    fn erase(&self) -> io::Result<()> {
        let mut err = io::stderr().lock();
        err.write_all(ERASE_LINE)?;
        err.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing to tell if the terminal is gone.
        let _ = self.hide_live();
    }
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
pub(crate) mod captured {
    use super::{Live, Screen};
    use std::{
        io::{self, Write},
        sync::{Arc, Mutex},
    };

    /// What a screen without a live line was given: words as they are, each line beside them as `| line`.
    #[derive(Clone, Default)]
    pub(crate) struct Captured(Arc<Mutex<String>>);

    struct Sink {
        to: Captured,
        mark: &'static str,
    }

    impl Captured {
        /// Its standard output is a file.
        pub(crate) fn piped(&self) -> Screen {
            Screen::on(
                Sink { to: self.clone(), mark: "" },
                Sink { to: self.clone(), mark: "| " },
                Live::Never,
            )
        }

        /// Its standard output is a terminal.
        pub(crate) fn screen(&self) -> Screen {
            let mut screen = self.piped();
            screen.drafts = true;
            screen
        }

        pub(crate) fn take(&self) -> String {
            let text = std::mem::take(&mut *self.0.lock().unwrap());
            anstream::adapter::strip_str(&text).to_string()
        }
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut all = self.to.0.lock().unwrap();
            if all.is_empty() || all.ends_with('\n') {
                all.push_str(self.mark);
            }
            all.push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
