use crate::{
    Timestamp,
    inbox::{Decision, InboxItem},
};
use serde::{Deserialize, Serialize};

/// Ids may be given by any unique prefix or suffix; a task's also by one of its last eight digits. What fits
/// a question and another task is refused as ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserResponseParams {
    /// The task's id, or the question's id if `questionId` is absent.
    pub task_id: String,
    /// May be absent only if exactly one question of the task is open, or `taskId` names the question.
    #[serde(default)]
    pub question_id: Option<String>,
    /// `null` declines. The field is required, so that nobody declines by leaving it out.
    #[serde(deserialize_with = "Option::deserialize")]
    pub response: Option<String>,
}

/// The response that counts: the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserResponseReply {
    /// This response was the first.
    pub won: bool,
    pub response: Option<String>,
    /// When the first response was recorded, if it was not this one.
    pub first_at: Option<Timestamp>,
}

/// The approval's id, a unique prefix or suffix of it, or a task's with exactly one approval open. What fits
/// an approval and another task is refused as ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecideApprovalParams {
    pub approval_id: String,
    pub decision: Decision,
    /// Why; the model reads it.
    #[serde(default)]
    pub note: Option<String>,
    /// What `allow_always` or `reject_always` remembers: the text of one of the approval's wider rules.
    /// Absent: the very call.
    #[serde(default)]
    pub rule: Option<String>,
}

/// The decision that counts: the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecideApprovalReply {
    /// This decision was the first.
    pub won: bool,
    pub decision: Decision,
    /// When the first decision was recorded, if it was not this one.
    pub first_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InboxParams {
    /// Of one task and its sub-tasks only; id, or a unique prefix or suffix of it or of its last eight
    /// digits.
    pub task_id: Option<String>,
}

/// Oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxReply {
    pub items: Vec<InboxItem>,
}
