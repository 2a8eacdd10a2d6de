//! A conversation, as its records tell: the only state there is.

mod fold;
mod transcript;

use crate::task::Task;
use abide_protocol::{
    ApprovalId, QuestionId, TaskId, Timestamp,
    inbox::Decision,
    record::ConversationCreated,
    transcript::{Entry, Transcript},
};
use std::collections::BTreeMap;

/// What the records of one conversation say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// `None` before its first record.
    pub conversation: Option<Conversation>,
    /// The newest root task; earlier ones have ended.
    pub(crate) task: Option<Task>,
    /// What root tasks' models are sent, but for the system prompt.
    pub(crate) transcript: Transcript,
    /// The first response to each question that has one.
    pub(crate) answered: BTreeMap<QuestionId, First<Option<String>>>,
    /// The first decision on each approval that has one.
    pub(crate) decided: BTreeMap<ApprovalId, First<Decision>>,
}

/// The response or decision that counts, and when it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct First<T> {
    pub said: T,
    pub at: Timestamp,
}

/// A conversation's own facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub facts: ConversationCreated,
    pub archived: bool,
}

impl History {
    /// The newest root task, ended or not.
    #[must_use]
    pub const fn root(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.task.as_ref().filter(|t| t.id == id)
    }

    /// Tasks that have not ended.
    pub fn live(&self) -> impl Iterator<Item = &Task> {
        self.task.iter().filter(|t| !t.has_ended())
    }

    /// What the task's model is sent after the system prompt.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The transcript's entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        self.transcript.entries()
    }

    /// The first response to a question, if it has one.
    #[must_use]
    pub fn answer(&self, question: QuestionId) -> Option<&First<Option<String>>> {
        self.answered.get(&question)
    }

    /// The first decision on an approval, if it has one.
    #[must_use]
    pub fn decision(&self, approval: ApprovalId) -> Option<First<Decision>> {
        self.decided.get(&approval).copied()
    }
}
