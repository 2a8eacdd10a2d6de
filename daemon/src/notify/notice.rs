use super::Told;
use abide_protocol::{
    ConversationId, TaskId,
    inbox::{Approval, PendingId},
    record::{Record, RecordBody},
    task::{AgentTask, EndReason},
};

/// Something that a person should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub conversation_id: ConversationId,
    /// The conversation's.
    pub title: String,
    pub key: Key,
    pub what: What,
}

/// Names the thing that a notice is about. Of one thing there is one notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A question or an approval.
    Pending(PendingId),
    /// A task's end.
    Ended(TaskId),
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Question(String),
    Approval {
        tool: String,
        summary: String,
    },
    Ended {
        reason: EndReason,
        /// Its summary or error.
        words: Option<String>,
    },
}

impl What {
    /// It waits for a person.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Question(_) | Self::Approval { .. })
    }
}

/// What to tell of a record of this task, as it was `before`: what opened, what was settled, how it ended. Of a task inside
/// another one the end is its parent's business; of one that a person stopped, that person knows.
#[must_use]
pub fn notices(title: &str, record: &Record, before: &AgentTask) -> Vec<Told> {
    let notice = |key, what| {
        let conversation_id = record.conversation_id;
        Told::Notice(Box::new(Notice { conversation_id, title: title.to_owned(), key, what }))
    };
    match &record.body {
        RecordBody::QuestionAsked(question) => {
            vec![notice(
                Key::Pending(PendingId::Question(question.id)),
                What::Question(question.text.clone()),
            )]
        }
        RecordBody::ApprovalRequested(Approval { id, tool, summary, .. }) => {
            let what = What::Approval { tool: tool.clone(), summary: summary.clone() };
            vec![notice(Key::Pending(PendingId::Approval(*id)), what)]
        }
        RecordBody::QuestionAnswered(answer) => {
            vec![Told::Settled(Key::Pending(PendingId::Question(answer.question_id)))]
        }
        RecordBody::ApprovalDecided(decided) => {
            vec![Told::Settled(Key::Pending(PendingId::Approval(decided.approval_id)))]
        }
        RecordBody::TaskEnded(ended) => {
            let settled = before.pending.iter().map(|pending| Told::Settled(Key::Pending(pending.id())));
            let told = before.parent_id.is_none()
                && !matches!(ended.reason, EndReason::Stopped | EndReason::Deleted);
            let end = told.then(|| {
                let words = ended.error.clone().or_else(|| ended.summary.clone());
                notice(Key::Ended(before.id), What::Ended { reason: ended.reason, words })
            });
            settled.chain(end).collect()
        }
        _ => Vec::new(),
    }
}
