//! Notes for the model that have a template: those that begin a phase, and the one that follows a sub-task's
//! request.

use super::template::{self, Value};
use abide_protocol::task::Phase;

/// A note with a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// It begins this phase.
    Phase(Phase),
    /// It says to a sub-task what it is, after its request.
    Child,
}

impl Note {
    /// The template's name in the task's first record, and in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phase(phase) => phase.name(),
            Self::Child => "child",
        }
    }
}

/// The names that a note's template may use in braces. Others stay as they are.
#[must_use]
pub const fn placeholders(note: Note) -> &'static [&'static str] {
    let Note::Phase(phase) = note else { return &[] };
    match phase {
        Phase::Reason => &["user_question", "files_manifest", "last_observation"],
        Phase::Act => &["user_question", "files_manifest", "step"],
        Phase::Observe => &["user_question", "tool_summaries", "step"],
        Phase::Plan => &["user_question", "files_manifest", "step"],
        Phase::Clarify | Phase::Inquire | Phase::Split | Phase::Summarize => {
            &["user_question", "files_manifest"]
        }
    }
}

/// The note of this template, with those of the values that it may use.
pub(crate) fn fill(note: Note, template: &str, values: &[Value<'_>]) -> String {
    let may_use = |value: &&Value<'_>| placeholders(note).contains(&value.name);
    let values: Vec<Value<'_>> = values.iter().filter(may_use).copied().collect();
    template::fill(template, &values)
}

/// The names in braces in this template that are no placeholders of its note, each once.
#[must_use]
pub fn unknown_placeholders(note: Note, template: &str) -> Vec<&str> {
    let mut unknown: Vec<&str> = Vec::new();
    for part in template.split('{').skip(1) {
        let name = part.split('}').next().filter(|name| name.len() < part.len()).unwrap_or_default();
        // JSON in braces is no name.
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if is_name && !placeholders(note).contains(&name) && !unknown.contains(&name) {
            unknown.push(name);
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::prompt::built_in_templates;

    #[test]
    fn the_built_in_templates_use_placeholders_of_their_note_only() {
        let all = built_in_templates();
        assert_eq!(all.len(), Phase::ALL.len() + 1, "every phase has one, and a sub-task");
        for (note, template) in all {
            assert!(unknown_placeholders(note, template).is_empty(), "{note:?}");
            assert!(template.split_whitespace().count() <= 120, "{note:?} is long, and sent in every step");
        }
    }

    #[test]
    fn unknown_names_are_found_and_json_is_none() {
        let template = r#"{step} {steps} {tool_summaries} {"plan": "{x y}"} {steps} {Big} {} {open"#;
        assert_eq!(unknown_placeholders(Note::Phase(Phase::Observe), template), ["steps"]);
        let of_reason = unknown_placeholders(Note::Phase(Phase::Reason), template);
        assert_eq!(of_reason, ["step", "steps", "tool_summaries"]);
    }
}
