//! A conversation's mailbox: bounded, in two lanes.

use super::Daemon;
use abide_engine::driver;
pub(super) use abide_engine::driver::Lane;
use std::{future, sync::Arc};
use tokio::sync::{Notify, mpsc};

/// Commands that may wait; one more is refused as overloaded.
const COMMANDS: usize = 32;
/// Messages of the urgent lane that may wait; their senders wait for room.
const URGENT: usize = 64;

pub(super) type Message = driver::Message<Daemon>;

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

    /// Messages that nobody has taken out.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        COMMANDS - self.commands.capacity() + URGENT - self.urgent.capacity()
    }

    /// Makes the actor look up: something about the whole daemon has changed.
    pub(super) fn nudge(&self) {
        self.nudged.notify_one();
    }
}

impl Mail {
    /// The next message; urgent ones first. `None`: it is closed, and the last was taken out. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> Option<Message> {
        tokio::select! {
            biased;
            Some(message) = self.urgent.recv() => Some(message),
            Some(message) = self.commands.recv() => Some(message),
            else => None,
        }
    }

    /// The next message of the urgent lane. Nothing is lost if the future is dropped.
    pub(super) async fn next_urgent(&mut self) -> Message {
        match self.urgent.recv().await {
            Some(message) => message,
            None => future::pending().await,
        }
    }

    /// Nothing comes in any more but from whoever is half-way through putting it in.
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
        assert!(matches!(late, Err(PutError::Closed(_))), "it is given back, to be put where it is read");
        assert!(matches!(mail.next().await, Some(Message::Command { command: Command::Stop { .. }, .. })));
        assert!(matches!(mail.next().await, Some(Message::Command { command: Command::Archive { .. }, .. })));
        assert!(mail.next().await.is_none());
    }
}
