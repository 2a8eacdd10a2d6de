//! The live lines at the bottom of a terminal: the running calls with their newest output, and a status line.

use crate::{
    clock,
    output::{
        call, measure, ps,
        screen::Size,
        style::{FAINT, paint},
        text,
    },
};
use abide_client::{
    protocol::{
        TaskId, Timestamp,
        notification::{DeltaItem, DeltaKind},
        task::{AgentTask, CallState, Status},
    },
    view::{Connection, ConversationView, Stream},
};
use tokio::time::Instant;

/// The most lines of a running command's output.
const OUTPUT_LINES: usize = 5;
/// The bytes at the end of a running command's output that are searched for those lines.
const OUTPUT_BYTES: usize = 4096;

/// Remembers since when the status line has shown the same activity.
#[derive(Default)]
pub(super) struct Progress {
    shown: Option<(String, Instant)>,
}

impl Progress {
    /// The running calls, each with the newest lines of its output, and a status line. Empty if there is no
    /// activity to show.
    pub(super) fn lines(&mut self, view: &ConversationView, task: Option<TaskId>, room: Size) -> Vec<String> {
        let Some(line) = self.line(view, task) else { return Vec::new() };
        let mut lines = calls(view, task, Size { rows: (room.rows / 2).saturating_sub(1), ..room });
        lines.push(paint(FAINT, &text::fit(&line, room.columns)));
        lines
    }

    /// `thinking 12 s · step 3 of 50 · 1,234 tokens · $0.0042`
    fn line(&mut self, view: &ConversationView, task: Option<TaskId>) -> Option<String> {
        let at = clock::now();
        let Now { mut activity, details } = now(view, task, at)?;
        // Before the next attempt the words count down, so the time already waited is left out.
        let retry = current(view, task).and_then(|task| task.retry.as_ref());
        let is_under_way = retry.is_none_or(|retry| retry.next_at <= at);
        let since = match &self.shown {
            Some((before, since)) if *before == activity => *since,
            _ => Instant::now(),
        };
        self.shown = Some((activity.clone(), since));
        let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        if is_under_way && ms >= 1000 {
            activity = format!("{activity} {}", measure::duration(ms));
        }
        Some(std::iter::once(activity).chain(details).collect::<Vec<_>>().join(" · "))
    }
}

struct Now {
    activity: String,
    /// The step, and the usage so far.
    details: Vec<String>,
}

fn now(view: &ConversationView, task: Option<TaskId>, at: Timestamp) -> Option<Now> {
    let only = |words: &str| Some(Now { activity: words.to_owned(), details: Vec::new() });
    if let Connection::Lost { .. } = view.connection() {
        return only("no connection to the daemon, trying again");
    }
    if view.daemon().storage_full {
        return only("the disk is full: everything waits for room");
    }
    current(view, task).and_then(|task| of_task(task, at))
}

/// The followed task, or the newest root that has not ended.
fn current(view: &ConversationView, task: Option<TaskId>) -> Option<&AgentTask> {
    match task {
        Some(id) => view.task(id),
        None => view.tasks().rev().find(|task| task.parent_id.is_none() && !task.status.has_ended()),
    }
}

fn of_task(task: &AgentTask, at: Timestamp) -> Option<Now> {
    let activity = ps::status_at(task, at).0;
    match task.status {
        Status::Completed | Status::Cancelled | Status::Error => None,
        Status::Paused | Status::WaitingUser | Status::WaitingApproval => {
            Some(Now { activity, details: Vec::new() })
        }
        Status::Running | Status::Thinking | Status::ToolExecuting | Status::WaitingChildren => {
            let step = match task.limits.max_steps {
                0 => format!("step {}", task.step_count.max(1)),
                max => format!("step {} of {max}", task.step_count.max(1)),
            };
            let phase = task.phase.map(|phase| phase.name().to_owned());
            let details =
                phase.into_iter().chain([step]).chain(measure::spent(&task.usage_of_all())).collect();
            Some(Now { activity, details })
        }
    }
}

/// The lines of the running calls.
fn calls(view: &ConversationView, task: Option<TaskId>, room: Size) -> Vec<String> {
    let Some(task) = current(view, task) else { return Vec::new() };
    let running: Vec<_> = task
        .active_calls
        .iter()
        .filter_map(|active| view.call(active.call_id))
        // The record of a call's end comes before the update that removes the call from its task.
        .filter(|call| call.state == CallState::Running && !call.is_control())
        .collect();
    let each = (room.rows / running.len().max(1)).min(1 + OUTPUT_LINES);
    let mut lines = Vec::new();
    for call in running {
        let live = view.live_item(DeltaItem::Call(call.call_id));
        let output = live.and_then(|live| live.stream(DeltaKind::Output));
        let output = output.map_or("", |stream: &Stream| stream.tail(OUTPUT_BYTES));
        lines.extend(call::running(call, output, room.columns, each));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::task::Phase;

    #[test]
    fn the_status_line_has_activity_time_step_and_cost() {
        let words = |status| {
            of_task(&AgentTask { status, phase: None, ..fixture::task() }, fixture::START)
                .map(|now| (now.activity, now.details.join(" · ")))
        };
        assert_eq!(words(Status::Thinking), Some(("thinking".into(), "step 3 of 50 · 1,234 tokens".into())));
        assert_eq!(words(Status::WaitingUser), Some(("needs you: answer".into(), String::new())));
        assert_eq!(words(Status::Completed), None);
        let observes = AgentTask { status: Status::Thinking, phase: Some(Phase::Observe), ..fixture::task() };
        let line = of_task(&observes, fixture::START).map(|now| now.details.join(" · "));
        assert_eq!(line.as_deref(), Some("observe · step 3 of 50 · 1,234 tokens"));
    }
}
