//! The list of tasks.

use crate::output::{
    measure, retry,
    style::{BAD, BUSY, FAINT, GOOD, NEEDS_YOU, PLAIN, STRONG},
    table::{cell, table},
};
use abide_client::protocol::{
    ConversationId, Timestamp,
    inbox::Pending,
    task::{AgentTask, CallState, EndReason, PauseReason, Status, Tree},
};
use abide_host::parked;
use anstyle::Style;
use std::collections::HashMap;

/// `abide ps`. Some titles may be missing in `titles`.
pub(crate) fn tasks(
    tasks: &[AgentTask],
    titles: &HashMap<ConversationId, String>,
    now: Timestamp,
    width: Option<usize>,
) -> String {
    let rows: Vec<_> = tasks
        .iter()
        .map(|task| {
            let (words, style) = status_at(task, now);
            [
                cell(STRONG, &task.id.short()),
                cell(style, &words),
                cell(PLAIN, &steps(task)),
                cell(PLAIN, &measure::age(task.started_at, now)),
                cell(PLAIN, titles.get(&task.conversation_id).map_or("", String::as_str)),
            ]
        })
        .collect();
    table(["TASK", "STATUS", "STEPS", "AGE", "CONVERSATION"], &rows, width)
}

/// Shown if there are no tasks: what to do.
pub(crate) fn nothing(all: bool) -> &'static str {
    if all {
        "No tasks yet. Begin one:\n  abide run WHAT TO DO    in the current folder\n  abide demo              see how it goes, no key needed\n"
    } else {
        "Nothing runs and nothing waits.\n  abide run WHAT TO DO    give an agent something to do\n  abide ps --all          tasks that have ended\n"
    }
}

pub(crate) fn steps(task: &AgentTask) -> String {
    match task.limits.max_steps {
        0 => task.step_count.to_string(),
        max => format!("{}/{max}", task.step_count),
    }
}

/// A task's status in words, then the number of its sub-tasks that wait for a person.
pub(crate) fn status(task: &AgentTask) -> (String, Style) {
    with_below(task, own_status(task))
}

/// The same with the attempt of a model call that failed.
pub(crate) fn status_at(task: &AgentTask, now: Timestamp) -> (String, Style) {
    let retry = retry::short(task, now).filter(|_| task.pausing().is_none());
    with_below(task, retry.map_or_else(|| own_status(task), |words| (words, BUSY)))
}

fn with_below(task: &AgentTask, (words, style): (String, Style)) -> (String, Style) {
    match below(task) {
        Tree { waiting, .. } if waiting > 0 => (format!("{words}, {}", need_you(waiting)), NEEDS_YOU),
        _ => (words, style),
    }
}

/// The sub-tasks of a task that has not ended.
fn below(task: &AgentTask) -> Tree {
    task.tree.as_deref().copied().filter(|_| !task.status.has_ended()).unwrap_or_default()
}

fn need_you(waiting: u32) -> String {
    format!("{waiting} {}", if waiting == 1 { "needs you" } else { "need you" })
}

fn waits_for_sub_tasks(task: &AgentTask) -> (String, Style) {
    (format!("waits for {}", below(task).live), PLAIN)
}

/// A task's status in words without that of its sub-tasks.
pub(crate) fn own_status(task: &AgentTask) -> (String, Style) {
    let words = |words: &str, style| (words.to_owned(), style);
    if let Some(pausing) = task.pausing() {
        return words(pausing, BUSY);
    }
    match task.status {
        Status::Running => words("running", BUSY),
        Status::Thinking if task.retry.is_some() => words("tries again", BUSY),
        Status::Thinking => words("thinking", BUSY),
        Status::ToolExecuting => {
            let tool =
                task.active_calls.iter().find(|c| c.state == CallState::Running).map(|c| c.tool.as_str());
            (tool.map_or("runs a tool".to_owned(), |tool| format!("runs {tool}")), BUSY)
        }
        Status::WaitingUser => (needs_you(task, "answer"), NEEDS_YOU),
        Status::WaitingApproval => (needs_you(task, "approval"), NEEDS_YOU),
        Status::WaitingChildren => waits_for_sub_tasks(task),
        Status::Paused => paused(task),
        Status::Completed | Status::Cancelled | Status::Error => ended(task),
    }
}

/// An open item stays in the inbox while its task is paused.
fn paused(task: &AgentTask) -> (String, Style) {
    if let Some(parked) = parked::task(task) {
        let why =
            task.retry.as_ref().map(|retry| format!(": {}", retry::kind(retry.kind))).unwrap_or_default();
        return (parked + &why, PLAIN);
    }
    let why = match task.pause_reason {
        Some(PauseReason::User) if task.pending.is_empty() => "paused: by you",
        Some(PauseReason::User) | None => "paused",
        Some(PauseReason::Budget) => "paused: budget",
        Some(PauseReason::CrashLoop) => "paused: crash loop",
        Some(PauseReason::Restart) => "paused: after a restart",
        Some(PauseReason::Parked) => PauseReason::Parked.words(),
    };
    if task.pending.is_empty() {
        return (why.to_owned(), if task.needs_person() { NEEDS_YOU } else { PLAIN });
    }
    let is_question = task.pending.iter().any(|p| matches!(p, Pending::Question(_)));
    let one = if is_question { "answer" } else { "approval" };
    (format!("{} ({why})", needs_you(task, one)), NEEDS_YOU)
}

fn needs_you(task: &AgentTask, one: &str) -> String {
    let approvals = task.pending.iter().filter(|p| matches!(p, Pending::Approval(_))).count();
    let questions = task.pending.len() - approvals;
    match (approvals, questions) {
        (0, 0 | 1) | (1, 0) => format!("needs you: {one}"),
        (a, 0) => format!("needs you: {a} approvals"),
        (0, q) => format!("needs you: {q} answers"),
        (a, q) => format!("needs you: {} things", a + q),
    }
}

fn ended(task: &AgentTask) -> (String, Style) {
    let (words, style) = match (task.end_reason, task.incomplete) {
        (Some(EndReason::Completed), Some(incomplete)) => (incomplete.words(), NEEDS_YOU),
        (Some(reason), _) => {
            let style = match reason {
                EndReason::Completed => GOOD,
                EndReason::StepLimit | EndReason::TimeLimit => NEEDS_YOU,
                EndReason::Error => BAD,
                EndReason::Stopped
                | EndReason::Deleted
                | EndReason::QuestionTimeout
                | EndReason::Budget
                | EndReason::ParentEnded
                | EndReason::Declined => FAINT,
            };
            (reason.words(), style)
        }
        (None, _) => (task.status.name(), PLAIN),
    };
    (words.to_owned(), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        record::ModelErrorKind,
        task::{Incomplete, Retry},
    };
    use insta::assert_snapshot;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_table_says_what_needs_a_person() {
        let titles = HashMap::from([(fixture::task().conversation_id, "Fix the \u{1b}[31mtest".to_owned())]);
        let waiting = AgentTask {
            status: Status::WaitingApproval,
            pending: vec![Pending::Approval(fixture::approval())],
            ..fixture::task()
        };
        let shown = tasks(&[waiting, fixture::task()], &titles, fixture::START.plus(200_000), None);
        assert_snapshot!(plain(&shown), @r"
        TASK      STATUS               STEPS  AGE    CONVERSATION
        00000001  needs you: approval  3/50   3 min  Fix the \x1b[31mtest
        00000001  thinking             3/50   3 min  Fix the \x1b[31mtest
        ");
    }

    #[test]
    fn every_status_has_words() {
        for &status in Status::ALL {
            let (words, _) = super::status(&AgentTask { status, ..fixture::task() });
            assert!(!words.is_empty() && !words.contains('_'), "{words}");
        }
        let two = vec![Pending::Approval(fixture::approval()), Pending::Approval(fixture::approval())];
        let task = AgentTask { status: Status::WaitingApproval, pending: two, ..fixture::task() };
        assert_eq!(super::status(&task).0, "needs you: 2 approvals");
    }

    #[test]
    fn a_task_says_what_its_sub_tasks_wait_for() {
        let words = |status, live, waiting| {
            let tree = Some(Box::new(Tree { live, waiting, ..Tree::default() }));
            super::status(&AgentTask { status, tree, ..fixture::task() })
        };
        assert_eq!(words(Status::WaitingChildren, 3, 0), ("waits for 3".to_owned(), PLAIN));
        assert_eq!(words(Status::WaitingChildren, 3, 1), ("waits for 3, 1 needs you".to_owned(), NEEDS_YOU));
        assert_eq!(words(Status::Thinking, 3, 2), ("thinking, 2 need you".to_owned(), NEEDS_YOU));
        assert_eq!(words(Status::Thinking, 3, 0).0, "thinking");
    }

    #[test]
    fn a_pause_that_waits_for_running_work_says_so() {
        let words = |status| {
            let paused = AgentTask { status, pause_reason: Some(PauseReason::User), ..fixture::task() };
            super::status(&paused).0
        };
        assert_eq!(words(Status::Thinking), "pauses after this reply");
        assert_eq!(words(Status::ToolExecuting), "pauses after this call");
        assert_eq!(words(Status::Paused), "paused: by you");
    }

    #[test]
    fn a_paused_task_with_an_open_item_needs_the_person() {
        let words = |pending| {
            let pause_reason = Some(PauseReason::User);
            super::status(&AgentTask { status: Status::Paused, pause_reason, pending, ..fixture::task() }).0
        };
        let (question, approval) =
            (Pending::Question(fixture::question()), Pending::Approval(fixture::approval()));
        assert_eq!(words(vec![question.clone()]), "needs you: answer (paused)");
        assert_eq!(words(vec![approval.clone()]), "needs you: approval (paused)");
        assert_eq!(words(vec![question.clone(), approval]), "needs you: 2 things (paused)");
        let by_daemon = |pending| {
            let pause_reason = Some(PauseReason::CrashLoop);
            super::status(&AgentTask { status: Status::Paused, pause_reason, pending, ..fixture::task() })
        };
        assert_eq!(by_daemon(vec![question]).0, "needs you: answer (paused: crash loop)");
        assert_eq!(by_daemon(vec![]), ("paused: crash loop".to_owned(), NEEDS_YOU));
    }

    #[test]
    fn a_retry_hides_no_sub_task_that_needs_the_person() {
        let retry = Retry {
            attempt: 2,
            of: 12,
            kind: ModelErrorKind::Overloaded,
            reason: "p: it is overloaded".to_owned(),
            next_at: fixture::START,
        };
        let tree = Some(Box::new(Tree { live: 1, waiting: 1, ..Tree::default() }));
        let task = AgentTask { status: Status::Thinking, retry: Some(retry), tree, ..fixture::task() };
        let words = super::status_at(&task, fixture::START).0;
        assert_eq!(words, "attempt 2 of 12 (before: overloaded), 1 needs you");
    }

    #[test]
    fn an_incomplete_reply_is_shown_in_the_status() {
        let ended = |incomplete| AgentTask {
            status: Status::Completed,
            end_reason: Some(EndReason::Completed),
            incomplete,
            ..fixture::task()
        };
        let words = |incomplete| super::status(&ended(incomplete)).0;
        assert_eq!(words(None), "completed");
        assert_eq!(words(Some(Incomplete::Length)), "incomplete: cut at the length limit");
        assert_eq!(words(Some(Incomplete::Empty)), "incomplete: empty reply");
    }

    #[test]
    fn an_empty_list_shows_commands() {
        assert_snapshot!(nothing(false), @r"
        Nothing runs and nothing waits.
          abide run WHAT TO DO    give an agent something to do
          abide ps --all          tasks that have ended
        ");
        assert_snapshot!(nothing(true), @r"
        No tasks yet. Begin one:
          abide run WHAT TO DO    in the current folder
          abide demo              see how it goes, no key needed
        ");
    }
}
