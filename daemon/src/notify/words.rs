//! The texts of notifications. They come from models and tools, so they are cleaned, escaped and cut.

use super::{
    board::Entry,
    item::{Asks, Decide, End, Item},
};
use abide_host::text::visible_line;
use abide_protocol::task::{EndReason, Incomplete};

/// The longest summary, in characters.
const SUMMARY: usize = 120;
/// The longest text in a body, in characters before escaping.
pub(super) const TEXT: usize = 400;
/// The longest label of a choice, in characters.
pub(super) const CHOICE: usize = 40;
/// The most conversations that a notification about several lists.
const LISTED: usize = 4;

/// Text on one line, with invisible characters escaped, cut to this many characters.
pub(super) fn short(text: &str, max: usize) -> String {
    // More than could be shown is not examined.
    let some: String = text.chars().take(4 * TEXT).collect();
    let words: Vec<&str> = some.split_whitespace().collect();
    let line = visible_line(&words.join(" ")).into_owned();
    if line.chars().count() <= max {
        return line;
    }
    let mut short: String = line.chars().take(max - 1).collect();
    short.push('…');
    short
}

/// The first line about one conversation: what happened, and where. Servers show it without markup.
pub(super) fn summary(entry: &Entry) -> String {
    let what = match (entry.waits.first(), &entry.end) {
        (Some(Item { asks: Asks::Question { .. }, .. }), _) => "Question",
        (Some(Item { asks: Asks::Approval { .. }, .. }), _) => "Approval needed",
        (None, Some(end)) => ended(end),
        (None, None) => "Nothing waits",
    };
    short(&format!("{what}: {}", entry.title), SUMMARY)
}

fn ended(end: &End) -> &'static str {
    match end.reason {
        EndReason::Completed => match end.incomplete {
            None => "Completed",
            Some(Incomplete::Length) => "Incomplete, cut at the length limit",
            Some(Incomplete::Empty) => "Incomplete, an empty reply",
            Some(Incomplete::Unfinished) => "Incomplete, broken off by the provider",
            Some(Incomplete::LostCalls) => "Incomplete, tool calls were not carried out",
        },
        EndReason::Declined => "Completed: its question was declined",
        EndReason::StepLimit => "Step limit reached",
        EndReason::TimeLimit => "Time limit reached",
        EndReason::Stopped | EndReason::Deleted => "Cancelled",
        EndReason::QuestionTimeout => "Cancelled: its question was not answered in time",
        EndReason::Budget => "Cancelled at its budget",
        EndReason::Error => "Error",
        EndReason::ParentEnded => "Cancelled: the task above it ended",
    }
}

/// The other lines about one conversation. Servers interpret markup in them.
pub(super) fn body(entry: &Entry, can_open: bool) -> String {
    let Some(first) = entry.waits.first() else {
        return escape(entry.end.as_ref().map_or("", |end| &end.words));
    };
    let of = first.sub_task.as_ref().map(|title| format!("Sub-task {title}: ")).unwrap_or_default();
    let mut lines = match &first.asks {
        Asks::Question { text, .. } => vec![short(&format!("{of}{text}"), TEXT)],
        Asks::Approval { tool, summary, decide, .. } => {
            let why = match decide {
                Decide::InAbide(why) if can_open => Some(short(&format!("To decide, open it: {why}."), TEXT)),
                Decide::InAbide(_) | Decide::Here => None,
            };
            let call = short(&format!("{of}{tool}: {summary}"), TEXT);
            std::iter::once(call).chain(why).collect()
        }
    };
    if entry.waits.len() > 1 {
        lines.push(format!("and {} more", entry.waits.len() - 1));
    }
    escape(&lines.join("\n"))
}

/// The first line about several conversations.
pub(super) fn summary_of_several(entries: &[Entry]) -> String {
    let waits = entries.iter().any(|entry| !entry.waits.is_empty());
    format!("{} tasks {}", entries.len(), if waits { "need you" } else { "have ended" })
}

/// The other lines about several conversations.
pub(super) fn body_of_several(entries: &[Entry]) -> String {
    let more = entries.len().saturating_sub(LISTED);
    let lines = entries.iter().take(LISTED).map(summary);
    let lines: Vec<String> = lines.chain((more > 0).then(|| format!("and {more} more"))).collect();
    escape(&lines.join("\n"))
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
