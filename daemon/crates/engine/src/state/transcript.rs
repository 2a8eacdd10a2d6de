//! A task's transcript, which is sent to its model: entries are appended, and results are elided when it
//! grows too long.

use crate::state::{
    recalled,
    task::{Call, CallStage, Counted, Deferred, Origin, Stage, Task},
};
use abide_protocol::{
    CallId, TaskId,
    record::{Compacted, CompactedStep},
    transcript::{Entry, ResultEntry, Transcript},
};
use std::iter;

/// Replaces the text of an elided result.
const ELIDED: &str = "[This output was left out to fit the model's context.]";

/// Appends an entry. While a reply or results are due the entry is deferred: a provider requires a reply
/// directly after the entries that it answers, and results directly after their reply.
pub(super) fn append(task: &mut Task, entry: Entry) {
    append_results_of(task, &[], entry);
}

/// Appends an entry that gives the results of these sub-tasks.
pub(super) fn append_results_of(task: &mut Task, sub_tasks: &[TaskId], entry: Entry) {
    // A partial reply is its model's own.
    task.has_unread |= !matches!(entry, Entry::Partial(_));
    if matches!(task.stage, Stage::Thinking { .. } | Stage::Calling(_)) {
        task.deferred.push(Deferred { entry, results_of: sub_tasks.to_vec() });
    } else {
        task.transcript.push(entry);
    }
}

/// Drops the deferred entries that give only results that code has read.
pub(super) fn drop_read_results(task: &mut Task, read: &[TaskId]) {
    let is_read = |deferred: &Deferred| {
        let results = &deferred.results_of;
        !results.is_empty() && results.iter().all(|result| read.contains(result))
    };
    task.deferred.retain(|deferred| !is_read(deferred));
    // While calls run, all that came since the last request is deferred.
    task.has_unread = !task.deferred.is_empty();
}

/// Appends the deferred entries, in the order in which they came.
pub(super) fn append_deferred(task: &mut Task) {
    task.transcript.extend(task.deferred.drain(..).map(|deferred| deferred.entry));
}

/// Appends the results of a reply's calls, all at once and in call order, then the deferred entries.
pub(super) fn append_results(task: &mut Task) {
    if let Stage::Calling(calls) = &task.stage {
        let of = |origin| calls.iter().filter(move |call| call.origin == origin).map(result);
        task.transcript.extend(of(Origin::Reply).map(Entry::Result));
        let read: Vec<_> = of(Origin::Text).map(ResultEntry::named).collect();
        if !read.is_empty() {
            task.transcript.push(Entry::Results(read));
        }
    }
    append_deferred(task);
}

fn result(call: &Call) -> ResultEntry {
    let (ok, mut text) = match &call.stage {
        CallStage::Finished { result, .. } => (result.ok, result.text()),
        // Reached only where records are missing, as in a database that was salvaged.
        _ => (false, "No result was recorded.".to_owned()),
    };
    for note in call.assessed.iter().flat_map(|assessed| &assessed.notes) {
        text.push_str("\nnote: ");
        text.push_str(note);
    }
    ResultEntry {
        call_id: call.block.id,
        provider_id: call.block.provider_id.clone(),
        tool: call.block.tool.clone(),
        ok,
        text,
        elided: false,
    }
}

/// Leaves out what the record names.
pub(super) fn compact(task: &mut Task, compacted: &Compacted) {
    elide(&mut task.transcript, &compacted.elided);
    if compacted.recalled {
        recalled::leave_out(&mut task.transcript);
    }
    if !compacted.steps.is_empty() {
        shorten(task, &compacted.steps);
    }
    task.counted = Counted::default();
}

/// Replaces whole steps by a line about each. The newest step stays: it has no end yet.
fn shorten(task: &mut Task, shortened: &[CompactedStep]) {
    let steps = &mut task.steps;
    task.transcript.rewrite(|entries| {
        for CompactedStep { step, text } in shortened {
            let Some(place) = steps.iter().position(|known| known.number == *step) else { continue };
            let (Some(start), Some(end)) =
                (steps.get(place).map(|step| step.start), steps.get(place + 1).map(|next| next.start))
            else {
                continue;
            };
            let Some(of_step) = entries.get(start..end) else { continue };
            let said_by_people = of_step.iter().filter(|entry| is_said_by_a_person(entry)).cloned();
            let remaining: Vec<Entry> = iter::once(Entry::Note(text.clone())).chain(said_by_people).collect();
            let moved = |place: usize| place - (end - start) + remaining.len();
            steps.remove(place);
            steps.iter_mut().skip(place).for_each(|later| later.start = moved(later.start));
            entries.splice(start..end, remaining);
        }
    });
}

/// Replaces the text of these calls' results with [`ELIDED`].
fn elide(transcript: &mut Transcript, calls: &[CallId]) {
    transcript.rewrite(|entries| {
        for result in entries.iter_mut().flat_map(Entry::results_mut) {
            if calls.contains(&result.call_id) {
                ELIDED.clone_into(&mut result.text);
                result.elided = true;
            }
        }
    });
}

/// A person's own words are never left out.
pub(crate) const fn is_said_by_a_person(entry: &Entry) -> bool {
    matches!(entry, Entry::User(_))
}
