//! What every mode says about itself, and the values that pass between a mode and the rest of the engine.

use super::reading::Reading;
use abide_protocol::{
    JsonText,
    record::{RecordBody, ReplyRecord},
    shape::{OutputSchema, ToolUse},
    task::Phase,
    transcript::{Reply, StopReason, ToolSpec, Usage},
};
use serde_json::Value;

/// What a mode remembers of its task, with its rules. All functions are pure.
pub(crate) trait Rules {
    /// Remembers what the mode needs of a record of its task. `last`: the task's last event.
    fn fold(&mut self, _record: &RecordBody, _last: &Last) {}

    /// The task's next action. Called only while no call of a model or a tool runs and the task waits for
    /// nobody.
    fn next(&self, facts: &Facts<'_>) -> Action;

    /// The phase that began last, in a mode with phases.
    fn phase(&self) -> Option<Phase> {
        None
    }

    /// Whether a question that the phase's next reply holds is asked.
    fn may_ask(&self) -> bool {
        true
    }

    /// Whether new instructions begin the task's step again. `is_asking`: they withdraw a model call.
    fn begins_step_again(&self, is_asking: bool) -> bool {
        is_asking
    }

    /// What the agent reports of its step in this reply. It may be blank: the text of a reply in which
    /// nothing was read is in the transcript.
    fn report(&self, reply: &ReplyRecord) -> String {
        reply.text.clone().unwrap_or_default()
    }

    /// The newest observation, for the note that begins a phase.
    fn observation(&self) -> &str {
        ""
    }

    /// What the task ends with at its step limit.
    fn answer_at_limit(&self, _facts: &Facts<'_>) -> Answer {
        Answer::default()
    }

    /// The task's result for programs, beside the summary.
    fn data(&self, _end: &Ending<'_>) -> Option<JsonText> {
        None
    }
}

/// What is fixed in a mode.
pub(crate) struct Table {
    /// The rules in its system prompt; `None`: the persona is all of it.
    pub(crate) prompt: Option<&'static str>,
    pub(crate) tools: Tools,
    /// The names of its control tools.
    pub(crate) control_tools: &'static [&'static str],
    /// The shape of a model call of this phase.
    pub(crate) shape: fn(Option<Phase>) -> Shape,
    /// What the mode reads in the text of a reply of this phase.
    pub(crate) read: fn(Option<Phase>, &Reply) -> Reading,
    /// The most steps of a task, if neither the request nor the configuration says.
    pub(crate) steps: u32,
    /// A sub-task may make as many steps as its parent. Otherwise as many as is usual: a step of the parent
    /// is not one of an agent.
    pub(crate) shares_step_limit: bool,
    /// Questions are asked before the other calls of a reply run, not after them.
    pub(crate) asks_first: bool,
    /// A context that is too long is made shorter by old steps first, not by old outputs.
    pub(crate) shortens_steps_first: bool,
    /// What keeps the task from its end is a note to the model. Otherwise its `task_complete` is refused.
    pub(crate) is_told_before_it_ends: bool,
    /// It waits for its sub-tasks before it ends. Otherwise its end ends them.
    pub(crate) joins_sub_tasks: bool,
    pub(crate) recalls: Recalls,
}

impl Table {
    /// That of a mode without phases.
    pub(crate) const USUAL: Self = Self {
        prompt: None,
        tools: Tools::Declared,
        control_tools: &[],
        shape: |_| Shape::WITH_TOOLS,
        read: |_, _| Reading::NOTHING,
        steps: 50,
        shares_step_limit: false,
        asks_first: false,
        shortens_steps_first: false,
        is_told_before_it_ends: false,
        joins_sub_tasks: false,
        recalls: Recalls::AtStart,
    };
}

/// What a task is given of earlier conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recalls {
    /// The notes alone, before its first request.
    Notes,
    /// Passages, too.
    AtStart,
    /// Passages before each later step, too.
    EachStep,
}

/// How the model knows of its tools.
pub(crate) enum Tools {
    /// The request declares them to the provider.
    Declared,
    /// The system prompt describes them, in these words.
    Described(fn(&[ToolSpec]) -> String),
    /// There are none.
    Absent,
}

/// The shape of a model call.
pub(crate) struct Shape {
    /// Whether a reply may contain calls.
    pub(crate) tools: ToolUse,
    /// The schema of a reply's text, for a task with these tools.
    pub(crate) schema: Option<fn(&[ToolSpec]) -> OutputSchema>,
    /// The built-in template of the note that begins the phase.
    pub(crate) note: Option<&'static str>,
}

impl Shape {
    pub(crate) const WITH_TOOLS: Self = Self { tools: ToolUse::Allowed, schema: None, note: None };
    pub(crate) const WITHOUT_TOOLS: Self = Self { tools: ToolUse::Forbidden, ..Self::WITH_TOOLS };

    /// The same, for a phase that begins with a note of this template.
    pub(crate) const fn noted(self, template: &'static str) -> Self {
        Self { note: Some(template), ..self }
    }
}

/// What a mode is told of its task when it decides.
pub(crate) struct Facts<'t> {
    pub(crate) last: &'t Last,
    /// The text of the newest reply, as people saw it. It may be blank.
    pub(crate) shown: &'t str,
    /// The newest text of a reply or an update that is not blank.
    pub(crate) said: &'t str,
    pub(crate) tools: &'t [ToolSpec],
}

/// The last event of a task, about which its mode decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Last {
    /// The task has just begun.
    Start,
    /// A reply without calls. `output` is its number of tokens, or 0 if the provider does not report it.
    Text { text: String, stop: StopReason, output: u64 },
    /// All calls of a reply have their results; `complete` is the summary of an accepted `task_complete`.
    Results { complete: Option<String> },
    /// The mode sent the model a nudge.
    Nudged,
}

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
    /// An answer with this text. A blank text is none. It is a message unless the agent has just said the
    /// same.
    pub(crate) fn of(facts: &Facts<'_>, text: &str) -> Self {
        let text = Some(text.to_owned()).filter(|text| !text.trim().is_empty());
        let is_message = text.as_ref().is_some_and(|text| text.trim() != facts.said.trim());
        Self { text, is_message }
    }

    /// An answer with a text that people have seen. A blank text is none.
    pub(crate) fn seen(text: &str) -> Self {
        Self { text: Some(text.to_owned()).filter(|text| !text.trim().is_empty()), is_message: false }
    }

    /// An answer with the first of these texts that is not blank.
    pub(crate) fn first_of(facts: &Facts<'_>, texts: &[&str]) -> Self {
        Self::of(facts, texts.iter().find(|text| !text.trim().is_empty()).unwrap_or(&""))
    }
}

/// What is known when a task ends by itself.
pub(crate) struct Ending<'t> {
    pub(crate) answer: Option<&'t str>,
    /// What its sub-tasks have come to.
    pub(crate) sub_results: Value,
    /// That of the whole tree.
    pub(crate) usage: Usage,
}
