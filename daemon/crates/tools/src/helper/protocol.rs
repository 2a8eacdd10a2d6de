//! The messages between daemon, fork server and helper.

use crate::sandbox::{Confinement, Namespaces};
use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    ffi::{CStr, c_char},
    io::{self, IoSlice, IoSliceMut, Read as _, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    ptr,
};

/// The longest order, in bytes.
const MAX_ORDER: usize = 4 << 20;

/// The longest description of a confinement, in bytes.
const MAX_CONFINEMENT: usize = 1 << 20;

/// The most descriptors in a message.
const DESCRIPTORS: usize = 4;

/// From the daemon, at any time after the order: end the command. Its processes get time to clean up.
pub(crate) const STOP: u8 = b's';

/// From the daemon, at any time after the order: end the command at once.
pub(crate) const KILL: u8 = b'k';

/// From the daemon, first: the command to run.
#[derive(Debug)]
pub(crate) struct Order {
    /// The directory of [`Fittings`], absolute and without links.
    pub(crate) directory: String,
    /// Program (absolute) and arguments.
    pub(crate) command: Vec<String>,
    /// The command's whole environment.
    pub(crate) environment: BTreeMap<String, String>,
}

/// A received order.
pub(super) struct Program {
    /// Strings, each with a zero at its end: the directory, the arguments, then `name=value`.
    strings: Vec<u8>,
    /// How many of the strings are arguments.
    arguments: usize,
}

/// The descriptors sent with an order: the command's directory, output pipes and stdin.
#[derive(Debug)]
pub(crate) struct Fittings {
    pub(crate) directory: OwnedFd,
    /// The command's stdin. Absent: the helper's stdin, which is empty.
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// To the daemon, last: no process of the command runs any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) ending: CommandEnd,
    /// Processes that the command left behind and that were killed.
    pub(crate) ended: usize,
    /// Processes that could not be killed.
    pub(crate) survivors: usize,
    /// The limit for which the command was ended, in words.
    pub(crate) exceeded: Option<String>,
}

/// How the command itself ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CommandEnd {
    Exited(i32),
    /// By this signal.
    Killed(i32),
    NotStarted(String),
}

/// Requests a helper from the fork server, forked into this place. The helper gets `connection`.
pub(crate) fn ask_for_helper(
    server: &UnixStream,
    connection: &UnixStream,
    place: Namespaces,
) -> io::Result<()> {
    // So short a message is sent whole.
    send(server.as_fd(), &[place.into()], &[connection.as_fd()]).map(drop)
}

/// Sends a helper its confinement, before its order.
pub(crate) fn confine_helper(mut helper: &UnixStream, confinement: &Confinement) -> io::Result<()> {
    let confinement = serde_json::to_vec(confinement)?;
    let length = u32::try_from(confinement.len()).ok().filter(|length| *length as usize <= MAX_CONFINEMENT);
    let length = length.ok_or_else(|| invalid("too many paths are hidden or protected"))?;
    helper.write_all(&[&length.to_ne_bytes()[..], &confinement].concat())
}

/// The server's reply: the helper's process id.
pub(crate) fn forked_helper(mut server: &UnixStream) -> io::Result<i32> {
    let mut answer = [0; 4];
    server.read_exact(&mut answer)?;
    match i32::from_ne_bytes(answer) {
        pid @ 1.. => Ok(pid),
        error => Err(io::Error::from_raw_os_error(error.saturating_neg())),
    }
}

/// The server's side: the connection and the place of the requested helper; `None` when the daemon has closed
/// its end.
pub(super) fn asked_for_helper(daemon: &UnixStream) -> io::Result<Option<(UnixStream, Namespaces)>> {
    let mut place = [0];
    let Some(received) = receive(daemon, &mut place)? else { return Ok(None) };
    let [connection] = <[OwnedFd; 1]>::try_from(received).map_err(|_| wrong_message())?;
    let [place] = place;
    Ok(Some((connection.into(), Namespaces::try_from(place).map_err(|()| wrong_message())?)))
}

/// The helper's side: its confinement; `None` when the daemon has closed its end.
pub(super) fn confinement(mut daemon: &UnixStream) -> io::Result<Option<Confinement>> {
    let mut length = [0; 4];
    match daemon.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_ne_bytes(length) as usize;
    if length > MAX_CONFINEMENT {
        return Err(wrong_message());
    }
    let mut confinement = vec![0; length];
    daemon.read_exact(&mut confinement)?;
    Ok(Some(serde_json::from_slice(&confinement)?))
}

/// The server's reply: a process id, or why the fork failed.
pub(super) fn answer(mut daemon: &UnixStream, forked: io::Result<i32>) -> io::Result<()> {
    let answer = forked
        .unwrap_or_else(|error| error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()).saturating_neg());
    daemon.write_all(&answer.to_ne_bytes())
}

impl Order {
    /// The encoded order.
    pub(crate) fn message(&self) -> io::Result<Vec<u8>> {
        let mut strings = Vec::new();
        let variables = self.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let directory = [self.directory.clone()].into_iter();
        for string in directory.chain(self.command.iter().cloned()).chain(variables) {
            // A zero would end the string and begin another.
            if string.contains('\0') {
                return Err(invalid("there is a zero byte in the command or its environment"));
            }
            strings.extend_from_slice(string.as_bytes());
            strings.push(0);
        }
        let number = |count: usize| u32::try_from(count).ok().filter(|_| count <= MAX_ORDER);
        let (Some(length), Some(arguments)) = (number(strings.len()), number(self.command.len())) else {
            return Err(invalid("the command and its environment are too long"));
        };
        Ok([&length.to_ne_bytes()[..], &arguments.to_ne_bytes(), &strings].concat())
    }
}

impl Fittings {
    /// Sends the descriptors with the first bytes of an order. Returns how many bytes were sent. The caller
    /// sends the rest; a helper that does not get the whole order runs nothing.
    pub(crate) fn send(&self, helper: BorrowedFd<'_>, message: &[u8]) -> io::Result<usize> {
        let Self { directory, stdin, stdout, stderr } = self;
        let descriptors: Vec<_> =
            [directory, stdout, stderr].into_iter().chain(stdin).map(OwnedFd::as_fd).collect();
        send(helper, message, &descriptors)
    }
}

fn invalid(words: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, words)
}

impl Program {
    /// The helper's side: receives an order; `None` when the daemon has closed its end.
    pub(super) fn receive(mut daemon: &UnixStream) -> io::Result<Option<(Self, Fittings)>> {
        let mut numbers = [0; 8];
        let Some(received) = receive(daemon, &mut numbers)? else { return Ok(None) };
        let mut received = received.into_iter();
        let (Some(directory), Some(stdout), Some(stderr)) =
            (received.next(), received.next(), received.next())
        else {
            return Err(wrong_message());
        };
        let stdin = received.next();
        let [a, b, c, d, arguments @ ..] = numbers;
        let length = u32::from_ne_bytes([a, b, c, d]) as usize;
        if length > MAX_ORDER {
            return Err(wrong_message());
        }
        let mut strings = vec![0; length];
        daemon.read_exact(&mut strings)?;
        let arguments = u32::from_ne_bytes(arguments) as usize;
        Ok(Some((Self { strings, arguments }, Fittings { directory, stdin, stdout, stderr })))
    }

    /// The path of the command's directory.
    pub(super) fn directory(&self) -> io::Result<&CStr> {
        CStr::from_bytes_until_nul(&self.strings).map_err(|_| wrong_message())
    }

    /// Arguments (the program first) and environment, as `execve` takes them.
    pub(super) fn lists(&self) -> [Vec<*const c_char>; 2] {
        let strings = self.strings.split_inclusive(|byte| *byte == 0).skip(1);
        let mut all = strings.map(|string| string.as_ptr().cast());
        let arguments = all.by_ref().take(self.arguments).chain([ptr::null()]).collect();
        [arguments, all.chain([ptr::null()]).collect()]
    }
}

impl Report {
    pub(super) const fn of(ending: CommandEnd) -> Self {
        Self { ending, ended: 0, survivors: 0, exceeded: None }
    }

    /// Writes the report as one line.
    pub(super) fn write(&self, mut daemon: &UnixStream) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        daemon.write_all(&line)
    }
}

/// Sends descriptors with these bytes, or with the first of them. Returns how many bytes were sent.
fn send(to: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("no room for descriptors"));
    }
    Ok(sendmsg(to, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)?)
}

/// Fills `bytes` and takes the descriptors that come with them; `None` at the end.
fn receive(from: &UnixStream, bytes: &mut [u8]) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let wanted = bytes.len();
    let received = match recvmsg(from, &mut [IoSliceMut::new(bytes)], &mut beside, flags) {
        Ok(received) if received.bytes > 0 => received,
        // The peer closed its end without reading the last message.
        Ok(_) | Err(Errno::CONNRESET) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut descriptors = Vec::with_capacity(DESCRIPTORS);
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    if received.bytes == wanted { Ok(Some(descriptors)) } else { Err(wrong_message()) }
}

fn wrong_message() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}
