use super::Host;
use crate::decide::{
    command::Command,
    effect::Effect,
    input::{Fork, Input},
};

/// A message to a conversation's actor.
#[derive(Debug)]
pub enum Message<H: Host> {
    Command {
        command: Command,
        reply: H::Reply,
    },
    Delete {
        reply: H::Deletion,
    },
    /// Starts a sub-task for running code; no client can. The reply has that sub-task.
    Fork {
        fork: Fork,
        reply: H::Reply,
    },
    /// An attempt has ended.
    Outcome {
        effect: Effect,
        input: Box<Input>,
    },
    /// The time of the last [`super::Order::SetAlarm`] has come.
    Wake,
    /// Words were taken out of the conversation's records.
    Reread,
}

/// The two lanes of a mailbox. Urgent messages are handled first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Bounded: a command is refused as overloaded when the lane is full.
    Command,
    /// Never refused: the sender waits until the lane has room.
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
            | Self::Wake
            | Self::Reread => Lane::Urgent,
        }
    }

    /// Whether the message may join an append that waits for room on a full disk: its own append may use the
    /// disk reserve.
    #[must_use]
    pub const fn may_join(&self) -> bool {
        match self {
            Self::Command { command, .. } => command.is_urgent(),
            Self::Delete { .. } => true,
            Self::Fork { .. } | Self::Outcome { .. } | Self::Wake | Self::Reread => false,
        }
    }
}
