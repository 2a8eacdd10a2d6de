//! A conversation's mailbox: bounded, in two lanes.

use super::{Applied, CommandError};
use abide_engine::{Effect, Input};
use std::sync::Arc;
use tokio::sync::{Notify, mpsc, oneshot};

/// Commands that may wait; one more is refused as overloaded.
const COMMANDS: usize = 32;
/// Outcomes, stops and answers that may wait; their senders wait for room.
const URGENT: usize = 64;

/// Something for an actor to do.
pub(super) enum Message {
    Command { input: Input, reply: oneshot::Sender<Result<Applied, CommandError>> },
    Outcome { effect: Effect, input: Input },
    Wake,
    Delete { reply: oneshot::Sender<Result<u64, CommandError>> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Command,
    Urgent,
}

pub(super) enum PutError {
    Full,
    Closed(Box<Message>),
}

/// The way in. Cheap to clone.
#[derive(Clone)]
pub(super) struct Mailbox {
    commands: mpsc::Sender<Message>,
    urgent: mpsc::Sender<Message>,
    nudged: Arc<Notify>,
}

/// The way out.
pub(super) struct Mail {
    commands: mpsc::Receiver<Message>,
    urgent: mpsc::Receiver<Message>,
    pub(super) nudged: Arc<Notify>,
}

pub(super) fn new() -> (Mailbox, Mail) {
    let (commands, command_mail) = mpsc::channel(COMMANDS);
    let (urgent, urgent_mail) = mpsc::channel(URGENT);
    let nudged = Arc::new(Notify::new());
    let mail = Mail { commands: command_mail, urgent: urgent_mail, nudged: nudged.clone() };
    (Mailbox { commands, urgent, nudged }, mail)
}

impl Mailbox {
    pub(super) async fn put(&self, lane: Lane, message: Message) -> Result<(), PutError> {
        match lane {
            Lane::Urgent => self.urgent.send(message).await.map_err(|e| PutError::Closed(Box::new(e.0))),
            Lane::Command => self.commands.try_send(message).map_err(|e| match e {
                mpsc::error::TrySendError::Full(_) => PutError::Full,
                mpsc::error::TrySendError::Closed(message) => PutError::Closed(Box::new(message)),
            }),
        }
    }

    /// Nobody reads it any more.
    pub(super) fn is_closed(&self) -> bool {
        self.urgent.is_closed()
    }

    /// Makes the actor look up: something about the whole daemon has changed.
    pub(super) fn nudge(&self) {
        self.nudged.notify_one();
    }
}

impl Mail {
    /// The next message; urgent ones first.
    pub(super) async fn next(&mut self) -> Option<Message> {
        tokio::select! {
            biased;
            message = self.urgent.recv() => message,
            message = self.commands.recv() => message,
        }
    }

    /// Nothing comes in any more; returns what had.
    pub(super) fn close(&mut self) -> Vec<Message> {
        self.urgent.close();
        self.commands.close();
        let mut waiting = Vec::new();
        while let Ok(message) = self.urgent.try_recv() {
            waiting.push(message);
        }
        while let Ok(message) = self.commands.try_recv() {
            waiting.push(message);
        }
        waiting
    }
}
