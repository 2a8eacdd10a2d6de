use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{
        InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
    },
};
use std::io::{self, IsTerminal as _, Write as _};

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

    /// A line that is not shown.
    pub(crate) async fn secret(&self) -> io::Result<Option<String>> {
        let _mode = InputMode::without(LocalModes::ECHO)?;
        self.line().await
    }

    /// One key, without Enter. Ctrl-C still interrupts.
    pub(crate) async fn key(&self) -> io::Result<u8> {
        let _mode = InputMode::without(LocalModes::ICANON | LocalModes::ECHO)?;
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

/// Another mode of the terminal's input; the one before is restored when this is dropped, also by a panic or a signal.
pub(super) struct InputMode {
    before: Termios,
    /// The terminal was told to mark where a pasted text begins and ends.
    marks_pastes: bool,
}

impl InputMode {
    fn without(local: LocalModes) -> io::Result<Self> {
        Self::changed(|modes| modes.local_modes.remove(local))
    }

    fn changed(change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut changed = before.clone();
        change(&mut changed);
        tcsetattr(io::stdin(), OptionalActions::Now, &changed)?;
        Ok(Self { before, marks_pastes: false })
    }

    /// Keys are kept for the editor as they come; Ctrl-C still interrupts until the editor has begun.
    pub(super) fn of_editor() -> io::Result<Self> {
        let mut mode = Self::changed(|modes| {
            modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
            // Ctrl-C would take what was typed and what is not shown yet with it.
            modes.local_modes.insert(LocalModes::NOFLSH);
            // Enter is a carriage return, and so differs from Ctrl-J.
            modes.input_modes.remove(InputModes::ICRNL);
        })?;
        mode.marks_pastes = true;
        mode.mark_pastes()?;
        Ok(mode)
    }

    /// Once more, after an edited line has ended it.
    pub(super) fn mark_pastes(&self) -> io::Result<()> {
        io::stderr().write_all(b"\x1b[?2004h")
    }
}

impl Drop for InputMode {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        if self.marks_pastes {
            let _ = io::stderr().write_all(b"\x1b[?2004l");
        }
    }
}

/// What the terminal has, once it has something; empty at the end. Dropped, it takes nothing from the terminal.
async fn chunk() -> io::Result<Vec<u8>> {
    readable().await?;
    read_now()
}

/// Waits until the terminal has something to read, or has ended.
pub(super) async fn readable() -> io::Result<()> {
    // Dropping the sender ends the wait of the thread: a plain read could not be called off.
    let (called_off, _sender) = io::pipe()?;
    let wait = tokio::task::spawn_blocking(move || {
        let stdin = io::stdin();
        let mut events = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&called_off, PollFlags::IN)];
        loop {
            match poll(&mut events, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
                Ok(_) => return Ok(()),
            }
        }
    });
    wait.await.map_err(io::Error::other)?
}

/// Not through `std::io::stdin`'s buffer, which would hide from `poll` what it holds.
fn read_now() -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    let n = rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut bytes[..]))?;
    bytes.truncate(n);
    Ok(bytes)
}
