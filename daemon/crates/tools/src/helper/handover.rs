//! What the daemon hands to the fork server for a helper: four descriptors, beside one byte. The answer is the helper's process id.

use rustix::{
    cmsg_space,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
};
use std::{
    io::{self, IoSlice, IoSliceMut, Read as _, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
};

/// How many descriptors a helper takes.
const COUNT: usize = 4;

/// What a helper begins with.
pub(crate) struct Handover {
    /// Its connection to the daemon.
    pub(crate) connection: OwnedFd,
    /// What the command prints to.
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// Where the command runs.
    pub(crate) directory: OwnedFd,
}

impl Handover {
    /// The daemon's side: hands it over, and has the process id of the helper that took it.
    pub(crate) fn send(&self, mut server: &UnixStream) -> io::Result<i32> {
        let descriptors =
            [self.connection.as_fd(), self.stdout.as_fd(), self.stderr.as_fd(), self.directory.as_fd()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(COUNT))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !beside.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::Error::other("no room for the descriptors of a helper"));
        }
        sendmsg(server, &[IoSlice::new(b"h")], &mut beside, SendFlags::NOSIGNAL)?;
        let mut answer = [0; 4];
        server.read_exact(&mut answer)?;
        match i32::from_ne_bytes(answer) {
            pid @ 1.. => Ok(pid),
            error => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        }
    }

    /// The server's side; `None` when the daemon has gone.
    pub(super) fn receive(daemon: &UnixStream) -> io::Result<Option<Self>> {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(COUNT))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let received =
            recvmsg(daemon, &mut [IoSliceMut::new(&mut byte)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let mut descriptors = Vec::with_capacity(COUNT);
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                descriptors.extend(more);
            }
        }
        match <[OwnedFd; COUNT]>::try_from(descriptors) {
            Ok([connection, stdout, stderr, directory]) => {
                Ok(Some(Self { connection, stdout, stderr, directory }))
            }
            Err(_) => Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
    }
}

/// The server's answer: a process id, or why there is none.
pub(super) fn answer(mut daemon: &UnixStream, forked: io::Result<i32>) -> io::Result<()> {
    let answer = forked.unwrap_or_else(|error| {
        error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error()).saturating_neg()
    });
    daemon.write_all(&answer.to_ne_bytes())
}
