use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    io::{self, BufRead, Read as _, Write},
};

/// A line between daemon and helper is no longer than this, in bytes.
const MAX_LINE: u64 = 4 << 20;

/// From the daemon, any time after the order: end the command. Its processes may clean up first.
pub(crate) const STOP: u8 = b's';

/// From the daemon, first: what to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Program (absolute) and arguments.
    pub(crate) command: Vec<String>,
    /// The whole of it.
    pub(crate) environment: BTreeMap<String, String>,
}

/// To the daemon, last: nothing runs any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) ending: Ending,
    /// Processes that the command left behind and that were killed.
    pub(crate) ended: usize,
    /// Processes that could not be killed.
    pub(crate) survivors: usize,
}

/// How the command itself ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    Exited(i32),
    /// By this signal.
    Killed(i32),
    NotStarted(String),
}

impl Report {
    pub(super) const fn of(ending: Ending) -> Self {
        Self { ending, ended: 0, survivors: 0 }
    }

    pub(super) fn write(&self, to: impl Write) -> io::Result<()> {
        write_line(self, to)
    }
}

impl Order {
    /// The line that [`super::main`] waits for.
    pub(crate) fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        write_line(self, &mut line)?;
        if line.len() as u64 > MAX_LINE {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the command and its environment are too long",
            ));
        }
        Ok(line)
    }
}

fn write_line(value: &impl Serialize, mut to: impl Write) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// The next line; `None` if the connection was closed.
pub(super) fn read_line<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    from.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
