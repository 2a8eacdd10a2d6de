use abide_protocol::{
    ConversationId, Seq, TaskId,
    notification::{DeltaItem, DeltaKind},
};

/// What an update changed in a [`super::ConversationView`], in the order in which a printer would tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Everything may be different.
    Reset,
    /// A new entry of the timeline.
    Added(Seq),
    /// An entry that is there already: its call went on.
    Changed(Seq),
    /// Live output grew at its end by this text, which begins with `…` if something before it is missing.
    Output {
        item: DeltaItem,
        kind: DeltaKind,
        text: String,
    },
    /// Live output changed elsewhere: a gap was filled, or a new attempt begins from nothing.
    Redrawn {
        item: DeltaItem,
    },
    /// Live output is over: it is now the message of that entry, or is withdrawn.
    Gone {
        item: DeltaItem,
        recorded: Option<Seq>,
    },
    Task(TaskId),
    Inbox,
    /// Title, workspace, … or that it was deleted.
    Conversation,
    Daemon,
    Connection,
}

/// What an update changed in an [`super::OverviewView`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverviewChange {
    /// Everything may be different.
    Reset,
    /// It is new, different or gone.
    Conversation(ConversationId),
    /// It is new, different, or has ended and is gone.
    Task(TaskId),
    Inbox,
    Daemon,
    Connection,
}
