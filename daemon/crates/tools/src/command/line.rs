//! The daemon's end of a line: the socket on which running code starts sub-tasks and waits for them.
//!
//! The code is not trusted. The daemon's memory and work are bounded whatever the code sends, and nothing is
//! read while a reply has not been taken. A line that is no request closes the connection; the call goes on.

mod forks;
mod message;

use crate::sub_tasks::SubTasks;
use forks::{Forked, Forks};
use futures_util::{
    StreamExt as _,
    future::{BoxFuture, FutureExt as _},
    stream::FuturesUnordered,
};
use message::{Answered, MAX_LINE, Reply, Request, Verb};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    future::pending,
    io::{self, ErrorKind},
};
use tokio::net::UnixStream;

/// Bytes read at a time.
const PIECE: usize = 16 * 1024;

/// The most waits that are open at a time.
const MAX_WAITS: usize = 64;

const NOT_A_REQUEST: &str = "a line was no request";
const TOO_LONG: &str = "a line was longer than 256 KiB";

pub(super) struct CodeLine<'a> {
    /// `None` once the line is closed.
    stream: Option<UnixStream>,
    sub_tasks: &'a dyn SubTasks,
    /// A line whose end has not come yet.
    begun: Vec<u8>,
    /// Replies that have not been sent.
    replies: Vec<u8>,
    /// Requests that are being carried out.
    open: FuturesUnordered<BoxFuture<'a, Done>>,
    forks: Forks,
    /// The ids of open waits.
    waits: BTreeSet<u64>,
    /// Why the line was closed, if that was the code's fault.
    fault: Option<&'static str>,
}

/// A request that was carried out.
enum Done {
    Fork(u64, Result<String, String>),
    Wait(u64, Result<Value, String>),
}

impl<'a> CodeLine<'a> {
    /// `stream`: `None` if the command has no line.
    pub(super) fn new(stream: Option<UnixStream>, sub_tasks: &'a dyn SubTasks) -> Self {
        Self {
            stream,
            sub_tasks,
            begun: Vec::new(),
            replies: Vec::new(),
            open: FuturesUnordered::new(),
            forks: Forks::default(),
            waits: BTreeSet::new(),
            fault: None,
        }
    }

    /// Whether the code waits for a sub-task.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waits.is_empty()
    }

    /// The handles of the sub-tasks that the code has started, in the order of the requests.
    pub(super) fn handles(&self) -> Vec<String> {
        self.forks.handles()
    }

    /// Why the line was closed, if that was the code's fault.
    pub(super) const fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Reads, carries out or answers something. Never returns once the line is closed. Cancel-safe.
    pub(super) async fn next(&mut self) {
        let Some(stream) = &self.stream else { return pending().await };
        tokio::select! {
            Some(done) = self.open.next() => self.answer(done),
            ready = stream.writable(), if !self.replies.is_empty() => self.done_or_close(ready, Self::send),
            ready = stream.readable(), if self.replies.is_empty() => self.done_or_close(ready, Self::receive),
        }
    }

    /// Ends the line: open requests are given up, and nothing more is read or answered.
    pub(super) fn close(&mut self) {
        self.stream = None;
        self.open.clear();
        self.waits.clear();
        (self.begun, self.replies) = (Vec::new(), Vec::new());
    }

    fn done_or_close(&mut self, ready: io::Result<()>, act: fn(&mut Self) -> io::Result<()>) {
        match ready.and_then(|()| act(self)) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => self.close(),
            _ => {}
        }
    }

    fn send(&mut self) -> io::Result<()> {
        let Some(stream) = &self.stream else { return Ok(()) };
        let sent = stream.try_write(&self.replies)?;
        self.replies.drain(..sent);
        Ok(())
    }

    fn receive(&mut self) -> io::Result<()> {
        let Some(stream) = &self.stream else { return Ok(()) };
        let mut piece = [0; PIECE];
        let read = stream.try_read(&mut piece)?;
        if read == 0 {
            self.close();
            return Ok(());
        }
        let mut lines = piece[..read].split_inclusive(|byte| *byte == b'\n');
        while let Some(part) = lines.next().filter(|_| self.stream.is_some()) {
            let (text, has_end) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            self.begun.extend_from_slice(text);
            if self.begun.len() > MAX_LINE {
                self.refuse(TOO_LONG);
            } else if has_end {
                match Request::parse(&std::mem::take(&mut self.begun)) {
                    Some(request) => self.carry_out(request),
                    None => self.refuse(NOT_A_REQUEST),
                }
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, Request { id, verb }: Request) {
        let sub_tasks = self.sub_tasks;
        match verb {
            Verb::Fork(prompt) => match self.forks.ask(id, &prompt) {
                Forked::New(index) => {
                    let answer = sub_tasks.fork(index, prompt);
                    self.open.push(answer.map(move |answer| Done::Fork(id, answer)).boxed());
                }
                Forked::Known(answer) => self.reply_fork(id, &answer),
                // The answer to the first request comes later.
                Forked::Open => {}
            },
            Verb::Wait(_) if self.forks.has(id) => self.reply(id, Answered::Error(forks::OTHER_REQUEST)),
            Verb::Wait(_) if self.waits.contains(&id) => {}
            Verb::Wait(_) if self.waits.len() == MAX_WAITS => {
                self.reply(id, Answered::Error("64 waits are open, and that is the limit"));
            }
            Verb::Wait(handle) => {
                self.waits.insert(id);
                let answer = sub_tasks.wait(handle);
                self.open.push(answer.map(move |answer| Done::Wait(id, answer)).boxed());
            }
        }
    }

    fn answer(&mut self, done: Done) {
        match done {
            Done::Fork(id, answer) => {
                self.reply_fork(id, &answer);
                self.forks.answered(id, answer);
            }
            Done::Wait(id, answer) => {
                self.waits.remove(&id);
                match &answer {
                    Ok(result) => self.reply(id, Answered::Result(result)),
                    Err(why) => self.reply(id, Answered::Error(why)),
                }
            }
        }
    }

    fn reply_fork(&mut self, id: u64, answer: &Result<String, String>) {
        match answer {
            Ok(handle) => self.reply(id, Answered::Handle(handle)),
            Err(why) => self.reply(id, Answered::Error(why)),
        }
    }

    fn reply(&mut self, id: u64, answer: Answered<'_>) {
        self.replies.extend(Reply { id: Some(id), answer }.line());
    }

    /// Closes the line, and says why if there is room.
    fn refuse(&mut self, fault: &'static str) {
        self.fault = Some(fault);
        let words = Reply { id: None, answer: Answered::Error(fault) }.line();
        self.replies.extend(words);
        let _ = self.send();
        self.close();
    }
}

#[cfg(test)]
mod tests;
