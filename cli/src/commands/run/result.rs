//! The result of a task for a script: its final text, or one object.

use crate::{
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::FollowEnd,
    output::{json, screen, text},
};
use abide_client::protocol::{
    ErrorKind, TaskId,
    method::{GetTask, task::TaskParams},
    task::{AgentTask, EndReason, Status},
    transcript::Usage,
};
use serde::Serialize;

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Object,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskResult<'a> {
    /// The final text; absent while the task has not ended, and if it ended without one.
    result: Option<&'a str>,
    status: Status,
    end_reason: Option<EndReason>,
    error: Option<&'a str>,
    /// With that of sub-tasks.
    usage: Usage,
    /// In US dollars; absent if no price is known.
    cost: Option<f64>,
    task_id: TaskId,
    /// This program's exit code.
    exit: u8,
}

/// Prints the result on standard output, and why there is none on standard error.
pub(super) async fn print(
    form: Form,
    ending: FollowEnd,
    daemon: &mut Daemon,
    id: TaskId,
) -> Result<Exit, CommandError> {
    let exit = ending.print_unless_done(&id.short())?;
    let task = match ending {
        FollowEnd::Ended(task) | FollowEnd::Paused(task) => Some(*task),
        FollowEnd::Deleted => None,
        FollowEnd::Waits(_) | FollowEnd::Detached { .. } => read(daemon, id).await?,
    };
    match (form, &task) {
        (Form::Object, Some(task)) => json::document(&of(task, exit))?,
        (Form::Object, None) => json::document(&deleted(id, exit))?,
        (Form::Text, task) => {
            if let Some(result) = task.as_ref().and_then(|task| task.summary.as_deref()) {
                screen::print(&format!("{}\n", text::block(result).trim_end()))?;
            }
        }
    }
    Ok(exit)
}

/// `None`: it was deleted meanwhile.
async fn read(daemon: &mut Daemon, id: TaskId) -> Result<Option<AgentTask>, CommandError> {
    match daemon.call_once::<GetTask>(TaskParams { task_id: id.to_string() }.into()).await {
        Ok(reply) => Ok(Some(reply.task)),
        Err(error) if error.is(ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn of(task: &AgentTask, exit: Exit) -> TaskResult<'_> {
    let usage = task.usage_of_all();
    TaskResult {
        result: task.summary.as_deref(),
        status: task.status,
        end_reason: task.end_reason,
        error: task.error_message.as_deref(),
        usage,
        cost: usage.cost_micros.map(dollars),
        task_id: task.id,
        exit: exit.code(),
    }
}

fn deleted(id: TaskId, exit: Exit) -> TaskResult<'static> {
    let reason = EndReason::Deleted;
    TaskResult {
        result: None,
        status: reason.status(),
        end_reason: Some(reason),
        error: None,
        usage: Usage::default(),
        cost: None,
        task_id: id,
        exit: exit.code(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "no task costs 9 billion dollars")]
fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}
