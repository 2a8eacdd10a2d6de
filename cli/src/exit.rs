//! Exit codes, which scripts rely on.

use abide_client::protocol::task::{AgentTask, EndReason, Incomplete};
use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or detached from a task that goes on.
    Done,
    Failed,
    Usage,
    NoDaemon,
    /// A task waits for a person and there is no terminal.
    NeedsPerson,
    /// A step, time or budget limit ended the task, or its last reply was cut at the model's length limit.
    Limit,
    /// The time limit is over.
    TimedOut,
    /// The task was stopped.
    Cancelled,
    /// This program was ended by a signal.
    Terminated,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NoDaemon => 3,
            Self::NeedsPerson => 4,
            Self::Limit => 5,
            Self::TimedOut => 124,
            Self::Cancelled => 130,
            Self::Terminated => 143,
        }
    }

    /// The code for the end of a task that was waited for.
    pub(crate) const fn of(reason: EndReason) -> Self {
        match reason {
            EndReason::Completed | EndReason::Declined => Self::Done,
            EndReason::StepLimit | EndReason::TimeLimit | EndReason::Budget => Self::Limit,
            EndReason::Stopped | EndReason::Deleted | EndReason::QuestionTimeout | EndReason::ParentEnded => {
                Self::Cancelled
            }
            EndReason::Error => Self::Failed,
        }
    }

    /// The same for a task; `None` while it has not ended.
    pub(crate) fn of_task(task: &AgentTask) -> Option<Self> {
        let of_end = || match task.incomplete {
            Some(Incomplete::Length) => Self::Limit,
            // There is no answer.
            Some(Incomplete::Empty | Incomplete::Unfinished | Incomplete::LostCalls) => Self::Failed,
            None => task.end_reason.map_or(Self::Failed, Self::of),
        };
        task.status.has_ended().then(of_end)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Resolves when this process gets SIGTERM, or SIGHUP as its terminal closes.
#[cfg(unix)]
pub(crate) async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut hangup)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! { _ = term.recv() => {} _ = hangup.recv() => {} }
}

#[cfg(not(unix))]
pub(crate) async fn terminated() {
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use crate::output::fixture;
    use abide_client::protocol::task::{AgentTask, EndReason as R, Incomplete, Status};

    #[test]
    fn each_end_has_the_code_that_scripts_expect() {
        let table = [
            (R::Completed, 0),
            (R::StepLimit, 5),
            (R::TimeLimit, 5),
            (R::Budget, 5),
            (R::Stopped, 130),
            (R::Deleted, 130),
            (R::QuestionTimeout, 130),
            (R::Error, 1),
        ];
        for (reason, code) in table {
            assert_eq!(Exit::of(reason).code(), code, "{reason:?}");
        }
        let ended = |incomplete| AgentTask {
            status: Status::Completed,
            end_reason: Some(R::Completed),
            incomplete,
            ..fixture::task()
        };
        let code = |incomplete| Exit::of_task(&ended(incomplete)).map(Exit::code);
        assert_eq!(code(Some(Incomplete::Length)), Some(5), "only a part of the reply is there");
        assert_eq!(code(Some(Incomplete::Empty)), Some(1), "nothing is there");
        assert_eq!(code(Some(Incomplete::Unfinished)), Some(1), "nobody knows what is missing");
        assert_eq!(code(Some(Incomplete::LostCalls)), Some(1), "it was not done");
        assert_eq!(code(None), Some(0));
        assert_eq!(
            [Exit::Usage, Exit::NoDaemon, Exit::NeedsPerson, Exit::TimedOut, Exit::Terminated]
                .map(Exit::code),
            [2, 3, 4, 124, 143]
        );
    }
}
