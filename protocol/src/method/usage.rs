use crate::{ConversationId, Timestamp, transcript::Usage};
use serde::{Deserialize, Serialize};

/// Which model calls: those that ended at or after both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageParams {
    pub since: Option<Timestamp>,
    /// A day in the daemon's time zone, as `2026-11-27`.
    pub since_day: Option<String>,
}

/// Of deleted conversations nothing is left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageReply {
    /// Newest day first, at most 10,000.
    pub rows: Vec<UsageRow>,
    /// Older rows are left out because there are very many.
    pub is_cut: bool,
}

/// What a model has used on a day for a conversation, its sub-tasks included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// In the daemon's time zone, as `2026-11-27`.
    pub day: String,
    /// `provider/model`.
    pub model: String,
    pub conversation_id: ConversationId,
    pub title: String,
    pub usage: Usage,
}
