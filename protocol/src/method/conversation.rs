use crate::{
    ConversationId, Seq,
    conversation::Conversation,
    event::Event,
    memory::MemoryUse,
    message::{CallView, Message},
    task::Mode,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateConversationParams {
    pub title: Option<String>,
    /// Absolute path; absent: a private scratch folder.
    pub workspace: Option<String>,
    pub mode: Option<Mode>,
    pub model: Option<String>,
    pub persona: Option<String>,
    /// Absent: `normal`.
    pub memory: Option<MemoryUse>,
}

/// Names a conversation by its id or any unique prefix or suffix of it or of its last eight digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationParams {
    pub conversation_id: String,
}

impl From<ConversationId> for ConversationParams {
    fn from(id: ConversationId) -> Self {
        Self { conversation_id: id.to_string() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationReply {
    pub conversation: Conversation,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListConversationsParams {
    /// Archived ones instead of the others.
    pub archived: bool,
    pub cursor: Option<String>,
    /// At most 1,000; absent: 100.
    pub limit: Option<u32>,
}

/// Last changed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListConversationsReply {
    pub conversations: Vec<Conversation>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListMessagesParams {
    pub conversation_id: String,
    /// As in `getTask`: messages of this task of the conversation only. Absent: those of root tasks.
    #[serde(default)]
    pub task_id: Option<String>,
    /// The page that ends before this message; absent: the last page.
    #[serde(default)]
    pub before: Option<Seq>,
    /// Instead the page that begins after this one; 0: the first page. It has nothing from `before` on.
    #[serde(default)]
    pub after: Option<Seq>,
    /// At most 1,000; absent: 100.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// Oldest first, all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListMessagesReply {
    pub messages: Vec<Message>,
    /// The tool calls among these messages.
    pub calls: Vec<CallView>,
    /// The events among these messages.
    pub events: Vec<Event>,
    /// Pass as `before` for the page before this one; absent: there is none, or `after` was given.
    pub before: Option<Seq>,
    /// Where `after` was given: pass it as `after` for the page after this one; absent: there is none.
    pub after: Option<Seq>,
}

/// What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateConversationParams {
    pub conversation_id: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    pub mode: Option<Mode>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub persona: Option<String>,
    /// Whether it gives no desktop notifications.
    #[serde(default)]
    pub muted: Option<bool>,
    #[serde(default)]
    pub memory: Option<MemoryUse>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveConversationParams {
    pub conversation_id: String,
    /// `false` brings it back.
    pub archived: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteConversationReply {
    /// Records removed.
    pub records: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkReadParams {
    pub conversation_id: String,
    /// Up to and including this message.
    pub seq: Seq,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FocusParams {
    /// Absent: none is shown.
    pub conversation_id: Option<ConversationId>,
    /// The list of all that waits is shown.
    pub inbox: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FocusReply {
    pub conversation_id: Option<ConversationId>,
    pub inbox: bool,
}
