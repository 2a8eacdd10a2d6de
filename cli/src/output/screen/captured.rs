//! Screens for tests, whose content can be read.

use super::{Face, Plain, Screen, Terminal};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

/// What was printed. Without a terminal: text as it is, and each line beside it as `| line`.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<String>>);

struct Sink {
    to: Captured,
    mark: &'static str,
}

impl Captured {
    /// Its standard output is a terminal without styles.
    pub(crate) fn screen(&self) -> Screen {
        self.plain(true)
    }

    /// Its standard output is a file.
    pub(crate) fn piped(&self) -> Screen {
        self.plain(false)
    }

    fn plain(&self, shows_drafts: bool) -> Screen {
        let sink = |mark| Sink { to: self.clone(), mark };
        Screen(Face::Plain(Plain::new(sink(""), sink("| "), shows_drafts)))
    }

    pub(crate) fn terminal(&self, columns: usize, rows: usize) -> Screen {
        Screen(Face::Terminal(Terminal::sized(Sink { to: self.clone(), mark: "" }, columns, rows)))
    }

    pub(crate) fn take(&self) -> String {
        anstream::adapter::strip_str(&self.raw()).to_string()
    }

    /// Including the sequences that move the cursor.
    pub(crate) fn raw(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap())
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
