//! Modes: how a task decides what to do next. Adding one is one file here and a line in [`rules`].

mod agent;
mod auto;
mod block;
mod chat;
pub mod control;
mod plan;
pub mod prompt;
pub(crate) mod reading;
mod roa;
mod tree;
pub(crate) mod turn;
pub(crate) mod veil;

pub(crate) use plan::offered;

use crate::{
    mode::reading::Reading,
    state::{history::History, task::Task},
};
use abide_protocol::{
    JsonText,
    shape::{OutputSchema, ToolUse},
    task::{Mode, Phase},
    transcript::{Reply, ToolSpec},
};
use std::collections::BTreeMap;

/// What a mode wants next. [`crate::advance()`] turns it into records and applies the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// A model call; in a mode with phases it begins one.
    Think(Option<Phase>),
    /// A further model call of this phase, which goes on.
    GoOn(Phase),
    /// As [`Self::Think`], once all sub-tasks have ended.
    Join(Phase),
    /// A phase without a model call.
    Skip(Phase),
    /// Send the model a note, then decide again.
    Nudge(&'static str),
    /// The task is done.
    Finish(Answer),
    /// The task ends because a person declined to answer.
    Decline,
    /// The model declined to answer.
    Refused,
}

/// What a task ends with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The task's summary.
    pub(crate) text: Option<String>,
    /// The text also becomes a message: nobody has seen it yet.
    pub(crate) is_message: bool,
}

impl Answer {
    /// The answer of this task with this text. A blank text is none. It is a message unless the agent has just said the same.
    fn of(task: &Task, text: &str) -> Self {
        let text = Some(text.to_owned()).filter(|text| !text.trim().is_empty());
        let is_message = text.as_ref().is_some_and(|text| text.trim() != task.said.trim());
        Self { text, is_message }
    }

    /// An answer with a text that people have seen. A blank text is none.
    fn said(text: &str) -> Self {
        Self { text: Some(text.to_owned()).filter(|text| !text.trim().is_empty()), is_message: false }
    }

    /// The answer of this task with the first of these texts that is not blank.
    fn first_of(task: &Task, texts: &[&str]) -> Self {
        Self::of(task, texts.iter().find(|text| !text.trim().is_empty()).unwrap_or(&""))
    }
}

/// The rules of a mode. All functions are pure.
pub(crate) trait Rules {
    /// The task's next action. Called only while no call of a model or a tool runs and the task waits for nobody.
    fn next(&self, task: &Task) -> Action;

    /// Whether a question that the phase's next reply holds is asked.
    fn may_ask(&self, _task: &Task) -> bool {
        true
    }

    /// Whether a reply of this phase may contain calls.
    fn tool_use(&self, _phase: Option<Phase>) -> ToolUse {
        ToolUse::Allowed
    }

    /// The schema of a reply's text, for a task with these tools.
    fn output_schema(&self, _tools: &[ToolSpec]) -> Option<OutputSchema> {
        None
    }

    /// What the mode reads in a reply's text.
    fn read(&self, _turn: turn::Turn, _reply: &Reply) -> Reading {
        Reading::default()
    }

    /// What the task ends with at its step limit.
    fn answer_at_limit(&self, _task: &Task) -> Answer {
        Answer::default()
    }

    /// Names of its control tools.
    fn control_tools(&self) -> &'static [&'static str];

    /// The built-in templates of the phases' notes, by phase.
    fn templates(&self) -> BTreeMap<Phase, &'static str> {
        BTreeMap::new()
    }

    /// The most steps of a task, if neither the request nor the configuration says.
    fn default_steps(&self) -> u32 {
        50
    }

    /// Questions are asked before the other calls of a reply run, not after them.
    fn asks_first(&self) -> bool {
        false
    }

    /// A context that is too long is made shorter by old steps first, not by old outputs.
    fn shortens_steps_first(&self) -> bool {
        false
    }

    /// What keeps the task from its end is a note to the model. Otherwise its `task_complete` is refused.
    fn is_told_before_it_ends(&self) -> bool {
        false
    }

    /// It waits for its sub-tasks before it ends. Otherwise its end ends them.
    fn joins_sub_tasks(&self) -> bool {
        false
    }

    /// Its result for programs, beside the summary.
    fn data(&self, _history: &History, _task: &Task, _answer: Option<&str>) -> Option<JsonText> {
        None
    }

    /// The tools are declared to the provider. Otherwise the system prompt describes them.
    fn declares_tools(&self) -> bool {
        true
    }
}

/// The next action, by the rules of the task's mode.
pub(crate) fn next(task: &Task) -> Action {
    rules(task.mode).next(task)
}

/// The rules of this mode.
pub(crate) fn rules(mode: Mode) -> &'static dyn Rules {
    match mode {
        Mode::Chat => &chat::Chat,
        Mode::Agent => &agent::Agent,
        Mode::Roa => &roa::Roa,
        Mode::Plan => &plan::Plan,
        Mode::Auto => &auto::Auto,
        Mode::Tree => &tree::Tree,
    }
}

/// The most steps of a task in this mode, if neither the request nor the configuration says.
#[must_use]
pub fn default_steps(mode: Mode) -> u32 {
    rules(mode).default_steps()
}

/// The tools are declared to the provider in this mode. Otherwise the system prompt describes them.
#[must_use]
pub fn declares_tools(mode: Mode) -> bool {
    rules(mode).declares_tools()
}
