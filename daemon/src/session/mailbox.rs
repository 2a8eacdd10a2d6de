//! A conversation's mailbox: bounded, in two lanes.

use super::{Applied, CommandError};
use abide_engine::{Effect, Input};
use std::{collections::VecDeque, future, sync::Arc};
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

impl Message {
    /// A person stops, answers or deletes: that does not wait for room on a full disk.
    const fn presses(&self) -> bool {
        match self {
            Self::Command { input, .. } => is_urgent(input),
            Self::Delete { .. } => true,
            Self::Outcome { .. } | Self::Wake => false,
        }
    }
}

/// Stops and answers do not wait behind other commands, nor for room on a full disk.
pub(super) const fn is_urgent(input: &Input) -> bool {
    matches!(input, Input::Stop { .. } | Input::Answer { .. } | Input::Decide { .. })
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
    /// Taken out already, and put back.
    back: VecDeque<Message>,
    pub(super) nudged: Arc<Notify>,
}

pub(super) fn new() -> (Mailbox, Mail) {
    let (commands, command_mail) = mpsc::channel(COMMANDS);
    let (urgent, urgent_mail) = mpsc::channel(URGENT);
    let nudged = Arc::new(Notify::new());
    let mail =
        Mail { commands: command_mail, urgent: urgent_mail, back: VecDeque::new(), nudged: nudged.clone() };
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
    /// The next message; urgent ones first. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> Option<Message> {
        if let Some(message) = self.back.pop_front() {
            return Some(message);
        }
        tokio::select! {
            biased;
            message = self.urgent.recv() => message,
            message = self.commands.recv() => message,
        }
    }

    /// The next message of a person who does not want to wait. Others stay. Nothing is lost if the future is dropped.
    pub(super) async fn pressing(&mut self) -> Message {
        if let Some(message) = self.back.iter().position(Message::presses).and_then(|at| self.back.remove(at))
        {
            return message;
        }
        loop {
            match self.urgent.recv().await {
                Some(message) if message.presses() => return message,
                Some(message) => self.back.push_back(message),
                None => future::pending().await,
            }
        }
    }

    /// It is its turn again.
    pub(super) fn put_back(&mut self, message: Message) {
        self.back.push_back(message);
    }

    /// Nothing comes in any more; returns what had, also from whoever is half-way through putting it in.
    pub(super) async fn rest(mut self) -> Vec<Message> {
        self.urgent.close();
        self.commands.close();
        let mut rest = Vec::from(self.back);
        for lane in [&mut self.urgent, &mut self.commands] {
            while let Some(message) = lane.recv().await {
                rest.push(message);
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, Message, PutError};
    use abide_engine::Input;
    use abide_protocol::TaskId;
    use tokio::sync::oneshot;
    use uuid::Uuid;

    fn command(input: Input) -> Message {
        Message::Command { input, reply: oneshot::channel().0 }
    }

    fn stop() -> Message {
        command(Input::Stop { task: TaskId(Uuid::nil()), shown: String::new() })
    }

    #[tokio::test]
    async fn who_presses_overtakes_and_nothing_is_lost() {
        let (mailbox, mut mail) = super::new();
        for message in [Message::Wake, stop(), Message::Wake] {
            assert!(mailbox.put(Lane::Urgent, message).await.is_ok());
        }
        let archive = command(Input::Archive { archived: true });
        assert!(mailbox.put(Lane::Command, archive).await.is_ok());
        assert!(matches!(mail.pressing().await, Message::Command { input: Input::Stop { .. }, .. }));
        assert!(matches!(mail.next().await, Some(Message::Wake)));
        let rest = mail.rest().await;
        assert!(matches!(
            rest.as_slice(),
            [Message::Wake, Message::Command { input: Input::Archive { .. }, .. }]
        ));
        let late = mailbox.put(Lane::Urgent, stop()).await;
        assert!(matches!(late, Err(PutError::Closed(_))), "it is given back, to be put where it is read");
    }
}
