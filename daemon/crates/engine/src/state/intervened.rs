//! Folds an intervention into its task.

use crate::{
    mode::rules::Last,
    state::{
        task::{Repeats, Stage, Task},
        transcript::{append, append_deferred},
    },
};
use abide_protocol::{
    Timestamp,
    record::{Intervened, Intervener, InterventionKind},
    transcript::Entry,
};

/// A person's own words are a message of theirs; those of another task are a note.
pub(super) fn intervened(task: &mut Task, at: Timestamp, intervened: &Intervened) {
    if intervened.kind == InterventionKind::Delete {
        return;
    }
    if let Some(content) = &intervened.content {
        modify(task, at, content);
    }
    let entry = match (&intervened.by, &intervened.content) {
        (Intervener::Task(from), _) => {
            Entry::Note(format!("A message from task {}: {}", from.short(), intervened.comment))
        }
        (Intervener::Person(_), Some(content)) => {
            Entry::User(format!("New instructions, which take the place of the earlier ones:\n{content}"))
        }
        (Intervener::Person(_), None) => Entry::User(intervened.comment.clone()),
    };
    append(task, entry);
}

/// Withdraws the model call, if one is under way or awaited. A step that has come to nothing is not counted.
fn modify(task: &mut Task, at: Timestamp, content: &str) {
    let is_asking = matches!(task.stage, Stage::Thinking { .. } | Stage::Backoff { .. });
    if task.mode.begins_step_again(is_asking) {
        task.step = task.step.saturating_sub(1);
        task.steps.pop();
    }
    if is_asking {
        task.usage.model_calls += u64::from(matches!(task.stage, Stage::Thinking { .. }));
        task.stage = Stage::Idle;
        task.idle_since = at;
        append_deferred(task);
    }
    if matches!(task.stage, Stage::Idle) {
        task.last = Last::Start;
    }
    task.results.clear();
    task.recalled_before = 0;
    task.repeats = Repeats::default();
    task.instructions = Some(content.to_owned());
}
