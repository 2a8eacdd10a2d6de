//! A conversation's mailbox: bounded, with two lanes.

use super::Daemon;
use abide_engine::driver;
pub(super) use abide_engine::driver::Lane;
use std::{
    future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::{Notify, mpsc};

/// The most waiting commands; a further one is refused as overloaded.
const COMMANDS: usize = 32;
/// The most waiting messages of the urgent lane; further senders wait for room.
const URGENT: usize = 64;

pub(super) type Message = driver::Message<Daemon>;

pub(super) enum PutError {
    Full,
    Closed(Box<Message>),
}

/// The sending half. Cheap to clone.
#[derive(Clone)]
pub(super) struct Mailbox {
    commands: mpsc::Sender<Message>,
    urgent: mpsc::Sender<Message>,
    nudged: Arc<Notify>,
    rests: Arc<AtomicBool>,
}

/// The receiving half.
pub(super) struct Mail {
    commands: mpsc::Receiver<Message>,
    urgent: mpsc::Receiver<Message>,
    pub(super) nudged: Arc<Notify>,
    rests: Arc<AtomicBool>,
}

pub(super) fn new() -> (Mailbox, Mail) {
    let (commands, command_mail) = mpsc::channel(COMMANDS);
    let (urgent, urgent_mail) = mpsc::channel(URGENT);
    let nudged = Arc::new(Notify::new());
    let rests = Arc::new(AtomicBool::new(false));
    let mail =
        Mail { commands: command_mail, urgent: urgent_mail, nudged: nudged.clone(), rests: rests.clone() };
    (Mailbox { commands, urgent, nudged, rests }, mail)
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

    /// The receiving half is gone or closed.
    pub(super) fn is_closed(&self) -> bool {
        self.urgent.is_closed()
    }

    /// The actor is held, and none of its attempts runs.
    pub(super) fn rests(&self) -> bool {
        self.rests.load(Ordering::Acquire)
    }

    /// The number of messages not yet received.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        COMMANDS - self.commands.capacity() + URGENT - self.urgent.capacity()
    }

    /// The actor has to say again whether it rests.
    pub(super) fn forget_rest(&self) {
        self.rests.store(false, Ordering::Release);
    }

    /// Makes the actor check the daemon's state again, for example whether it drains.
    pub(super) fn nudge(&self) {
        self.nudged.notify_one();
    }
}

impl Mail {
    /// The next message, urgent ones first. `None`: the mailbox is closed and empty. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Message> {
        tokio::select! {
            biased;
            Some(message) = self.urgent.recv() => Some(message),
            Some(message) = self.commands.recv() => Some(message),
            else => None,
        }
    }

    /// The next message of the urgent lane. Cancel-safe.
    pub(super) async fn next_urgent(&mut self) -> Message {
        match self.urgent.recv().await {
            Some(message) => message,
            None => future::pending().await,
        }
    }

    /// Says whether the actor is held and none of its attempts runs. Returns true if that is new.
    pub(super) fn set_rests(&self, rests: bool) -> bool {
        self.rests.swap(rests, Ordering::AcqRel) != rests && rests
    }

    /// Accepts no more messages, except from senders that already have a place.
    pub(super) fn close(&mut self) {
        self.urgent.close();
        self.commands.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, Message, PutError};
    use abide_engine::Command;
    use abide_protocol::TaskId;
    use tokio::sync::oneshot;
    use uuid::Uuid;

    fn message(command: Command) -> Message {
        Message::Command { command, reply: oneshot::channel().0 }
    }

    #[tokio::test]
    async fn urgent_messages_come_first_and_none_is_lost() {
        let (mailbox, mut mail) = super::new();
        let stop = || message(Command::Stop { task: TaskId(Uuid::nil()) });
        for message in [message(Command::Archive { archived: true }), stop(), Message::Wake, stop()] {
            assert!(mailbox.put(message.lane(), message).await.is_ok());
        }
        assert!(matches!(mail.next().await, Some(Message::Command { command: Command::Stop { .. }, .. })));
        assert!(matches!(mail.next_urgent().await, Message::Wake));
        mail.close();
        let late = mailbox.put(Lane::Urgent, stop()).await;
        assert!(
            matches!(late, Err(PutError::Closed(_))),
            "the message is returned, to be sent to the successor"
        );
        assert!(matches!(mail.next().await, Some(Message::Command { command: Command::Stop { .. }, .. })));
        assert!(matches!(mail.next().await, Some(Message::Command { command: Command::Archive { .. }, .. })));
        assert!(mail.next().await.is_none());
    }
}
