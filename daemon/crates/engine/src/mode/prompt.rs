//! The system prompt and the templates of notes, both frozen in the task's first record.

mod note;
pub mod template;

pub(crate) use note::fill;
pub use note::{Note, placeholders, unknown_placeholders};

use super::{
    control::FORK,
    rules::Tools,
    task_mode::{OF_SUB_TASKS, table},
};
use abide_protocol::{
    task::{Mode, Phase},
    transcript::ToolSpec,
};
use std::collections::BTreeMap;

const DEFAULT_PERSONA: &str = "You are Abide, a careful and capable assistant on the user's own computer.";
/// The built-in note of a sub-task.
pub(crate) const CHILD: &str = include_str!("prompt/agent_child_prompt.md");
/// How to work alone; a part of every mode but `chat`.
const WORK: &str = include_str!("prompt/work.md");

/// The persona's prompt (or the default), then the mode's rules. `tools` are described if the mode does not
/// declare them.
#[must_use]
pub fn system(mode: Mode, persona: Option<&str>, workspace: &str, tools: &[ToolSpec]) -> String {
    let persona = persona.map(str::trim).filter(|p| !p.is_empty()).unwrap_or(DEFAULT_PERSONA);
    let table = table(mode);
    let Some(rules) = table.prompt else { return persona.to_owned() };
    let tools = match table.tools {
        Tools::Described(describe) => describe(tools),
        Tools::Declared | Tools::Absent => String::new(),
    };
    let values = [
        template::Value { name: "work", text: WORK.trim_end() },
        template::Value { name: "workspace", text: workspace },
        template::Value { name: "tools", text: &tools },
    ];
    // Two passes: the work rules name the workspace.
    let rules = template::fill_whole(rules.trim_end(), &values);
    format!("{persona}\n\n{}", template::fill_whole(&rules, &values[1..2]))
}

/// The system prompt of the sub-tasks of a task in this mode; `None`: it is the task's own, or there can be
/// none.
#[must_use]
pub fn system_of_sub_tasks(mode: Mode, persona: Option<&str>, workspace: &str) -> Option<String> {
    let has_own = mode != OF_SUB_TASKS && starts_sub_tasks(mode);
    has_own.then(|| system(OF_SUB_TASKS, persona, workspace, &[]))
}

fn starts_sub_tasks(mode: Mode) -> bool {
    table(mode).control_tools.contains(&FORK)
}

/// The built-in templates of a mode's notes: those of its phases, and that of its sub-tasks if it can start
/// any.
#[must_use]
pub fn templates(mode: Mode) -> BTreeMap<Note, &'static str> {
    let of_phase = |phase: &Phase| Some((Note::Phase(*phase), (table(mode).shape)(Some(*phase)).note?));
    let child = starts_sub_tasks(mode).then_some((Note::Child, CHILD));
    Phase::ALL.iter().filter_map(of_phase).chain(child).collect()
}

/// The built-in templates of all notes.
#[must_use]
pub fn built_in_templates() -> BTreeMap<Note, &'static str> {
    Mode::ALL.iter().flat_map(|mode| templates(*mode)).collect()
}
