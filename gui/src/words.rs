//! Durations, counts, money, paths and states in words.

use abide_client::{
    protocol::{
        Timestamp,
        task::{AgentTask, EndReason, Incomplete, PauseReason, Retry, Status},
        transcript::Usage,
    },
    text::visible_line,
};
use std::sync::LazyLock;

/// `340 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`.
#[must_use]
pub fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..60 => format!("{s} s"),
        60..3600 => two(s / 60, "min", s % 60, "s"),
        3600..86400 => two(s / 3600, "h", s % 3600 / 60, "min"),
        _ => two(s / 86400, "d", s % 86400 / 3600, "h"),
    }
}

/// How long a tool took: tenths of seconds count.
#[must_use]
pub fn took(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => duration(ms),
    }
}

fn two(big: u64, big_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{big} {big_unit}") } else { format!("{big} {big_unit} {small} {small_unit}") }
}

/// How long ago, in one unit: `now`, `40 s`, `3 min`, `2 h`, `4 d`.
#[must_use]
pub fn age(at: Timestamp, now: Timestamp) -> String {
    match now.since(at) / 1000 {
        0..5 => "now".to_owned(),
        s @ 5..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s / 60),
        s @ 3600..86400 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86400),
    }
}

/// `870`, `22k`, `1.4M` tokens.
#[must_use]
pub fn tokens(n: u64) -> String {
    match n {
        0..1000 => n.to_string(),
        1000..1_000_000 => format!("{}k", n / 1000),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

/// Dollars of micro-dollars, to a hundredth of a cent where it is little.
#[must_use]
pub fn money(micros: u64) -> String {
    match micros {
        0 => "$0".to_owned(),
        1..10_000 => format!("$0.{:04}", micros / 100),
        _ => format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// `22k tokens · $0.09`; nothing if nothing was used.
#[must_use]
pub fn usage(usage: &Usage) -> Option<String> {
    let count = usage.tokens();
    if count == 0 {
        return None;
    }
    let cost = usage.cost_micros.map(|micros| format!(" · {}", money(micros))).unwrap_or_default();
    Some(format!("{} tokens{cost}", tokens(count)))
}

/// `step 5 of 50`
#[must_use]
pub fn step(task: &AgentTask) -> String {
    match task.limits.max_steps {
        0 => format!("step {}", task.step_count),
        max => format!("step {} of {max}", task.step_count),
    }
}

/// `1 step`, `3 steps`
#[must_use]
pub fn counted(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// What a task is doing right now, or how it ended.
#[must_use]
pub fn doing(task: &AgentTask) -> String {
    match task.status {
        Status::Running => "working".to_owned(),
        Status::Thinking if task.retry.is_some() => task.retry.as_ref().map(tries_again).unwrap_or_default(),
        Status::Thinking => {
            task.phase.map_or_else(|| "thinking".to_owned(), |phase| format!("thinking ({})", phase.name()))
        }
        Status::ToolExecuting => {
            let running = task.active_calls.iter().find(|c| c.started_at.is_some());
            running.map_or_else(|| "working".to_owned(), |c| format!("running {}", what(&c.tool, &c.summary)))
        }
        Status::WaitingUser => "asks you".to_owned(),
        Status::WaitingApproval => "waits for your approval".to_owned(),
        Status::WaitingChildren => {
            format!("waiting for {}", counted(task.children.len() as u64, "sub-agent"))
        }
        Status::Paused => format!("paused{}", task.pause_reason.map(paused).unwrap_or_default()),
        Status::Completed | Status::Cancelled | Status::Error => match (task.incomplete, task.end_reason) {
            (Some(Incomplete::Length), _) => "cut at the length limit".to_owned(),
            (Some(Incomplete::Empty), _) => "ended without an answer".to_owned(),
            (None, Some(reason)) => ended(reason).to_owned(),
            (None, None) => task.status.name().to_owned(),
        },
    }
}

/// One line, without the seconds: it is not drawn anew as they pass.
fn tries_again(retry: &Retry) -> String {
    let reason = first_line(&retry.reason, 90);
    format!("attempt {} of {} comes soon: {}", retry.attempt, retry.of, visible_line(&reason))
}

const fn paused(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::User => "",
        PauseReason::Budget => ": budget used up",
        PauseReason::CrashLoop => ": the daemon died on it three times",
        PauseReason::Restart => " since the restart",
    }
}

/// How a task ended.
#[must_use]
pub const fn ended(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Completed => "complete",
        EndReason::StepLimit => "stopped: step limit",
        EndReason::TimeLimit => "stopped: time limit",
        EndReason::Stopped => "stopped",
        EndReason::Deleted => "deleted",
        EndReason::QuestionTimeout => "stopped: no answer in time",
        EndReason::Budget => "stopped: budget used up",
        EndReason::Error => "failed",
    }
}

/// A call's summary without the tool's name, which most begin with.
#[must_use]
pub fn what<'a>(tool: &str, summary: &'a str) -> &'a str {
    let rest = summary.strip_prefix(tool).map(|rest| rest.trim_start_matches(':'));
    rest.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(summary)
}

/// The first line, of at most `max` characters.
#[must_use]
pub fn first_line(text: &str, max: usize) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

/// A path with `~` for the home folder.
#[must_use]
pub fn path(path: &str, home: Option<&str>) -> String {
    match home.filter(|home| !home.is_empty()).and_then(|home| path.strip_prefix(home)) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// What a person types for a path, with the home folder for `~`: the inverse of [`path`].
#[must_use]
pub fn expanded(path: &str, home: Option<&str>) -> String {
    let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => path.to_owned(),
    }
}

/// The person's own folder.
#[must_use]
pub fn home() -> Option<&'static str> {
    static HOME: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("HOME").ok());
    HOME.as_deref()
}

/// A workspace: short for people; a private scratch folder has a name that says nothing.
#[must_use]
pub fn place(workspace: &str, home: Option<&str>) -> String {
    if is_scratch(workspace) { "scratch folder".to_owned() } else { path(workspace, home) }
}

/// Whether the daemon made this workspace for one conversation.
#[must_use]
pub fn is_scratch(workspace: &str) -> bool {
    let mut parts = workspace.rsplit('/');
    let is_id = parts
        .next()
        .is_some_and(|name| name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'));
    is_id && parts.next() == Some("scratch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_short_words() {
        assert_eq!(
            [duration(340), duration(12_400), duration(93_000), duration(7_500_000)],
            ["340 ms", "12 s", "1 min 33 s", "2 h 5 min"]
        );
        assert_eq!([took(3), took(41_020), took(93_000)], ["3 ms", "41.0 s", "1 min 33 s"]);
        assert_eq!(age(Timestamp(10_000), Timestamp(5_000)), "now", "a clock may go backwards");
        assert_eq!(age(Timestamp(0), Timestamp(180_000)), "3 min");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([tokens(870), tokens(22_480), tokens(1_450_000)], ["870", "22k", "1.4M"]);
        assert_eq!(
            [money(0), money(4_200), money(91_000), money(12_345_678)],
            ["$0", "$0.0042", "$0.09", "$12.34"]
        );
    }

    #[test]
    fn a_summary_does_not_repeat_its_tool() {
        assert_eq!(what("read", "read src/main.rs"), "src/main.rs");
        assert_eq!(what("shell", "shell: cargo test"), "cargo test");
        assert_eq!(what("shell", "cargo test"), "cargo test");
        assert_eq!(what("read", "ready"), "ready");
    }

    #[test]
    fn long_and_many_lines_become_one_short_one() {
        assert_eq!(first_line("\n a\nb", 10), "a");
        assert_eq!(first_line("abcdef", 3), "abc…");
        assert_eq!(first_line("äöü", 3), "äöü");
    }

    #[test]
    fn a_path_below_home_is_short() {
        assert_eq!(path("/home/me/src", Some("/home/me")), "~/src");
        assert_eq!(path("/home/mean", Some("/home/me")), "/home/mean");
        assert_eq!(path("/srv", None), "/srv");
        assert_eq!(place("/x/data/scratch/01a20140-1587-7110-a908-0cfb7aeaf636", None), "scratch folder");
        assert_eq!(place("/home/me/scratch/work", Some("/home/me")), "~/scratch/work");
    }
}
