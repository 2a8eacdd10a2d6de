//! What is left out of a transcript that has grown too long for its model. Nothing is removed from the
//! records.
//!
//! Recalled passages are dropped first. Then there are two ways: the outputs of tools are elided, and whole
//! steps are replaced by a line about each. The mode says which comes first. The newest steps stay whole.

use crate::state::{
    recalled::is_recalled,
    scratchpad::one_line,
    task::{Step, Task},
    transcript::is_said_by_a_person,
};
use abide_protocol::{
    measure::counted,
    record::{Compacted, CompactedStep, Notice, NoticeKind},
    transcript::{Block, Entry, ResultEntry, Usage},
};

/// Steps at the end that stay whole.
const WHOLE_STEPS: usize = 3;

/// A compaction changes the start of the next request, so the provider reads all of it anew. Before a step it
/// has to free at least this share of the transcript: one byte in so many.
const WORTHWHILE: usize = 8;

/// About so many bytes of text make a token. Used for what no provider has counted yet.
const BYTES_PER_TOKEN: usize = 4;
/// A token has at most about so many bytes of text: a provider that counts fewer tokens has not counted
/// everything.
const MAX_BYTES_PER_TOKEN: usize = 8;
/// A count is wrong beyond doubt if it would give a token so many times as many bytes.
const BEYOND_DOUBT: u64 = 2;
/// No model reads fewer tokens than that. A smaller count is of a server that leaves out what it has cached.
const SMALLEST_WINDOW: u64 = 1_000;

/// What can be left out, and the bytes that it frees.
struct Saving {
    compacted: Compacted,
    bytes: usize,
}

/// What is left out before a new step, if the context has reached the task's limit.
pub(crate) fn before_step(task: &Task) -> Option<Compacted> {
    let limit = task.head.compact_at_tokens;
    if limit == 0 || context_tokens(task) < limit {
        return None;
    }
    let newest = task.steps.get(task.steps.len().saturating_sub(WHOLE_STEPS));
    let old = task.entries().get(..newest.map_or(task.entries().len(), |step| step.start));
    let outputs = outputs(outputs_in_full(old.unwrap_or_default()));
    let transcript_bytes = bytes(task.entries());
    let is_worthwhile = |saving: &Saving| saving.bytes.saturating_mul(WORTHWHILE) >= transcript_bytes;
    in_order(task, outputs).find(is_worthwhile).map(|saving| saving.compacted)
}

/// What is left out after a request was too long for the model: what was recalled, half of the outputs, or all
/// old steps.
/// `None`: nothing is left that could be.
pub(crate) fn after_overflow(task: &Task) -> Option<Compacted> {
    let mut oldest: Vec<&ResultEntry> = outputs_in_full(task.entries()).collect();
    oldest.truncate(oldest.len().div_ceil(2));
    in_order(task, outputs(oldest.into_iter())).next().map(|saving| saving.compacted)
}

/// What was recalled, and the two ways in the order of the mode.
fn in_order(task: &Task, outputs: Option<Saving>) -> impl Iterator<Item = Saving> {
    let steps = steps(task);
    let both = if task.table().shortens_steps_first { [steps, outputs] } else { [outputs, steps] };
    recalled(task).into_iter().chain(both.into_iter().flatten())
}

fn recalled(task: &Task) -> Option<Saving> {
    let bytes = task.entries().iter().filter(|entry| is_recalled(entry)).map(size).sum();
    (bytes > 0).then(|| Saving { compacted: Compacted { recalled: true, ..Compacted::default() }, bytes })
}

fn outputs<'t>(old: impl Iterator<Item = &'t ResultEntry>) -> Option<Saving> {
    let (elided, sizes): (Vec<_>, Vec<usize>) = old.map(|result| (result.call_id, result.text.len())).unzip();
    let compacted = Compacted { elided, ..Compacted::default() };
    (!compacted.elided.is_empty()).then(|| Saving { compacted, bytes: sizes.iter().sum() })
}

/// All steps but the newest.
fn steps(task: &Task) -> Option<Saving> {
    let mut saving = Saving { compacted: Compacted::default(), bytes: 0 };
    let ends = task.steps.iter().skip(1).map(|next| next.start);
    for (step, end) in task.steps.iter().zip(ends).take(task.steps.len().saturating_sub(WHOLE_STEPS)) {
        let entries = task.entries().get(step.start..end).unwrap_or_default();
        let text = line(step, entries);
        let left_out = entries.iter().filter(|entry| !is_said_by_a_person(entry));
        saving.bytes += left_out.map(size).sum::<usize>().saturating_sub(text.len());
        saving.compacted.steps.push(CompactedStep { step: step.number, text });
    }
    (!saving.compacted.steps.is_empty()).then_some(saving)
}

/// The line about a step: its report, else the text of its newest reply that has one, else the tools that
/// were called in it.
fn line(step: &Step, entries: &[Entry]) -> String {
    let said = || entries.iter().rev().find_map(text);
    if let Some(report) = Some(step.report.clone()).filter(|report| !report.is_empty()).or_else(said) {
        return format!("Step {}: {report}", step.number);
    }
    let mut tools: Vec<&str> =
        entries.iter().flat_map(Entry::results).map(|result| result.tool.as_str()).collect();
    tools.dedup();
    match tools.as_slice() {
        [] => format!("Step {}: nothing was said.", step.number),
        tools => format!("Step {}: called {}.", step.number, tools.join(", ")),
    }
}

/// A reply's text on one line, unless it is blank.
fn text(entry: &Entry) -> Option<String> {
    let Entry::Reply(reply) = entry else { return None };
    Some(one_line(&reply.text())).filter(|text| !text.is_empty())
}

fn outputs_in_full(entries: &[Entry]) -> impl Iterator<Item = &ResultEntry> {
    entries.iter().flat_map(Entry::results).filter(|result| !result.elided)
}

/// The tokens of the next request: those that the provider counted for the newest reply, and what has come
/// since; but not fewer than its text has. (Some servers count only what they have not cut, or do not count
/// what they have cached.)
fn context_tokens(task: &Task) -> u64 {
    let (before, since) = task.entries().split_at(task.counted.entries.min(task.entries().len()));
    let (before, since) = (bytes(before), bytes(since));
    let by_count = task.counted.tokens.saturating_add((since / BYTES_PER_TOKEN) as u64);
    by_count.max(((before + since) / MAX_BYTES_PER_TOKEN) as u64)
}

/// The bytes of the entries' text.
#[must_use]
pub fn bytes(entries: &[Entry]) -> usize {
    entries.iter().map(size).sum()
}

/// Whether a server must have cut a request with so many bytes of text, by its usage.
#[must_use]
pub const fn is_cut(bytes: usize, usage: &Usage) -> bool {
    let counted = requested(usage);
    counted >= SMALLEST_WINDOW && counted.saturating_mul(BEYOND_DOUBT) < (bytes / MAX_BYTES_PER_TOKEN) as u64
}

const fn requested(usage: &Usage) -> u64 {
    usage.tokens().saturating_sub(usage.output)
}

/// The notice about it, for a person.
pub(crate) fn cut_notice(task: &Task, usage: &Usage, window: Option<&str>) -> Notice {
    let size = bytes(task.entries()) / 1024;
    let advice = window.unwrap_or(
        "Give the server a larger context window (for Ollama: `num_ctx`, or OLLAMA_CONTEXT_LENGTH in its environment), or set \
         `compact_at_tokens` in [task] to what it can read.",
    );
    let text = format!(
        "The model's server counted {} for a request of {size} KiB: it has probably read only a part of the conversation, without a \
         word. {advice}",
        counted(requested(usage), "token")
    );
    Notice { about: NoticeKind::ContextCut, text }
}

/// The bytes of an entry's text.
fn size(entry: &Entry) -> usize {
    match entry {
        Entry::User(text) | Entry::Note(text) | Entry::Partial(text) => text.len(),
        Entry::Reply(reply) => reply.blocks.iter().map(block_size).sum(),
        Entry::Result(_) | Entry::Results(_) => entry.results().iter().map(|result| result.text.len()).sum(),
    }
}

fn block_size(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.text.len(),
        Block::Reasoning(reasoning) => reasoning.text.len(),
        Block::Call(call) => call.tool.len() + call.arguments.len(),
    }
}
