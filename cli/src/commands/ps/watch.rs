//! `abide ps --watch`: the table, redrawn until Ctrl-C.

use super::Choice;
use crate::{
    clock,
    connection::{Daemon, Overview},
    error::CommandError,
    exit::Exit,
    output::{
        measure, ps,
        screen::{Screen, Size},
        style::{FAINT, paint},
    },
};
use abide_client::{
    protocol::task::AgentTask,
    view::{Connection, OverviewView},
};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How often ages are updated.
const TICK: Duration = Duration::from_secs(1);

pub(super) async fn watch(daemon: &Daemon, choice: &Choice) -> Result<Exit, CommandError> {
    let mut screen = Screen::new();
    if screen.room().rows == 0 {
        return Err(CommandError::usage("--watch needs a terminal that takes styles")
            .hinted("`abide ps --json` is for programs; `abide watch ID --json` follows a task"));
    }
    let mut overview = Overview::open(daemon).await?;
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            seen = overview.next(daemon) => seen?,
            _ = tick.tick() => {}
            _ = tokio::signal::ctrl_c() => break,
        }
        screen.live(lines(&overview.view, choice, screen.room()))?;
    }
    // The last table stays on the screen.
    let last = lines(&overview.view, choice, screen.room());
    screen.live(Vec::new())?;
    screen.note(&last.join("\n"))?;
    Ok(Exit::Done)
}

fn lines(view: &OverviewView, choice: &Choice, room: Size) -> Vec<String> {
    // Newest first, as `ps` has them.
    let tasks: Vec<AgentTask> = view.tasks().rev().filter(|task| choice.takes(task)).cloned().collect();
    let titles = view.conversations().into_iter().map(|c| (c.id, c.title.clone())).collect();
    let table = if tasks.is_empty() {
        "Nothing runs and nothing waits.\n".to_owned()
    } else {
        ps::tasks(&tasks, &titles, clock::now(), Some(room.columns))
    };
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    let most = room.rows.saturating_sub(2).max(1);
    if lines.len() > most {
        let more = measure::count((lines.len() - most) as u64);
        lines.truncate(most);
        lines.push(paint(FAINT, &format!("… {more} more")));
    }
    if let Connection::Lost { .. } = view.connection() {
        lines.push(paint(FAINT, "no connection to the daemon, trying again"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::{
        Update,
        protocol::{
            TaskId,
            notification::{DaemonUpdate, Snapshot},
            task::Status,
        },
    };
    use uuid::Uuid;

    fn view(tasks: u128) -> OverviewView {
        let task = |n| AgentTask { id: TaskId(Uuid::from_u128(n)), ..fixture::task() };
        let mut view = OverviewView::default();
        view.apply(Update::Snapshot(Box::new(Snapshot {
            seq: abide_client::protocol::Seq(1),
            conversations: vec![fixture::conversation()],
            tasks: (1..=tasks).map(task).collect(),
            inbox: vec![],
            messages: vec![],
            calls: vec![],
            events: vec![],
            partials: vec![],
            daemon: DaemonUpdate::default(),
        })));
        view
    }

    fn shown(view: &OverviewView, choice: &Choice, rows: usize) -> Vec<String> {
        let lines = lines(view, choice, Size { columns: 60, rows });
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn there_are_no_more_lines_than_rows() {
        let choice = Choice::default();
        let all = shown(&view(30), &choice, 10);
        assert_eq!((all.len(), all[8].as_str()), (9, "… 23 more"), "{all:?}");
        assert!(all[1].starts_with("0000001e  thinking") && all[1].ends_with("Tidy up"), "{all:?}");
        assert_eq!(shown(&view(0), &choice, 10), ["Nothing runs and nothing waits."]);
    }

    #[test]
    fn only_wanted_tasks_are_shown_and_a_lost_connection_is_noted() {
        let mut view = view(2);
        let paused = Choice { statuses: vec![Status::Paused], ..Choice::default() };
        assert_eq!(shown(&view, &paused, 10), ["Nothing runs and nothing waits."]);
        view.apply(Update::Disconnected { reason: "gone".into() });
        let lost = shown(&view, &Choice::default(), 10);
        assert_eq!(lost.last().map(String::as_str), Some("no connection to the daemon, trying again"));
    }
}
