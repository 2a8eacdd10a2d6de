//! What a task's model is sent: how it grows, and what is left out of it when it grows too long.

use crate::task::{Call, CallStage, Stage, Task};
use abide_protocol::{
    CallId,
    transcript::{Entry, ResultEntry, Transcript},
};

/// What an elided result is replaced by.
const ELIDED: &str = "[This output was left out to fit the model's context.]";

/// A reply follows what it answers, and results follow their reply: what is said meanwhile comes after them.
pub(super) fn say(task: &mut Task, entry: Entry) {
    if matches!(task.stage, Stage::Thinking { .. } | Stage::Calling(_)) {
        task.withheld.push(entry);
    } else {
        task.transcript.push(entry);
    }
}

/// What was said meanwhile.
pub(super) fn say_withheld(task: &mut Task) {
    task.transcript.extend(task.withheld.drain(..));
}

/// The results of a reply's calls, all at once and in call order, then what was said meanwhile.
pub(super) fn tell_results(task: &mut Task) {
    if let Stage::Calling(calls) = &task.stage {
        task.transcript.extend(calls.iter().map(result_entry));
    }
    say_withheld(task);
}

fn result_entry(call: &Call) -> Entry {
    let (ok, text) = match &call.stage {
        CallStage::Finished { result, .. } => (result.ok, result.text()),
        // Only in what an older version wrote.
        _ => (false, "No result was recorded.".to_owned()),
    };
    Entry::Result(ResultEntry {
        call_id: call.block.id,
        provider_id: call.block.provider_id.clone(),
        tool: call.block.tool.clone(),
        ok,
        text,
        elided: false,
    })
}

pub(super) fn elide(transcript: &mut Transcript, calls: &[CallId]) {
    transcript.rewrite(|entries| {
        for entry in entries {
            if let Entry::Result(result) = entry
                && calls.contains(&result.call_id)
            {
                ELIDED.clone_into(&mut result.text);
                result.elided = true;
            }
        }
    });
}
