//! Standard input that is no terminal.

use std::io::{self, Read as _};

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file that somebody has named: it is there, and it ends.
    File,
    /// A pipe or a socket, which may have been left by whoever started this program, and may never end.
    Pipe,
    /// A terminal, `/dev/null`, or a pipe that has ended without a byte.
    Other,
}

/// Reads standard input to its end, or so many bytes of it. A signal ends this program meanwhile.
pub(crate) async fn bytes(max: u64) -> io::Result<Vec<u8>> {
    // A read here would keep the runtime from noticing signals.
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        io::stdin().lock().take(max).read_to_end(&mut bytes).map(|_| bytes)
    });
    read.await.map_err(io::Error::other)?
}

/// The same as text, which must be UTF-8.
pub(crate) async fn text(max: u64) -> io::Result<String> {
    String::from_utf8(bytes(max).await?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "standard input is not UTF-8"))
}

#[cfg(unix)]
pub(crate) fn kind() -> Kind {
    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        fs::{FileType, fstat},
        io::ioctl_fionread,
    };

    let stdin = io::stdin();
    match fstat(&stdin).map(|found| FileType::from_raw_mode(found.st_mode)) {
        Ok(FileType::RegularFile) => Kind::File,
        Ok(FileType::Fifo | FileType::Socket) => {
            let mut input = [PollFd::new(&stdin, PollFlags::IN)];
            // It is readable at its end too; there is nothing to be read then.
            let is_ready = poll(&mut input, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
            let has_ended = is_ready && ioctl_fionread(&stdin).is_ok_and(|bytes| bytes == 0);
            if has_ended { Kind::Other } else { Kind::Pipe }
        }
        Ok(_) | Err(_) => Kind::Other,
    }
}

#[cfg(not(unix))]
pub(crate) fn kind() -> Kind {
    use std::io::IsTerminal as _;
    if io::stdin().is_terminal() { Kind::Other } else { Kind::Pipe }
}
