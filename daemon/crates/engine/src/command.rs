//! What a client asks of a conversation.

use crate::input::{Input, Shown, Start};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    inbox::{Decision, Rule},
    record::{By, ConversationCreated, ConversationUpdated},
};

/// A client's command. It becomes an [`Input`] once the daemon has added what only it knows.
#[derive(Debug, Clone)]
pub enum Command {
    Create(ConversationCreated),
    Update(ConversationUpdated),
    Archive {
        archived: bool,
    },
    /// What this conversation has remembered of this call no longer counts.
    ForgetRule(Rule),
    Start(Box<Start>),
    Stop {
        task: TaskId,
    },
    Pause {
        task: TaskId,
    },
    Resume {
        task: TaskId,
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
        by: Option<By>,
    },
}

impl Command {
    /// A person steers work that exists. Such a command waits neither behind others nor for room on a full disk, is never refused as
    /// overloaded, and is recorded while the daemon drains.
    ///
    /// `Resume` is one of them because it is an answer: out of a budget's pause it records the same "go on" as the answer to the
    /// budget's question. `Pause` is one because it must not be overtaken by the `Resume` that was sent after it.
    #[must_use]
    pub const fn is_urgent(&self) -> bool {
        match self {
            Self::Stop { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Answer { .. }
            | Self::Decide { .. } => true,
            Self::Create(_)
            | Self::Update(_)
            | Self::Archive { .. }
            | Self::ForgetRule(_)
            | Self::Start(_) => false,
        }
    }

    /// Whether a conversation takes the command. A daemon that drains refuses what is not urgent.
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
            | Self::Resume { task }
            | Self::Answer { task, .. } => Some(*task),
            Self::Create(_)
            | Self::Update(_)
            | Self::Archive { .. }
            | Self::ForgetRule(_)
            | Self::Decide { .. } => None,
        }
    }

    /// The engine's input; `shown` is what people have seen of the replies that a stop has cut off.
    pub(crate) fn into_input(self, shown: Shown) -> Input {
        match self {
            Self::Create(facts) => Input::Create(facts),
            Self::Update(update) => Input::Update(update),
            Self::Archive { archived } => Input::Archive { archived },
            Self::ForgetRule(rule) => Input::ForgetRule(rule),
            Self::Start(start) => Input::Start(start),
            Self::Stop { task } => Input::Stop { task, shown },
            Self::Pause { task } => Input::Pause { task },
            Self::Resume { task } => Input::Resume { task },
            Self::Answer { task, question, response, by } => Input::Answer { task, question, response, by },
            Self::Decide { approval, decision, note, by } => Input::Decide { approval, decision, note, by },
        }
    }
}
