use crate::{
    ConversationId, RecordId, Seq, TaskId, Timestamp,
    message::{MessageKind, Role},
};
use serde::{Deserialize, Serialize};

/// All words of `query` have to be in the text, each as a word or the beginning of one; case and accents do
/// not matter. Words in double quotes have to follow one another; if the closing quote is missing, the last
/// of them may be the beginning of a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchParams {
    pub query: String,
    /// Only in this conversation, named by its id or any unique prefix or suffix of it or of its last eight
    /// digits.
    #[serde(default)]
    pub conversation_id: Option<String>,
    /// The page of messages that come before this one; absent: the newest.
    #[serde(default)]
    pub before: Option<Seq>,
    /// Messages; at most 1,000; absent: 100.
    #[serde(default)]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchReply {
    /// Conversations whose title fits, last changed first; at most as many as messages. On the first page
    /// only.
    pub titles: Vec<TitleHit>,
    /// Messages, newest first.
    pub messages: Vec<MessageHit>,
    /// Pass as `before` for the next page; absent: there is none.
    pub before: Option<Seq>,
    /// Everything up to here was searched. Less than the newest record only while the disk is full.
    pub searched_to: Seq,
}

/// A conversation whose title fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TitleHit {
    pub conversation_id: ConversationId,
    pub archived: bool,
    pub title: Excerpt,
}

/// A message that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageHit {
    pub conversation_id: ConversationId,
    pub conversation_title: String,
    pub archived: bool,
    pub message_id: RecordId,
    pub seq: Seq,
    pub task_id: Option<TaskId>,
    pub at: Timestamp,
    pub role: Role,
    pub kind: MessageKind,
    /// The line with most of the words.
    pub line: Excerpt,
}

/// A line, or a part of a long one, with the matches in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    pub text: String,
    /// In order; they do not overlap.
    pub marks: Vec<Span>,
}

/// A part of a text, in bytes of UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    pub start: u32,
    pub end: u32,
}
