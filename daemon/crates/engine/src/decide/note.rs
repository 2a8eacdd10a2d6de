//! The note that begins a phase.

use crate::{
    mode::prompt::{Note, fill, template::Value},
    state::task::Task,
};
use abide_protocol::task::Phase;

/// The note for the model that begins this phase; `None` if the task has no template for it.
pub(crate) fn of_phase(task: &Task, phase: Phase) -> Option<String> {
    let note = Note::Phase(phase);
    let template = task.head.prompts.get(note.name())?;
    // A phase that begins a step belongs to the next one.
    let step = (task.step + u32::from(task.head.mode.step_phase() == Some(phase))).to_string();
    let (files, results) = (task.files.list(), task.results.join("\n"));
    let values = [
        Value { name: "user_question", text: task.question() },
        Value { name: "files_manifest", text: &files },
        Value { name: "last_observation", text: task.mode.observation() },
        Value { name: "tool_summaries", text: &results },
        Value { name: "step", text: &step },
    ];
    Some(fill(note, template, &values))
}
