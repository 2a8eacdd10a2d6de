//! `plan`: each step asks the model for a plan, a JSON object with the step's calls. It works with models that cannot call tools.
//!
//! The calls are not in the provider's reply, so their results go back to the model as one note.

use super::{Action, Answer, Rules, agent, turn::Turn};
use crate::{
    mode::{
        control::{ASK_USER, FORK, SEND_UPDATE, TASK_COMPLETE, TELL, WAIT},
        reading::{self, Reading},
    },
    state::task::{Last, Task},
};
use abide_protocol::{
    JsonText,
    shape::{OutputSchema, ToolUse},
    task::Phase,
    transcript::{EffectClass, Reply, StopReason, ToolSpec},
};
use serde_json::json;
use std::collections::BTreeMap;

/// After this many replies in a row without a plan the task ends with the last one.
const TEXT_STREAK: u32 = 3;

const MALFORMED: &str = "Your last reply was not a plan with something to do. Reply with one JSON object as described: `tool_calls` with \
    the next calls, or a `question`, or `is_complete` set to true.";
const CUT: &str =
    "Your last reply was cut before its end, so its plan was not carried out. Reply with a shorter plan.";

pub(super) struct Plan;

impl Rules for Plan {
    fn next(&self, task: &Task) -> Action {
        match &task.last {
            Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think(Some(Phase::Plan)),
            Last::Results { complete: Some(summary) } => Action::Finish(Answer::of(task, summary)),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, stop: StopReason::Length | StopReason::Unfinished, .. } => {
                if task.uncalled.cut >= agent::CUT_STREAK {
                    Action::Finish(Answer::of(task, text))
                } else {
                    Action::Nudge(CUT)
                }
            }
            Last::Text { text, .. } if task.uncalled.texts >= TEXT_STREAK => {
                Action::Finish(Answer::of(task, text))
            }
            Last::Text { .. } => Action::Nudge(MALFORMED),
        }
    }

    fn tool_use(&self, _: Option<Phase>) -> ToolUse {
        ToolUse::Forbidden
    }

    fn output_schema(&self, tools: &[ToolSpec]) -> Option<OutputSchema> {
        Some(schema(tools))
    }

    fn read(&self, _: Turn, reply: &Reply) -> Reading {
        let text = reply.text();
        let is_cut = matches!(reply.stop_reason, StopReason::Length | StopReason::Unfinished);
        let plan = (!is_cut).then(|| reading::plan(&text)).flatten();
        plan.unwrap_or_else(|| reading::no_plan(&text))
    }

    fn control_tools(&self) -> &'static [&'static str] {
        &[TASK_COMPLETE, ASK_USER, SEND_UPDATE, FORK, WAIT, TELL]
    }

    fn templates(&self) -> BTreeMap<Phase, &'static str> {
        BTreeMap::from([(Phase::Plan, include_str!("prompt/agent_plan_prompt.md"))])
    }

    fn asks_first(&self) -> bool {
        true
    }

    fn declares_tools(&self) -> bool {
        false
    }
}

/// The JSON Schema of a plan with calls of these tools. [`reading::plan`] reads more leniently.
///
/// It names each tool with its parameters: a small model held to a schema that leaves them open writes names of its own.
fn schema(tools: &[ToolSpec]) -> OutputSchema {
    let call = |tool: &ToolSpec| {
        json!({
            "type": "object",
            "properties": { "tool_name": { "const": tool.name }, "parameters": tool.parameters },
            "required": ["tool_name", "parameters"]
        })
    };
    let calls: Vec<_> = offered(tools).map(call).collect();
    let tool_calls = if calls.is_empty() {
        json!({ "type": "array", "maxItems": 0 })
    } else {
        json!({ "type": "array", "items": { "anyOf": calls } })
    };
    let plan = json!({
        "type": "object",
        "properties": {
            "reasoning": { "type": "string" },
            "tool_calls": tool_calls,
            "question": { "type": ["string", "null"] },
            "is_complete": { "type": "boolean" }
        },
        "required": ["reasoning", "tool_calls", "question", "is_complete"]
    });
    OutputSchema { name: "plan".to_owned(), schema: JsonText::from(plan) }
}

/// The tools that a plan may call. Questions and the end of the task have fields of their own.
pub(crate) fn offered(tools: &[ToolSpec]) -> impl Iterator<Item = &ToolSpec> {
    let of_fields = |tool: &&ToolSpec| matches!(tool.name.as_str(), TASK_COMPLETE | ASK_USER);
    tools.iter().filter(move |tool| tool.effect != EffectClass::Control || !of_fields(tool))
}
