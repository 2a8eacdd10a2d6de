use super::burst::Burst;
use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{
        InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
    },
};
use std::{
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};
use tokio::time::timeout;

/// More than the kernel returns of a line at once.
const CHUNK: usize = 8192;

/// A person's terminal: standard input and standard error are terminals.
#[derive(Clone, Copy)]
pub(crate) struct Terminal(());

impl Terminal {
    pub(crate) fn open() -> Option<Self> {
        (io::stdin().is_terminal() && io::stderr().is_terminal()).then_some(Self(()))
    }

    /// A line without its newline, with the kernel's line editing; `None` for Ctrl-D.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let chunk = chunk().await?;
            let is_end = chunk.is_empty();
            line.extend(chunk);
            // Ctrl-D after some text returns it without a newline: the text is kept and the line goes on.
            if line.ends_with(b"\n") {
                line.pop();
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            if is_end {
                return Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    /// Lines that come in one burst, as [`Self::line`].
    pub(crate) async fn lines(&self) -> io::Result<Option<String>> {
        let Some(mut lines) = self.line().await? else { return Ok(None) };
        while self.more_follows().await? {
            let Some(line) = self.line().await? else { break };
            lines.push('\n');
            lines.push_str(&line);
        }
        Ok(Some(lines))
    }

    /// Whether more input comes so soon that it belongs to what has come.
    async fn more_follows(&self) -> io::Result<bool> {
        tokio::select! {
            readable = readable() => readable.map(|()| true),
            () = Burst::pause() => Ok(false),
        }
    }

    /// Waits until something is typed, and leaves it there. Cancel-safe.
    pub(crate) async fn typed(&self) -> io::Result<()> {
        readable().await
    }

    /// A line without echo.
    pub(crate) async fn secret(&self, label: &str) -> io::Result<Option<String>> {
        let _mode = InputMode::without(LocalModes::ECHO)?;
        // The label is shown only now: a person who sees it may type.
        let mut terminal = anstream::stderr();
        write!(terminal, "{label}")?;
        terminal.flush()?;
        let line = self.line().await;
        writeln!(terminal)?;
        line
    }

    /// One key, also if Enter follows at once: some people finish every answer with it. Ctrl-C still
    /// interrupts.
    pub(crate) async fn key(&self) -> io::Result<u8> {
        let _mode = InputMode::without(LocalModes::ICANON | LocalModes::ECHO)?;
        let keys = chunk().await?;
        match keys[..] {
            [] => Ok(super::END_OF_INPUT),
            [key] | [key, b'\n'] => Ok(key),
            // Several bytes: an arrow key or pasted text, not a single key.
            _ => Ok(0),
        }
    }

    /// Waits until no key has come for this long, and returns those that came: whoever types has not read
    /// what is asked meanwhile.
    pub(crate) async fn settle(&self, quiet: Duration) -> io::Result<Vec<u8>> {
        let _mode = InputMode::without(LocalModes::ICANON | LocalModes::ECHO)?;
        let mut typed = Vec::new();
        while let Ok(more) = timeout(quiet, chunk()).await {
            let more = more?;
            // The terminal is closed.
            if more.is_empty() {
                break;
            }
            typed.extend(more);
            typed.truncate(CHUNK);
        }
        Ok(typed)
    }

    /// Drops keys typed before the prompt, so that they cannot decide anything.
    pub(crate) fn forget_typed(&self) -> io::Result<()> {
        Ok(tcflush(io::stdin(), QueueSelector::IFlush)?)
    }
}

/// Changes the mode of terminal input; the old mode is restored on drop, also by a panic or a signal.
pub(super) struct InputMode {
    before: Termios,
    changed: Termios,
    /// Pasted text is marked with its begin and end.
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
        Ok(Self { before, changed, marks_pastes: false })
    }

    /// Keys wait for the editor; Ctrl-C still interrupts until the editor begins.
    pub(super) fn of_editor() -> io::Result<Self> {
        let mut mode = Self::changed(|modes| {
            modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
            // Otherwise Ctrl-C would flush keys that are typed but not shown yet.
            modes.local_modes.insert(LocalModes::NOFLSH);
            // Enter sends a carriage return, so that it differs from Ctrl-J.
            modes.input_modes.remove(InputModes::ICRNL);
        })?;
        mode.marks_pastes = true;
        mode.mark_pastes()?;
        Ok(mode)
    }

    /// Turns the marks on again: each edited line turns them off.
    pub(super) fn mark_pastes(&self) -> io::Result<()> {
        io::stderr().write_all(b"\x1b[?2004h")
    }

    /// The old mode, for another program.
    pub(super) fn suspend(&self) -> io::Result<()> {
        if self.marks_pastes {
            io::stderr().write_all(b"\x1b[?2004l")?;
        }
        Ok(tcsetattr(io::stdin(), OptionalActions::Now, &self.before)?)
    }

    /// The changed mode again, whatever the program has left.
    pub(super) fn resume(&self) -> io::Result<()> {
        tcsetattr(io::stdin(), OptionalActions::Now, &self.changed)?;
        if self.marks_pastes { self.mark_pastes() } else { Ok(()) }
    }
}

impl Drop for InputMode {
    fn drop(&mut self) {
        // A closed terminal cannot be restored.
        let _ = self.suspend();
    }
}

/// The next input from the terminal; empty at its end. Cancel-safe: a dropped read takes nothing.
async fn chunk() -> io::Result<Vec<u8>> {
    readable().await?;
    read_now()
}

/// Waits until the terminal can be read, or is closed.
pub(super) async fn readable() -> io::Result<()> {
    // Dropping the sender ends the thread's wait; a plain read could not be cancelled.
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

/// Reads without `std::io::stdin`'s buffer, whose content `poll` does not see.
fn read_now() -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    let n = rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut bytes[..]))?;
    bytes.truncate(n);
    Ok(bytes)
}
