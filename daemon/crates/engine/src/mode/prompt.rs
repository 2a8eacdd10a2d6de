//! The system prompt and the templates of notes, both frozen in the task's first record.

mod note;
pub mod template;

pub(crate) use note::note;
pub use note::{Note, placeholders, unknown_placeholders};

use crate::mode::{control::FORK, offered, rules};
use abide_protocol::{task::Mode, transcript::ToolSpec};
use std::collections::BTreeMap;

const DEFAULT_PERSONA: &str = "You are Abide, a careful and capable assistant on the user's own computer.";
/// The built-in note of a sub-task.
pub(crate) const CHILD: &str = include_str!("prompt/agent_child_prompt.md");
/// How to work alone; a part of every mode but `chat`.
const WORK: &str = include_str!("prompt/work.md");

/// The persona's prompt (or the default), then the mode's rules. `tools` are described if the mode does not declare them.
#[must_use]
pub fn system(mode: Mode, persona: Option<&str>, workspace: &str, tools: &[ToolSpec]) -> String {
    let persona = persona.map(str::trim).filter(|p| !p.is_empty()).unwrap_or(DEFAULT_PERSONA);
    let rules = match mode {
        Mode::Chat => return persona.to_owned(),
        Mode::Agent => include_str!("prompt/agent.md"),
        Mode::Roa => include_str!("prompt/roa.md"),
        Mode::Plan => include_str!("prompt/plan.md"),
        Mode::Auto => include_str!("prompt/auto.md"),
        Mode::Tree => include_str!("prompt/tree.md"),
    };
    let tools = if mode == Mode::Plan { describe(tools) } else { String::new() };
    let values = [
        template::Value { name: "work", text: WORK.trim_end() },
        template::Value { name: "workspace", text: workspace },
        template::Value { name: "tools", text: &tools },
    ];
    // Two passes: the work rules name the workspace.
    let rules = template::fill_whole(rules.trim_end(), &values);
    format!("{persona}\n\n{}", template::fill_whole(&rules, &values[1..2]))
}

/// The built-in templates of a mode's notes: those of its phases, and that of its sub-tasks if it can start any.
#[must_use]
pub fn templates(mode: Mode) -> BTreeMap<Note, &'static str> {
    let phases = rules(mode).templates().into_iter().map(|(phase, text)| (Note::Phase(phase), text));
    let child = rules(mode).control_tools().contains(&FORK).then_some((Note::Child, CHILD));
    phases.chain(child).collect()
}

/// The built-in templates of all notes.
#[must_use]
pub fn built_in_templates() -> BTreeMap<Note, &'static str> {
    Mode::ALL.iter().flat_map(|mode| templates(*mode)).collect()
}

/// The tools that a plan may call, a line of JSON each.
fn describe(tools: &[ToolSpec]) -> String {
    let line = |tool: &ToolSpec| {
        let (name, description) = (&tool.name, &tool.description);
        serde_json::json!({ "name": name, "description": description, "parameters": tool.parameters.value() })
            .to_string()
    };
    offered(tools).map(line).collect::<Vec<_>>().join("\n")
}
