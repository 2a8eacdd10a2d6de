//! Notifications: what the daemon sends to subscribers.
//!
//! `taskMessage` and `taskEvent` are sequenced: a subscription gets exactly one of them for each record. The
//! updates are latest-wins, deltas are live only; neither is ever needed to rebuild anything, nor is
//! `memoryForgotten`, which blanks what a client has.

use crate::{
    ConversationId, RecordId, Seq, SubscriptionId, TaskId,
    conversation::Conversation,
    event::Event,
    inbox::{InboxItem, PendingId},
    message::{CallView, Message},
    record::Record,
    task::AgentTask,
    update::UpdateStage,
};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

macro_rules! notifications {
    ($($(#[$doc:meta])* $kind:literal $name:literal $variant:ident($body:ty);)*) => {
        /// A notification.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Notification {
            $($(#[$doc])* $variant($body),)*
        }

        impl Notification {
            /// All notifications' names.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The JSON-RPC method.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// The binary envelope's kind.
            #[must_use]
            pub const fn kind(&self) -> u32 {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            pub(crate) fn to_json(&self) -> serde_json::Result<Box<serde_json::value::RawValue>> {
                match self { $(Self::$variant(body) => serde_json::value::to_raw_value(body),)* }
            }

            pub(crate) fn from_json(name: &str, params: &str) -> serde_json::Result<Option<Self>> {
                match name { $($name => serde_json::from_str(params).map(|b| Some(Self::$variant(b))),)* _ => Ok(None) }
            }

            pub(crate) fn to_binary(&self) -> Result<Vec<u8>, crate::codec::EncodeError> {
                match self { $(Self::$variant(body) => crate::codec::binary::encode(body),)* }
            }

            pub(crate) fn from_binary(kind: u32, body: &[u8]) -> Result<Option<Self>, crate::codec::DecodeError> {
                match kind { $($kind => crate::codec::binary::decode(body).map(|b| Some(Self::$variant(b))),)* _ => Ok(None) }
            }
        }
    };
}

notifications! {
    /// A record that is a message.
    1001 "taskMessage" TaskMessage(TaskMessage);
    /// Any other record.
    1002 "taskEvent" TaskEvent(TaskEvent);
    /// A task's current state.
    1003 "taskUpdate" TaskUpdate(TaskUpdate);
    /// Items that were added to the inbox or removed from it.
    1004 "inboxUpdate" InboxUpdate(InboxUpdate);
    /// A conversation's current state.
    1005 "conversationUpdate" ConversationUpdate(ConversationUpdate);
    /// Live output.
    1006 "taskDelta" TaskDelta(TaskDelta);
    /// The client read too slowly; the connection is cut after this.
    1007 "lagged" Lagged(Lagged);
    /// The current state of the daemon itself.
    1008 "daemonUpdate" DaemonUpdate(DaemonUpdate);
    /// Words were taken out of the memory, and out of the records that quote them.
    1009 "memoryForgotten" MemoryForgotten(MemoryForgotten);
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskMessage {
    pub subscription_id: SubscriptionId,
    pub seq: Seq,
    pub message: Message,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskEvent {
    pub subscription_id: SubscriptionId,
    pub seq: Seq,
    pub record: Record,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskUpdate {
    pub task: AgentTask,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxUpdate {
    pub added: Vec<InboxItem>,
    pub removed: Vec<PendingId>,
    /// Open items of all tasks after this update.
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationUpdate {
    pub conversation_id: ConversationId,
    /// Absent: deleted.
    pub conversation: Option<Conversation>,
}

/// A piece of live output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskDelta {
    pub subscription_id: SubscriptionId,
    pub conversation_id: ConversationId,
    pub task_id: TaskId,
    pub item: DeltaItem,
    pub attempt: u32,
    pub kind: DeltaKind,
    /// Where `text` begins, in UTF-8 bytes from the start of this item's output of this kind.
    pub offset: u64,
    pub text: String,
}

/// What a delta is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum DeltaItem {
    /// A model's reply: the id that its record will have.
    Reply(RecordId),
    /// A running call.
    Call(crate::CallId),
}

/// Which stream of an item a delta belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum DeltaKind {
    Text,
    Reasoning,
    /// Arguments of a call that is still being written.
    Arguments,
    /// Output of a running tool.
    Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lagged {
    pub subscription_id: SubscriptionId,
    /// Subscribe with `since` this to miss nothing.
    pub resume_from: Seq,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonUpdate {
    /// The disk is full: nothing is lost, everything waits for room.
    pub storage_full: bool,
    /// Something in the database cannot be read, so something may be missing; `abide doctor` says what.
    pub storage_damaged: bool,
    pub shutting_down: bool,
    /// Another program is on disk; `status` says more.
    pub update: Option<UpdateStage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryForgotten {
    /// The record that says them: snippets of it are blank from now on, also those that a client has already.
    pub seq: Seq,
}

/// The state at the start of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Everything up to here is in the snapshot (or, with `since`, known to the client); every later record
    /// follows.
    pub seq: Seq,
    /// For the scope `overview` the newest 1,000 that are not archived and all whose task has not ended, for
    /// `all` none, else the one.
    pub conversations: Vec<Conversation>,
    /// Tasks that have not ended, for `overview` roots only. For a conversation also its newest root, with
    /// all its sub-tasks.
    pub tasks: Vec<AgentTask>,
    pub inbox: Vec<InboxItem>,
    /// The last 100 that the scope has records of; empty with `since` and for the scopes `overview` and
    /// `all`.
    pub messages: Vec<Message>,
    /// The tool calls among those messages.
    pub calls: Vec<CallView>,
    /// The events among those messages.
    pub events: Vec<Event>,
    /// Live output so far.
    pub partials: Vec<Partial>,
    pub daemon: DaemonUpdate,
}

/// Live output so far of an item that is not recorded yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Partial {
    pub conversation_id: ConversationId,
    pub task_id: TaskId,
    pub item: DeltaItem,
    pub attempt: u32,
    pub kind: DeltaKind,
    /// Where `text` begins (tool output keeps its tail only), in bytes.
    pub offset: u64,
    pub text: String,
}
