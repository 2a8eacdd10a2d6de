use abide_protocol::{
    Seq, TaskId,
    event::Event,
    message::{CallView, Message},
};

/// An entry in a conversation's timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Message(Message),
    /// A tool call. Its place is that of its assessment; its state changes later.
    Call(CallView),
    Event(Event),
}

impl Entry {
    #[must_use]
    pub const fn seq(&self) -> Seq {
        match self {
            Self::Message(message) => message.seq,
            Self::Call(call) => call.seq,
            Self::Event(event) => event.seq,
        }
    }

    #[must_use]
    pub const fn task_id(&self) -> Option<TaskId> {
        match self {
            Self::Message(message) => message.task_id,
            Self::Call(call) => Some(call.task_id),
            Self::Event(event) => event.task_id,
        }
    }
}
