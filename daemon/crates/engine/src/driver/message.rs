use super::Host;
use crate::{
    command::Command,
    effects::Effect,
    input::{Fork, Input},
};

/// Something for a conversation's actor to do.
#[derive(Debug)]
pub enum Message<H: Host> {
    Command {
        command: Command,
        reply: H::Reply,
    },
    Delete {
        reply: H::Deletion,
    },
    /// No client's: a task starts another one beneath it.
    Fork {
        fork: Box<Fork>,
        reply: H::Reply,
    },
    /// An attempt has come to its end.
    Outcome {
        effect: Effect,
        input: Box<Input>,
    },
    /// The moment of [`super::Order::SetAlarm`] has come.
    Wake,
}

/// A mailbox has two lanes. A message of the urgent one is handled before any of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Bounded; a command that finds it full is refused as overloaded.
    Command,
    /// Never refused: its senders wait for room.
    Urgent,
}

impl<H: Host> Message<H> {
    #[must_use]
    pub const fn lane(&self) -> Lane {
        match self {
            Self::Command { command, .. } if !command.is_urgent() => Lane::Command,
            Self::Command { .. }
            | Self::Delete { .. }
            | Self::Fork { .. }
            | Self::Outcome { .. }
            | Self::Wake => Lane::Urgent,
        }
    }

    /// A person does not want to wait: neither for room on a full disk.
    #[must_use]
    pub const fn presses(&self) -> bool {
        match self {
            Self::Command { command, .. } => command.is_urgent(),
            Self::Delete { .. } => true,
            Self::Fork { .. } | Self::Outcome { .. } | Self::Wake => false,
        }
    }
}
