//! The note for the model that begins a phase: the phase's template with the task's values.

use super::template::{self, Value};
use crate::task::Task;
use abide_protocol::task::Phase;

/// The names that a phase's template may use in braces. Others stay as they are.
#[must_use]
pub const fn placeholders(phase: Phase) -> &'static [&'static str] {
    match phase {
        Phase::Reason => &["user_question", "files_manifest", "last_observation"],
        Phase::Act => &["user_question", "files_manifest", "step"],
        Phase::Observe => &["user_question", "tool_summaries", "step"],
        Phase::Plan => &["user_question", "files_manifest", "step"],
    }
}

/// The note that begins this phase; `None` if the task has no template for it.
pub(crate) fn note(task: &Task, phase: Phase) -> Option<String> {
    let template = task.head.prompts.get(phase.name())?;
    // A phase that begins a step belongs to the next one.
    let step = (task.step + u32::from(phase.begins_step())).to_string();
    let (files, results) = (task.files.list(), task.pass.results.join("\n"));
    let values = [
        Value { name: "user_question", text: task.question() },
        Value { name: "files_manifest", text: &files },
        Value { name: "last_observation", text: &task.pass.observe.observation },
        Value { name: "tool_summaries", text: &results },
        Value { name: "step", text: &step },
    ];
    let values: Vec<Value<'_>> =
        values.into_iter().filter(|value| placeholders(phase).contains(&value.name)).collect();
    Some(template::fill(template, &values))
}

/// The names in braces in this template that are no placeholders of its phase, each once.
#[must_use]
pub fn unknown_placeholders(phase: Phase, template: &str) -> Vec<&str> {
    let mut unknown: Vec<&str> = Vec::new();
    for part in template.split('{').skip(1) {
        let name = part.split('}').next().filter(|name| name.len() < part.len()).unwrap_or_default();
        // JSON in braces is no name.
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if is_name && !placeholders(phase).contains(&name) && !unknown.contains(&name) {
            unknown.push(name);
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::built_in_templates;

    #[test]
    fn the_built_in_templates_use_placeholders_of_their_phase_only() {
        let all = built_in_templates();
        assert_eq!(all.len(), 4, "every phase has one");
        for (phase, template) in all {
            assert!(unknown_placeholders(phase, template).is_empty(), "{phase:?}");
            assert!(template.split_whitespace().count() <= 120, "{phase:?} is long, and sent in every step");
        }
    }

    #[test]
    fn unknown_names_are_found_and_json_is_none() {
        let template = r#"{step} {steps} {tool_summaries} {"plan": "{x y}"} {steps} {Big} {} {open"#;
        assert_eq!(unknown_placeholders(Phase::Observe, template), ["steps"]);
        assert_eq!(unknown_placeholders(Phase::Reason, template), ["step", "steps", "tool_summaries"]);
    }
}
