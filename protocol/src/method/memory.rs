use crate::{
    Seq,
    measure::{count, counted},
    memory::{Note, RecallWay, Snippet},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetMemoryParams {
    /// No meaning; a struct without fields is not allowed on the wire.
    pub verbose: bool,
}

/// The memory's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryReply {
    /// Tasks recall, as `[memory] enabled` says.
    pub enabled: bool,
    pub how: RecallWay,
    /// The model that says what passages mean, and the program that runs it.
    pub embedder: Option<String>,
    /// Why there is none, for people.
    pub no_embedder: Option<String>,
    /// Conversations that can be recalled.
    pub conversations: u64,
    /// Their passages that are indexed.
    pub passages: u64,
    /// How many of them can be found by what they mean.
    pub embedded: u64,
    /// Everything up to here is indexed; the rest will be before something is recalled.
    pub indexed_to: Seq,
    pub newest: Seq,
}

impl MemoryReply {
    /// For people: which embedder serves and how many passages have its vectors, or why no embedder serves.
    #[must_use]
    pub fn meaning(&self) -> String {
        match (&self.embedder, &self.no_embedder) {
            (Some(embedder), _) => {
                format!("{embedder}: {} of {}", count(self.embedded), counted(self.passages, "passage"))
            }
            (None, why) => format!("none: {}", why.as_deref().unwrap_or("no embedder")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchMemoryParams {
    /// Any of its words counts, in any form; the rarer, the more.
    pub query: String,
    /// The absolute path of the workspace whose conversations are recalled; absent: all.
    #[serde(default)]
    pub workspace: Option<String>,
    /// At most 50; absent: 10.
    #[serde(default)]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchMemoryReply {
    pub how: RecallWay,
    /// Why it was not looked for by meaning, though it should have been; for people.
    pub problem: Option<String>,
    /// The best first.
    pub snippets: Vec<Snippet>,
}

impl SearchMemoryReply {
    /// For people: the problem, and what was done all the same.
    #[must_use]
    pub fn problem_words(&self) -> Option<String> {
        self.problem.as_ref().map(|problem| format!("by words only: {problem}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetMemoryParams {
    /// The record of a snippet.
    pub seq: Seq,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetMemoryReply {
    /// The passages that are recalled no more.
    pub passages: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddNoteParams {
    /// At most 500 characters.
    pub text: String,
    /// The absolute path of the workspace whose tasks are given it; absent: those of all.
    #[serde(default)]
    pub workspace: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddNoteReply {
    pub note: Note,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListNotesParams {
    /// The absolute path of the workspace; absent: all notes.
    pub workspace: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListNotesReply {
    /// The newest first.
    pub notes: Vec<Note>,
}

/// Which passages are no more found by what they mean. Either `olderThanSecs` or `keep` is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PruneMemoryParams {
    /// What was said longer ago goes.
    pub older_than_secs: Option<u64>,
    /// About so many of the newest passages stay.
    pub keep: Option<u64>,
    /// They are not found by their words either: they are never recalled.
    pub words: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PruneMemoryReply {
    /// How many passages these are.
    pub passages: u64,
}
