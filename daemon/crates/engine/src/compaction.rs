//! What is left out of a transcript that has grown too long for its model. Nothing is removed from the records.
//!
//! There are two ways: the outputs of tools are elided, and whole steps are replaced by a line about each. The mode says which comes
//! first. The newest steps stay whole.

use crate::{
    mode::rules,
    scratchpad::one_line,
    task::{Step, Task},
};
use abide_protocol::{
    record::{Compacted, CompactedStep},
    transcript::{Block, Entry, ResultEntry},
};

/// Steps at the end that stay whole.
const WHOLE_STEPS: usize = 3;

/// A compaction changes the start of the next request, so the provider reads all of it anew. Before a step it has to free at least
/// this share of the transcript: one byte in so many.
const WORTHWHILE: usize = 8;

/// About so many bytes of text make a token. Used for what no provider has counted yet.
const BYTES_PER_TOKEN: usize = 4;

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
    let outputs = outputs(whole_outputs(old.unwrap_or_default()));
    let whole = task.entries().iter().map(size).sum::<usize>();
    let is_worthwhile = |saving: &Saving| saving.bytes.saturating_mul(WORTHWHILE) >= whole;
    in_order(task, outputs).find(is_worthwhile).map(|saving| saving.compacted)
}

/// What is left out after a request was too long for the model: half of the outputs, or all old steps. `None`: nothing is left that
/// could be.
pub(crate) fn after_overflow(task: &Task) -> Option<Compacted> {
    let mut oldest: Vec<&ResultEntry> = whole_outputs(task.entries()).collect();
    oldest.truncate(oldest.len().div_ceil(2));
    in_order(task, outputs(oldest.into_iter())).next().map(|saving| saving.compacted)
}

/// The two ways, in the order of the mode.
fn in_order(task: &Task, outputs: Option<Saving>) -> impl Iterator<Item = Saving> {
    let steps = steps(task);
    let both = if rules(task.mode).shortens_steps_first() { [steps, outputs] } else { [outputs, steps] };
    both.into_iter().flatten()
}

fn outputs<'t>(old: impl Iterator<Item = &'t ResultEntry>) -> Option<Saving> {
    let (elided, sizes): (Vec<_>, Vec<usize>) = old.map(|result| (result.call_id, result.text.len())).unzip();
    let compacted = Compacted { elided, steps: Vec::new() };
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

/// The line about a step: its report, else the text of its newest reply that has one, else the tools that were called in it.
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

/// A person's own words are never left out.
pub(crate) const fn is_said_by_a_person(entry: &Entry) -> bool {
    matches!(entry, Entry::User(_))
}

fn whole_outputs(entries: &[Entry]) -> impl Iterator<Item = &ResultEntry> {
    entries.iter().flat_map(Entry::results).filter(|result| !result.elided)
}

/// The tokens of the next request: those that the provider counted for the newest reply, and what has come since.
fn context_tokens(task: &Task) -> u64 {
    let since = task.entries().get(task.counted.entries..).unwrap_or_default();
    let bytes: usize = since.iter().map(size).sum();
    task.counted.tokens.saturating_add((bytes / BYTES_PER_TOKEN) as u64)
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
