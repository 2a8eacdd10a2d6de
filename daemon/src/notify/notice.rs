use abide_protocol::{
    ConversationId, TaskId,
    inbox::{Approval, PendingId},
    record::{Record, RecordBody},
    task::{AgentTask, EndReason, Incomplete},
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
        /// What its last reply lacks.
        incomplete: Option<Incomplete>,
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

/// What to tell of a record of this task. Of a task inside another one the end is its parent's business; of one that a person
/// stopped, that person knows.
#[must_use]
pub fn notice(title: &str, record: &Record, task: &AgentTask) -> Option<Notice> {
    let (key, what) = match &record.body {
        RecordBody::QuestionAsked(question) => {
            (Key::Pending(PendingId::Question(question.id)), What::Question(question.text.clone()))
        }
        RecordBody::ApprovalRequested(Approval { id, tool, summary, .. }) => {
            let what = What::Approval { tool: tool.clone(), summary: summary.clone() };
            (Key::Pending(PendingId::Approval(*id)), what)
        }
        RecordBody::TaskEnded(ended)
            if task.parent_id.is_none()
                && !matches!(ended.reason, EndReason::Stopped | EndReason::Deleted) =>
        {
            let words = ended.error.clone().or_else(|| ended.summary.clone());
            let incomplete = task.incomplete;
            (Key::Ended(task.id), What::Ended { reason: ended.reason, incomplete, words })
        }
        _ => return None,
    };
    Some(Notice { conversation_id: record.conversation_id, title: title.to_owned(), key, what })
}
