//! Durations, counts, money, paths and states in words.

use crate::{emoji::drawable, widget::Look};
use abide_client::protocol::{
    Timestamp,
    conversation::LatestTask,
    measure,
    memory::{LEFT_BEHIND, MemoryUse},
    task::{AgentTask, PauseReason, Phase, Retry, Status},
    transcript::Usage,
};
pub use abide_client::protocol::{
    measure::{counted, duration, money, took},
    message::summary_without_tool as what,
};
use abide_host::{parked, text::visible_line};
use std::{borrow::Cow, sync::LazyLock};

/// The most characters of a message that is shown whole: what to do about it comes last.
pub const WHOLE: usize = 1000;
/// In milliseconds.
const MINUTE: u64 = 60_000;

/// `870`, `22k`, `1.4M` tokens.
#[must_use]
pub fn tokens(n: u64) -> String {
    match n {
        0..1000 => n.to_string(),
        1000..999_500 => format!("{}k", (n + 500) / 1000),
        _ => {
            let tenths = n.saturating_add(50_000) / 100_000;
            format!("{}.{}M", tenths / 10, tenths % 10)
        }
    }
}

/// `22k tokens · $0.09`; `None` if nothing was used.
#[must_use]
pub fn usage(usage: &Usage) -> Option<String> {
    let count = usage.tokens();
    if count == 0 {
        return None;
    }
    let cost = usage.cost_micros.map(|micros| format!(" · {}", money(micros))).unwrap_or_default();
    Some(format!("{} tokens{cost}", tokens(count)))
}

/// `step 5`; with a fifth of its limit left or less, `step 40 of 50`.
#[must_use]
pub fn step(task: &AgentTask) -> String {
    let (step, max) = (task.step_count, task.limits.max_steps);
    let is_near = max > 0 && u64::from(step) * 5 >= u64::from(max) * 4;
    if is_near { format!("step {step} of {max}") } else { format!("step {step}") }
}

/// An age: `now` for less than a minute, then `3 min`, `2 h`, `4 d`. Without seconds, for windows that are
/// not redrawn every second.
#[must_use]
pub fn age(at: Timestamp, now: Timestamp) -> String {
    if now.since(at) < MINUTE { "now".to_owned() } else { measure::age(at, now) }
}

/// A waiting time: `under a minute`, then as [`age`].
#[must_use]
pub fn waited(since: Timestamp, now: Timestamp) -> String {
    if now.since(since) < MINUTE { "under a minute".to_owned() } else { measure::age(since, now) }
}

/// A task's activity, or how it ended.
#[must_use]
pub fn doing(task: &AgentTask) -> String {
    if let Some(words) = task.pausing() {
        return words.to_owned();
    }
    match task.status {
        Status::Thinking if task.retry.is_some() => task.retry.as_ref().map(tries_again).unwrap_or_default(),
        // Whether it thinks or writes is known only while its conversation is open.
        Status::Running | Status::Thinking => {
            task.phase.map_or_else(|| "working".to_owned(), |phase| format!("working ({})", phase.name()))
        }
        Status::ToolExecuting => {
            let running = task.active_calls.iter().find(|c| c.started_at.is_some());
            running.map_or_else(|| "working".to_owned(), |c| format!("running {}", what(&c.tool, &c.summary)))
        }
        Status::WaitingUser => "asks you".to_owned(),
        Status::WaitingApproval => "waits for your approval".to_owned(),
        Status::WaitingChildren => {
            let live = task.tree.as_deref().map_or(task.children.len() as u64, |tree| tree.live.into());
            format!("waits for {}", counted(live, "sub-task"))
        }
        Status::Paused => parked::task(task)
            .unwrap_or_else(|| task.pause_reason.map_or("paused", PauseReason::words).to_owned()),
        Status::Completed | Status::Cancelled | Status::Error => LatestTask::from(task).words().to_owned(),
    }
}

/// These words on a task's activity. While the daemon is away, nothing is known of its work but what was last
/// seen.
#[must_use]
pub fn as_known(doing: String, task: &AgentTask, look: Look) -> String {
    match task.status {
        Status::Running | Status::Thinking | Status::ToolExecuting if !look.is_live => {
            format!("last seen: {doing}")
        }
        _ => doing,
    }
}

/// How many things wait for the person.
#[must_use]
pub fn need_you(waiting: u64) -> String {
    format!("{waiting} {}", if waiting == 1 { "needs you" } else { "need you" })
}

/// What a task does in this phase, for the line at the end of the timeline.
#[must_use]
pub const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Reason => "Reasoning",
        Phase::Act => "Acting",
        Phase::Observe => "Observing",
        Phase::Plan => "Planning",
        Phase::Clarify => "Clarifying",
        Phase::Inquire => "Inquiring",
        Phase::Split => "Splitting",
        Phase::Summarize => "Summarizing",
    }
}

/// How a conversation takes part in the memory.
#[must_use]
pub const fn memory_use(memory: MemoryUse) -> &'static str {
    match memory {
        MemoryUse::Normal => "normal",
        MemoryUse::NoRecall => "no recall",
        MemoryUse::Private => "private",
    }
}

/// What that means for the conversation.
#[must_use]
pub const fn memory_meaning(memory: MemoryUse) -> &'static str {
    match memory {
        MemoryUse::Normal => "Its tasks recall, and other conversations recall it.",
        MemoryUse::NoRecall => "Its tasks recall nothing; other conversations recall it.",
        MemoryUse::Private => "Its tasks recall; nothing of it is recalled elsewhere.",
    }
}

/// The question whether to delete a conversation, and what else happens.
#[must_use]
pub fn deletion(it: &str, is_busy: bool, is_remembered: bool) -> String {
    let stop = if is_busy { " A running task is stopped." } else { "" };
    let rules = if is_remembered {
        " What you decided for always stays remembered; Settings can forget it."
    } else {
        ""
    };
    format!("Delete {it} and all its records for good? {LEFT_BEHIND}{stop}{rules}")
}

/// The next attempt, its time, and why the one before failed.
#[must_use]
pub fn retrying(retry: &Retry, now: Timestamp) -> String {
    let reason = clause(&first_line(&retry.reason, WHOLE));
    let reason = visible_line(&reason);
    match retry.next_at.since(now) {
        0 => format!("Attempt {} of {} is under way. Before: {reason}", retry.attempt, retry.of),
        ms => format!("Attempt {} of {} in {}: {reason}", retry.attempt, retry.of, duration(ms.max(1000))),
    }
}

/// One line without seconds, so that it need not be redrawn as they pass.
fn tries_again(retry: &Retry) -> String {
    let reason = clause(&first_line(&retry.reason, 90));
    format!("attempt {} of {}: {}", retry.attempt, retry.of, visible_line(&reason))
}

/// A message of the daemon without what it says to type at a terminal, where this window has a button or a
/// field for that.
#[must_use]
pub fn here(message: &str) -> Cow<'_, str> {
    const TYPED: [&str; 4] = ["`abide key set", "`abide models`", "`abide provider", "`abide config edit`"];
    let is_here = |clause: &&str| !TYPED.iter().any(|typed| clause.contains(typed));
    if is_here(&message) {
        return message.into();
    }
    let kept: Vec<&str> = message.split("; ").filter(is_here).collect();
    if kept.is_empty() { message.into() } else { kept.join("; ").into() }
}

/// The provider whose key such a message wants.
#[must_use]
pub fn key_wanted(message: &str) -> Option<&str> {
    Some(message.split_once("`abide key set ")?.1.split_once('`')?.0)
}

/// Starts it with a capital letter.
#[must_use]
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// A sentence as it stands after a colon: without its capital letter and full stop. A name keeps its capital.
#[must_use]
pub fn clause(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let (first, rest) = sentence.split_once(' ').unwrap_or((sentence, ""));
    match first {
        "A" | "An" | "It" | "No" | "Nothing" | "The" | "There" | "This" => {
            format!("{} {rest}", first.to_lowercase())
        }
        _ => sentence.to_owned(),
    }
}

/// A conversation's title for display.
#[must_use]
pub fn title(title: &str) -> String {
    match title.trim() {
        "" => "Untitled".to_owned(),
        title => drawable(Cow::from(plain_title(title))).into_owned(),
    }
}

/// A title without marks of Markdown and with control characters made visible, for text in one face.
#[must_use]
pub fn plain_title(title: &str) -> String {
    let plain = paired_marks(title).fold(Cow::from(title), |line, mark| line.replace(mark, "").into());
    visible_line(&plain).into_owned()
}

/// The marks of Markdown that a line has in pairs. A single one stands for itself.
pub fn paired_marks(line: &str) -> impl Iterator<Item = &'static str> {
    ["**", "`"].into_iter().filter(|mark| line.matches(mark).nth(1).is_some())
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

/// A path of at most `max` characters: its end is kept.
#[must_use]
pub fn shortened(path: &str, max: usize) -> String {
    let over = path.chars().count().saturating_sub(max);
    if over == 0 {
        return path.to_owned();
    }
    let rest: String = path.chars().skip(over + 1).collect();
    // Begins with a whole name, if there is one.
    format!("…{}", rest.find('/').map_or(&*rest, |at| &rest[at..]))
}

/// A model's name, PROVIDER/MODEL, of at most about `max` characters: its provider and its end are kept,
/// which tell names apart.
#[must_use]
pub fn shortened_model(name: &str, max: usize) -> String {
    let (provider, model) = name.split_at(name.find('/').map_or(0, |slash| slash + 1));
    let room = max.saturating_sub(provider.chars().count()).max(max / 2);
    let over = model.chars().count().saturating_sub(room);
    if provider.is_empty() {
        return shortened(name, max);
    }
    if over == 0 {
        return name.to_owned();
    }
    let end: String = model.chars().skip(over + 1).collect();
    format!("{provider}…{end}")
}

/// The size of a file.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 { counted(bytes, "byte") } else { format!("{} KiB", bytes.div_ceil(1024)) }
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

/// A typed path, with the home folder for `~`: the inverse of [`path`].
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

/// A workspace, shortened; one that the daemon made is named as such.
#[must_use]
pub fn place(workspace: &str, home: Option<&str>) -> String {
    if let Some(of) = worktree(workspace) {
        format!("worktree of {of}")
    } else if is_scratch(workspace) {
        "scratch folder".to_owned()
    } else {
        path(workspace, home)
    }
}

/// Whether the daemon made this workspace for one conversation.
#[must_use]
pub fn is_made(workspace: &str) -> bool {
    is_scratch(workspace) || worktree(workspace).is_some()
}

fn is_scratch(workspace: &str) -> bool {
    workspace.rsplit_once('/').is_some_and(|(above, id)| above.ends_with("/scratch") && is_id(id))
}

/// The name of the repository of which a git worktree is one, and the folder in it.
fn worktree(workspace: &str) -> Option<&str> {
    let (_, beneath) = workspace.rsplit_once("/worktrees/")?;
    let (id, of) = beneath.split_once('/')?;
    is_id(id).then_some(of)
}

fn is_id(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_daemon_made_is_named_for_what_it_is() {
        let id = "0199aaaa-0000-7000-8000-000000000001";
        for (workspace, named, made) in [
            (format!("/d/scratch/{id}"), "scratch folder", true),
            (format!("/d/worktrees/{id}/project"), "worktree of project", true),
            (format!("/d/worktrees/{id}/project/src"), "worktree of project/src", true),
            ("/home/me/worktrees/x/y".to_owned(), "~/worktrees/x/y", false),
        ] {
            assert_eq!((place(&workspace, Some("/home/me")), is_made(&workspace)), (named.to_owned(), made));
        }
    }

    #[test]
    fn numbers_are_short() {
        let counts = [870, 1_999, 22_480, 999_499, 999_500, 1_449_999, 1_450_000];
        assert_eq!(counts.map(tokens), ["870", "2k", "22k", "999k", "1.0M", "1.4M", "1.5M"]);
    }

    #[test]
    fn a_sentence_goes_on_after_a_colon() {
        for (whole, rest) in [
            ("The key is refused.", "the key is refused"),
            ("local: it is away", "local: it is away"),
            ("OpenAI is overloaded (503).", "OpenAI is overloaded (503)"),
        ] {
            assert_eq!(clause(whole), rest);
        }
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
    fn a_long_path_loses_its_beginning() {
        assert_eq!(shortened("/a/b/c.rs", 20), "/a/b/c.rs");
        assert_eq!(shortened("/home/me/src/web/main.rs", 14), "…/web/main.rs");
        assert_eq!(shortened("abcdefghij", 4), "…hij");
    }

    #[test]
    fn a_long_model_keeps_its_provider_and_its_end() {
        assert_eq!(shortened_model("local/smollm2", 20), "local/smollm2");
        assert_eq!(shortened_model("local/a-long-name-2026-11", 14), "local/…2026-11");
        assert_eq!(shortened_model("a-provider-with-a-long-name/m-1", 14), "a-provider-with-a-long-name/m-1");
        assert_eq!(shortened_model("abcdefghij", 4), "…hij");
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
