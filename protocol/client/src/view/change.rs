use abide_protocol::{
    ConversationId, Seq, TaskId,
    notification::{DeltaItem, DeltaKind},
};

/// What an update changed in a [`super::ConversationView`], in the order in which it would be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Everything may be different.
    Reset,
    /// A new entry of the timeline.
    Added(Seq),
    /// An existing entry: the state of its call changed.
    Changed(Seq),
    /// Live output grew at its end by this text, which begins with `…` if bytes before it are missing.
    Output {
        item: DeltaItem,
        kind: DeltaKind,
        text: String,
    },
    /// Live output changed elsewhere: a gap was filled, or a new attempt begins from nothing.
    Redrawn {
        item: DeltaItem,
    },
    /// Live output is over: it became the message of that entry, or is withdrawn.
    Gone {
        item: DeltaItem,
        recorded: Option<Seq>,
    },
    Task(TaskId),
    Inbox,
    /// The conversation's fields changed, or it was deleted.
    Conversation,
    Daemon,
    Connection,
}

/// What an update changed in an [`super::OverviewView`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverviewChange {
    /// Everything may be different.
    Reset,
    /// It is new, changed or gone.
    Conversation(ConversationId),
    /// It is new or changed, or it has ended and is gone.
    Task(TaskId),
    Inbox,
    Daemon,
    Connection,
}
