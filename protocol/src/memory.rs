//! What tasks are given of earlier conversations.

use crate::{ConversationId, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The tool that searches the memory.
pub const RECALL: &str = "recall";

/// For people: what there is elsewhere of a deleted conversation.
pub const LEFT_BEHIND: &str =
    "What other conversations quote of it is blanked; what models wrote about it remains.";

/// How a conversation takes part in the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum MemoryUse {
    /// Its tasks recall, and others recall it.
    #[default]
    Normal,
    /// Its tasks recall nothing; others recall it.
    NoRecall,
    /// Its tasks recall, and nothing of it is recalled elsewhere.
    Private,
}

/// A snippet of an earlier conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snippet {
    /// Of a person's note: an id that no conversation has.
    pub conversation_id: ConversationId,
    /// The conversation's title when the snippet was found; empty: a person's note.
    pub title: String,
    /// The record that says it.
    pub seq: Seq,
    pub at: Timestamp,
    pub source: Source,
    /// The end or the beginning of what it answers; empty: it answers nothing.
    pub before: String,
    /// Empty: it was forgotten after it had been recalled.
    pub text: String,
    /// Why it was found.
    pub why: Vec<Reason>,
}

impl Snippet {
    /// Takes its words out of it. Where it came from stays.
    pub fn blank(&mut self) {
        self.title.clear();
        self.before.clear();
        self.text.clear();
    }

    /// For people: why it was found, as `words #2`.
    #[must_use]
    pub fn why(&self) -> String {
        self.why.iter().map(|reason| reason.words()).collect::<Vec<_>>().join(", ")
    }
}

/// A note: it is given to each task of its workspace, as long as there is room for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The number by which it can be forgotten.
    pub seq: Seq,
    pub at: Timestamp,
    pub text: String,
    /// The conversation whose agent has made it; absent: a person.
    pub conversation_id: Option<ConversationId>,
    /// Absent: it is for all workspaces.
    pub workspace: Option<String>,
}

/// What a snippet was in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Source {
    /// Words of the person.
    User,
    /// Words of the agent.
    Agent,
    /// A question with its answer.
    Answer,
    /// The result of a call.
    Call,
    /// What a sub-task was asked.
    SubTask,
    /// The summary at a task's end.
    Summary,
    /// What a person or an agent has written down to be recalled.
    Note,
}

impl Source {
    /// For people and models.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Answer => "question and answer",
            Self::Call => "tool call",
            Self::SubTask => "sub-task",
            Self::Summary => "summary",
            Self::Note => "note",
        }
    }
}

/// Why a snippet was found. Variants are only ever appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// Its rank among the snippets with the task's words; counts from 1.
    Words(u32),
    /// It is the newest summary of the workspace.
    Newest,
    /// It is a note: each task is given it.
    Note,
    /// Its rank among the snippets that mean about the same as the task; counts from 1.
    Meaning(u32),
}

impl Reason {
    fn words(self) -> String {
        match self {
            Self::Words(rank) => format!("words #{rank}"),
            Self::Newest => "last here".to_owned(),
            Self::Note => "always".to_owned(),
            Self::Meaning(rank) => format!("meaning #{rank}"),
        }
    }
}

/// How snippets were looked for. Variants are only ever appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RecallWay {
    Words,
    /// And by what an embedder says that they mean.
    WordsAndMeaning,
}

impl RecallWay {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::WordsAndMeaning => "words + meaning",
        }
    }
}
