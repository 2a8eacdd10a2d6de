//! Clients' commands to a conversation.

use crate::decide::input::{Input, Intervention, Shown, Start};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    checkpoint::UndoBegun,
    inbox::Decision,
    record::{By, ConversationCreated, ConversationUpdated},
};

/// A client's command. The driver makes it an [`Input`], adding what only the daemon knows.
#[derive(Debug, Clone)]
pub enum Command {
    Create(ConversationCreated),
    Update(ConversationUpdated),
    Archive {
        archived: bool,
    },
    Start(Box<Start>),
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
    /// The command steers existing work. It is handled before other commands, may use the disk reserve, is never refused as
    /// overloaded, and is recorded while the daemon drains.
    ///
    /// `Resume` counts because it can be an answer: after a budget pause it records the same "go on" as the answer to the budget's
    /// question. `Pause` counts because a `Resume` sent after it must not overtake it.
    #[must_use]
    pub const fn is_urgent(&self) -> bool {
        match self {
            Self::Stop { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Intervene { .. }
            | Self::Answer { .. }
            | Self::Decide { .. } => true,
            Self::Create(_) | Self::Update(_) | Self::Archive { .. } | Self::Start(_) | Self::Undo(_) => {
                false
            }
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

    /// `shown` is the text already shown of the replies that the command has cut off.
    pub(crate) fn into_input(self, shown: Shown) -> Input {
        match self {
            Self::Create(facts) => Input::Create(facts),
            Self::Update(update) => Input::Update(update),
            Self::Archive { archived } => Input::Archive { archived },
            Self::Start(start) => Input::Start(start),
            Self::Stop { task } => Input::Stop { task, shown },
            Self::Pause { task } => Input::Pause { task },
            Self::Intervene { task, intervention, by } => Input::Intervene { task, intervention, by, shown },
            Self::Resume { task, by } => Input::Resume { task, by },
            Self::Answer { task, question, response, by } => {
                Input::Answer { task, question, response, by, shown }
            }
            Self::Undo(begun) => Input::Undo(begun),
            Self::Decide { approval, decision, note, rule, by } => {
                Input::Decide { approval, decision, note, rule, by }
            }
        }
    }
}
