use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr},
};
use std::io::{self, IsTerminal as _};

/// More than the kernel hands out at once of a line.
const CHUNK: usize = 8192;

/// A terminal with a person: standard input and standard error are one.
#[derive(Clone, Copy)]
pub(crate) struct Terminal(());

impl Terminal {
    pub(crate) fn open() -> Option<Self> {
        (io::stdin().is_terminal() && io::stderr().is_terminal()).then_some(Self(()))
    }

    /// A line without its end, edited with what the terminal itself offers; `None` for Ctrl-D.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let chunk = chunk().await?;
            let is_end = chunk.is_empty();
            line.extend(chunk);
            // Ctrl-D after some words hands them out without a line end: they are not lost, nor is the line over.
            if line.ends_with(b"\n") {
                line.pop();
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            if is_end {
                return Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    /// A line and whatever is there with it: a pasted block is one.
    pub(crate) async fn block(&self) -> io::Result<Option<String>> {
        let Some(mut block) = self.line().await? else { return Ok(None) };
        while is_ready()? {
            let Some(line) = self.line().await? else { break };
            block.push('\n');
            block.push_str(&line);
        }
        Ok(Some(block))
    }

    /// A line that is not shown.
    pub(crate) async fn secret(&self) -> io::Result<Option<String>> {
        let _echo = Without::modes(LocalModes::ECHO)?;
        self.line().await
    }

    /// One key, without Enter. Ctrl-C still interrupts.
    pub(crate) async fn key(&self) -> io::Result<u8> {
        let _line = Without::modes(LocalModes::ICANON | LocalModes::ECHO)?;
        let keys = chunk().await?;
        match keys[..] {
            [] => Ok(super::END_OF_INPUT),
            [key] => Ok(key),
            // An arrow, a pasted text: no key of ours.
            _ => Ok(0),
        }
    }

    /// Drops what was typed before it was asked for, so that it cannot decide anything.
    pub(crate) fn forget_typed(&self) -> io::Result<()> {
        Ok(tcflush(io::stdin(), QueueSelector::IFlush)?)
    }
}

/// The terminal's modes, back as they were when this goes.
struct Without(Termios);

impl Without {
    fn modes(modes: LocalModes) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut changed = before.clone();
        changed.local_modes.remove(modes);
        tcsetattr(io::stdin(), OptionalActions::Now, &changed)?;
        Ok(Self(before))
    }
}

impl Drop for Without {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// What the terminal has, once it has something; empty at the end. Dropped, it takes nothing from the terminal.
async fn chunk() -> io::Result<Vec<u8>> {
    // Dropping the sender ends the wait of the thread: a plain read could not be called off.
    let (called_off, _sender) = io::pipe()?;
    let read = tokio::task::spawn_blocking(move || {
        let stdin = io::stdin();
        let mut events = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&called_off, PollFlags::IN)];
        loop {
            match poll(&mut events, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
                Ok(_) if !events[1].revents().is_empty() => return Ok(Vec::new()),
                Ok(_) => return read_now(),
            }
        }
    });
    read.await.map_err(io::Error::other)?
}

/// Not through `std::io::stdin`'s buffer, which would hide from `poll` what it holds.
fn read_now() -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    let n = rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut bytes[..]))?;
    bytes.truncate(n);
    Ok(bytes)
}

fn is_ready() -> io::Result<bool> {
    let stdin = io::stdin();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&now))? > 0)
}
