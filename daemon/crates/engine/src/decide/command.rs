//! Clients' commands to a conversation.

use abide_protocol::{
    ApprovalId, JsonText, QuestionId, TaskId,
    checkpoint::UndoBegun,
    inbox::Decision,
    record::{
        By, CallAssessed, ClientMessage, ConversationCreated, ConversationUpdated, Imported, Recalled,
        TaskStarted,
    },
};

/// A client's command.
#[derive(Debug, Clone)]
pub enum Command {
    Create(ConversationCreated),
    Update(ConversationUpdated),
    Archive {
        archived: bool,
    },
    Start(Box<Start>),
    StartBeneath(Box<StartBeneath>),
    Stop {
        task: TaskId,
    },
    Pause {
        task: TaskId,
    },
    Intervene {
        task: TaskId,
        intervention: Intervention,
        by: By,
    },
    Resume {
        task: TaskId,
        /// Of the answer, if the pause asked a question.
        by: Option<By>,
    },
    /// `None` declines.
    Answer {
        task: TaskId,
        question: QuestionId,
        response: Option<String>,
        by: Option<By>,
    },
    Decide {
        approval: ApprovalId,
        decision: Decision,
        note: Option<String>,
        /// The text of the approval's wider rule that is remembered. Absent: the very call.
        rule: Option<String>,
        by: By,
    },
    /// Takes back what a root task of the conversation has changed.
    Undo(UndoBegun),
}

impl Command {
    /// The command steers existing work. It is handled before other commands, may use the disk reserve, is
    /// never refused as overloaded, and is recorded while the daemon drains.
    ///
    /// `Resume` counts because it can be an answer: after a budget pause it records the same "go on" as the
    /// answer to the budget's question. `Pause` counts because a `Resume` sent after it must not overtake it.
    #[must_use]
    pub const fn is_urgent(&self) -> bool {
        match self {
            Self::Stop { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Intervene { .. }
            | Self::Answer { .. }
            | Self::Decide { .. } => true,
            Self::Create(_)
            | Self::Update(_)
            | Self::Archive { .. }
            | Self::Start(_)
            | Self::StartBeneath(_)
            | Self::Undo(_) => false,
        }
    }

    /// Whether the command is accepted; a daemon that drains accepts only urgent ones.
    #[must_use]
    pub const fn is_admitted(&self, is_draining: bool) -> bool {
        self.is_urgent() || !is_draining
    }

    /// The task that the command names, if it names one.
    #[must_use]
    pub const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Start(start) => Some(start.task),
            Self::StartBeneath(start) => Some(start.task),
            Self::Stop { task }
            | Self::Pause { task }
            | Self::Resume { task, .. }
            | Self::Intervene { task, .. }
            | Self::Answer { task, .. } => Some(*task),
            Self::Create(_)
            | Self::Update(_)
            | Self::Archive { .. }
            | Self::Decide { .. }
            | Self::Undo(_) => None,
        }
    }
}

/// A new root task, with all settings resolved.
#[derive(Debug, Clone)]
pub struct Start {
    pub task: TaskId,
    /// For a conversation that does not exist yet.
    pub conversation: Option<ConversationCreated>,
    pub head: TaskStarted,
    /// Messages of an earlier conversation. They come before the prompt in the task's transcript.
    pub imported: Vec<Imported>,
    /// Passages of other conversations. They come right before the prompt.
    pub recalled: Option<Recalled>,
    /// A call that comes before the first step, so that the workspace is ready for the work.
    pub setup: Option<CallAssessed>,
}

/// A new sub-task that a client asks for. All that this type lacks is as in other sub-tasks of the parent.
#[derive(Debug, Clone)]
pub struct StartBeneath {
    pub task: TaskId,
    pub parent: TaskId,
    pub prompt: String,
    /// Names of the tools that it may use; `None`: all that its parent may.
    pub tools: Option<Vec<String>>,
    pub metadata: Option<JsonText>,
    pub client_message: Option<ClientMessage>,
    pub external_id: Option<String>,
    pub by: By,
}

/// How a person changes the course of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intervention {
    /// A remark, which the model reads before its next request.
    Comment(String),
    /// New instructions, which the task follows at once.
    Modify { comment: String, content: String },
    /// The task ends as deleted.
    Delete { comment: String },
    /// The task ends as completed, with this result.
    Complete { summary: String },
    /// The task ends as failed.
    Fail { error: String },
}

impl Intervention {
    /// Whether it ends the task.
    #[must_use]
    pub const fn ends(&self) -> bool {
        match self {
            Self::Comment(_) | Self::Modify { .. } => false,
            Self::Delete { .. } | Self::Complete { .. } | Self::Fail { .. } => true,
        }
    }
}
