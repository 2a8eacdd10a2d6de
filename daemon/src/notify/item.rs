//! What a notification can be about.

use super::words::{CHOICE, TEXT, short};
use abide_host::parked;
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    inbox::{Approval, InboxItem, Pending, PendingId, Question},
    record::TaskEnded,
    task::{AgentTask, EndReason, Incomplete},
    transcript::Risk,
};
use std::borrow::Cow;

/// The most choices that become buttons. Servers show few.
const MAX_CHOICES: usize = 3;

/// A question or an approval, as much of it as a notification needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub task_id: TaskId,
    /// The title of the sub-task that asks; `None`: a root asks.
    pub sub_task: Option<String>,
    pub asks: Asks,
}

/// What a task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    Question { id: QuestionId, text: String, answers: Answers },
    Approval { id: ApprovalId, tool: String, summary: String, decide: Decide },
}

/// How a question can be answered from a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// One of these.
    Choices(Vec<String>),
    /// Any text.
    Words,
    /// There are more choices than buttons, or buttons could not tell them apart.
    InAbide,
}

/// Where an approval can be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decide {
    Here,
    /// Not in passing, for this reason: a sentence without a full stop.
    InAbide(String),
}

impl Item {
    #[must_use]
    pub fn id(&self) -> PendingId {
        match self.asks {
            Asks::Question { id, .. } => PendingId::Question(id),
            Asks::Approval { id, .. } => PendingId::Approval(id),
        }
    }
}

impl From<&InboxItem> for Item {
    fn from(item: &InboxItem) -> Self {
        let asks = match &item.pending {
            Pending::Question(question) => Asks::Question {
                id: question.id,
                text: short(&text(question), TEXT),
                answers: Answers::to(question),
            },
            Pending::Approval(approval) => Asks::Approval {
                id: approval.id,
                tool: short(&approval.tool, TEXT),
                summary: short(&approval.summary, TEXT),
                decide: Decide::about(approval),
            },
        };
        let sub_task = item.sub_task().map(|(_, title)| short(title, TEXT));
        Self { task_id: item.task_id, sub_task, asks }
    }
}

/// The question's text; before that of a parked task, until when.
fn text(question: &Question) -> Cow<'_, str> {
    match parked::question(question) {
        Some(until) => Cow::Owned(format!("{until}: {}", question.text)),
        None => Cow::Borrowed(&question.text),
    }
}

impl Answers {
    fn to(question: &Question) -> Self {
        let choices = &question.choices;
        if choices.is_empty() {
            return if question.kind.takes_words() { Self::Words } else { Self::InAbide };
        }
        let labels: Vec<String> =
            choices.iter().take(MAX_CHOICES).map(|choice| short(choice, CHOICE)).collect();
        let are_distinct = labels.iter().enumerate().all(|(n, label)| !labels[..n].contains(label));
        if choices.len() <= MAX_CHOICES && are_distinct {
            Self::Choices(choices.clone())
        } else {
            Self::InAbide
        }
    }
}

impl Decide {
    fn about(approval: &Approval) -> Self {
        if approval.in_passing && approval.risk < Risk::High {
            return Self::Here;
        }
        let risk = (approval.risk == Risk::High).then(|| "its risk is high".to_owned());
        let reasons: Vec<String> = risk.into_iter().chain(approval.why.clone()).collect();
        let reasons = if reasons.is_empty() { "there is more to see".to_owned() } else { reasons.join("; ") };
        Self::InAbide(short(&reasons, TEXT))
    }
}

/// The end of a root task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub reason: EndReason,
    /// What is missing from its last reply.
    pub incomplete: Option<Incomplete>,
    /// Its summary or error; may be empty.
    pub words: String,
}

impl End {
    /// The end of this task, if it is news: neither that of a sub-task, which concerns its parent, nor of a
    /// task that a person stopped.
    #[must_use]
    pub fn of(task: &AgentTask, ended: &TaskEnded) -> Option<Self> {
        let is_news =
            task.parent_id.is_none() && !matches!(ended.reason, EndReason::Stopped | EndReason::Deleted);
        let words = ended.error.as_deref().or(ended.summary.as_deref()).unwrap_or_default();
        is_news.then(|| Self { reason: ended.reason, incomplete: task.incomplete, words: short(words, TEXT) })
    }
}
