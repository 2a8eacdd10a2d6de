use crate::output::{measure, ps};
use abide_client::{
    protocol::{
        TaskId,
        task::{AgentTask, Status},
    },
    view::{Connection, ConversationView},
};
use tokio::time::Instant;

/// The live line: what goes on, and for how long.
#[derive(Default)]
pub(super) struct Progress {
    shown: Option<(String, Instant)>,
}

impl Progress {
    /// `thinking · step 3 · 12 s`; `None` when there is nothing to wait for.
    pub(super) fn words(&mut self, view: &ConversationView, task: Option<TaskId>) -> Option<String> {
        let words = now(view, task)?;
        let since = match &self.shown {
            Some((before, since)) if *before == words => *since,
            _ => Instant::now(),
        };
        self.shown = Some((words.clone(), since));
        let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(if ms < 1000 { words } else { format!("{words} · {}", measure::duration(ms)) })
    }
}

fn now(view: &ConversationView, task: Option<TaskId>) -> Option<String> {
    if let Connection::Lost { .. } = view.connection() {
        return Some("no connection to the daemon, trying again".to_owned());
    }
    if view.daemon().storage_full {
        return Some("the disk is full: everything waits for room".to_owned());
    }
    let task = match task {
        Some(id) => view.task(id),
        None => view.tasks().rev().find(|task| !task.status.has_ended()),
    };
    task.and_then(of_task)
}

fn of_task(task: &AgentTask) -> Option<String> {
    match task.status {
        Status::Completed | Status::Cancelled | Status::Error => None,
        Status::Paused | Status::WaitingUser | Status::WaitingApproval => Some(ps::status(task).0),
        Status::Running | Status::Thinking | Status::ToolExecuting | Status::WaitingChildren => {
            Some(format!("{} · step {}", ps::status(task).0, task.step_count.max(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_task;
    use crate::output::fixture;
    use abide_client::protocol::task::{AgentTask, Status};

    #[test]
    fn the_live_line_says_what_goes_on() {
        let words = |status| of_task(&AgentTask { status, ..fixture::task() });
        assert_eq!(words(Status::Thinking).as_deref(), Some("thinking · step 3"));
        assert_eq!(words(Status::WaitingUser).as_deref(), Some("needs you: answer"));
        assert_eq!(words(Status::Completed), None);
    }
}
