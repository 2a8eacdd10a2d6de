use crate::{ConversationId, Seq, SubscriptionId, TaskId, notification::Snapshot};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeParams {
    pub scope: Scope,
    /// The last seq the client knows: the snapshot then has no messages, every later record follows.
    #[serde(default)]
    pub since: Option<Seq>,
}

/// What a subscription is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Scope {
    /// Updates of tasks, inbox and conversations: no records, no deltas.
    Overview,
    /// All records, updates and deltas.
    All,
    /// Records and deltas of a conversation and its root tasks; updates of its sub-tasks too.
    Conversation(ConversationId),
    /// Records, updates and deltas of a conversation with its root tasks and sub-tasks.
    Tree(ConversationId),
    /// Records and deltas of one task, without its sub-tasks' own; updates as for its conversation.
    Task(TaskId),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeReply {
    pub subscription_id: SubscriptionId,
    pub snapshot: Snapshot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnsubscribeParams {
    pub subscription_id: SubscriptionId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnsubscribeReply {
    /// There was such a subscription.
    pub was_subscribed: bool,
}
