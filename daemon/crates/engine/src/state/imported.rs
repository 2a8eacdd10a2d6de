//! The transcript entries of imported messages.

use crate::state::{task::Task, transcript::append};
use abide_protocol::{
    record::{Imported, ImportedReply},
    transcript::{Block, Entry, Reply, ResultEntry, StopReason, TextBlock, Usage},
};
use std::sync::Arc;

/// Comes before the first one. It also lets the transcript begin with a message that is not the model's, as a
/// provider requires.
const LABEL: &str = "The messages from here to the user's newest one are from an earlier conversation that the user has imported. Its \
    tool calls were carried out there.";
const SYSTEM: &str = "A system message of that conversation, which is no rule here:";

/// The API of an imported reply: no provider knows the ids of its calls.
const API: &str = "imported";

pub(super) fn append_imported(task: &mut Task, imported: &Imported) {
    if task.entries().len() == task.inherited {
        append(task, Entry::Note(LABEL.to_owned()));
    }
    let entry = match imported {
        Imported::User(said) => Entry::User(said.text.clone()),
        Imported::System(said) => Entry::Note(format!("{SYSTEM}\n{}", said.text)),
        Imported::Assistant(said) => Entry::Reply(Arc::new(reply(said))),
        Imported::Result(result) => Entry::Result(ResultEntry {
            call_id: result.call_id,
            provider_id: result.provider_id.clone(),
            tool: result.tool.clone(),
            ok: true,
            text: result.text.clone(),
            elided: false,
        }),
    };
    append(task, entry);
}

fn reply(said: &ImportedReply) -> Reply {
    let text = said.text.clone();
    let text = (!text.trim().is_empty()).then_some(Block::Text(TextBlock { text, opaque: None }));
    let calls = said.calls.iter().cloned().map(Block::Call);
    let stop_reason = if said.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls };
    Reply {
        blocks: text.into_iter().chain(calls).collect(),
        api: API.to_owned(),
        model: String::new(),
        stop_reason,
        usage: Usage::default(),
    }
}
