use abide_protocol::{
    ConversationId, TaskId,
    inbox::{Approval, PendingId},
    record::{Record, RecordBody},
    task::{AgentTask, EndReason, Incomplete},
};

/// A notice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub conversation_id: ConversationId,
    /// The conversation's title.
    pub title: String,
    /// The title of the sub-task that it is about; `None`: a root.
    pub sub_task: Option<String>,
    pub key: Key,
    pub what: What,
}

/// Identifies the subject of a notice; there is one notice for each.
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
        /// What is missing from its last reply.
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

/// The notice for a record of this task, if it needs one. None for the end of a sub-task, which concerns its parent, or of a task that
/// a person stopped.
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
    let sub_task = task.parent_id.map(|_| task.title.clone());
    Some(Notice { conversation_id: record.conversation_id, title: title.to_owned(), sub_task, key, what })
}
