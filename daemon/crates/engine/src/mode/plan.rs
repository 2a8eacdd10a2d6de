//! `plan`: each step asks the model for a plan, a JSON object with the step's calls. It works with models
//! that cannot call tools.
//!
//! The calls are not in the provider's reply, so their results go back to the model as one note.

use super::{
    block::{Block, JSON_FENCE},
    control::{ASK_USER, FORK, SEND_UPDATE, TASK_COMPLETE, TELL, WAIT},
    progress::{CUT_STREAK, Progress},
    prompt::{self, Note, template},
    reading::{Reading, ask, call},
    rules::{Action, Answer, Facts, Last, Recalls, Rules, Shape, Table, Tools},
};
use abide_protocol::{
    JsonText,
    record::RecordBody,
    shape::{OutputSchema, RequestShape, ToolUse},
    task::{Mode, Phase},
    transcript::{EffectClass, Entry, Reply, StopReason, ToolSpec, Transcript},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most calls in a plan. A longer list is no plan.
const MAX_CALLS: usize = 32;

/// After this many replies in a row without a plan the task ends with the last one.
const TEXT_STREAK: u32 = 3;

/// The note that begins each step.
const NOTE: &str = include_str!("prompt/agent_plan_prompt.md");

const MALFORMED: &str = "Your last reply was not a plan with something to do. Reply with one JSON object as described: `tool_calls` with \
    the next calls, or a `question`, or `is_complete` set to true.";
const CUT: &str =
    "Your last reply was cut before its end, so its plan was not carried out. Reply with a shorter plan.";

pub(super) const TABLE: Table = Table {
    prompt: Some(include_str!("prompt/plan.md")),
    tools: Tools::Described(describe),
    control_tools: &[TASK_COMPLETE, ASK_USER, SEND_UPDATE, FORK, WAIT, TELL],
    shape,
    read,
    asks_first: true,
    recalls: Recalls::EachStep,
    ..Table::USUAL
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    progress: Progress,
}

impl Rules for Plan {
    fn fold(&mut self, record: &RecordBody, _: &Last) {
        self.progress.fold(record);
        if matches!(record, RecordBody::Intervened(intervened) if intervened.content.is_some()) {
            self.progress.phase = None;
        }
    }

    fn next(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Start | Last::Nudged | Last::Results { complete: None } => Action::Think(Some(Phase::Plan)),
            Last::Results { complete: Some(summary) } => Action::Finish(Answer::of(facts, summary)),
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            Last::Text { text, stop: StopReason::Length | StopReason::Unfinished, .. } => {
                if self.progress.cut >= CUT_STREAK {
                    Action::Finish(Answer::of(facts, text))
                } else {
                    Action::Nudge(CUT)
                }
            }
            Last::Text { text, .. } if self.progress.texts >= TEXT_STREAK => {
                Action::Finish(Answer::of(facts, text))
            }
            Last::Text { .. } => Action::Nudge(MALFORMED),
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.progress.phase
    }
}

fn shape(phase: Option<Phase>) -> Shape {
    let shape = Shape { schema: Some(schema), ..Shape::WITHOUT_TOOLS };
    match phase {
        Some(Phase::Plan) => shape.noted(NOTE),
        _ => shape,
    }
}

/// A plan, in the form in which a model writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentPlan {
    pub reasoning: String,
    pub tool_calls: Vec<PlannedCall>,
    pub question: Option<String>,
    /// A plan that asks is not complete: what it would end with does not know the answer.
    pub is_complete: bool,
}

/// A call in a plan. It may be of a tool that there is not, or not fit its tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedCall {
    pub tool_name: String,
    pub parameters: Value,
}

impl AgentPlan {
    /// Asks for the first plan of a task with this request and these tools: the system prompt, the entries
    /// and the shape of the model's request.
    #[must_use]
    pub fn ask(request: &str, workspace: &str, tools: &[ToolSpec]) -> (String, Transcript, RequestShape) {
        let step = template::Value { name: "step", text: "1" };
        let mut entries = Transcript::default();
        entries.push(Entry::User(request.to_owned()));
        entries.push(Entry::Note(prompt::fill(Note::Phase(Phase::Plan), NOTE, &[step])));
        let shape = RequestShape { tools: ToolUse::Forbidden, output_schema: Some(Arc::new(schema(tools))) };
        (prompt::system(Mode::Plan, None, workspace, tools), entries, shape)
    }

    /// The plan in a reply, if it holds one and is not cut.
    #[must_use]
    pub fn read(reply: &Reply) -> Option<Self> {
        Some(find(reply)?.0)
    }

    fn of(block: &Block) -> Option<Self> {
        let listed = block.list("tool_calls");
        let planned = |planned: &Value| PlannedCall {
            tool_name: planned.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            parameters: planned.get("parameters").cloned().unwrap_or_else(|| Map::new().into()),
        };
        let question = Some(block.text("question")).filter(|question| !question.trim().is_empty());
        (listed.len() <= MAX_CALLS).then(|| Self {
            reasoning: block.text("reasoning"),
            tool_calls: listed.iter().map(planned).collect(),
            is_complete: question.is_none() && block.flag("is_complete").unwrap_or_default(),
            question,
        })
    }
}

fn find(reply: &Reply) -> Option<(AgentPlan, Block)> {
    if matches!(reply.stop_reason, StopReason::Length | StopReason::Unfinished) {
        return None;
    }
    let block = Block::find(&reply.text(), &["reasoning", "tool_calls", "question", "is_complete"])?;
    Some((AgentPlan::of(&block)?, block))
}

fn read(_: Option<Phase>, reply: &Reply) -> Reading {
    match find(reply) {
        Some((plan, block)) => read_plan(plan, &block),
        None => read_no_plan(&reply.text()),
    }
}

/// A plan's question, then its calls, then its end. People see its reasoning.
fn read_plan(plan: AgentPlan, block: &Block) -> Reading {
    let AgentPlan { reasoning, tool_calls, question, is_complete } = plan;
    let planned = tool_calls.iter().map(|planned| call(&planned.tool_name, planned.parameters.to_string()));
    let mut calls: Vec<_> = question.as_deref().map(ask).into_iter().chain(planned).collect();
    if is_complete {
        let summary = if reasoning.trim().is_empty() { "Done." } else { &reasoning };
        calls.push(call(TASK_COMPLETE, json!({ "summary": summary }).to_string()));
    }
    Reading { text: Some(block.around_or(&reasoning)), calls, ..Reading::default() }
}

/// Reads a reply that holds no plan, for example one that was cut: people see its text up to where a plan
/// begins, at the start of a line.
fn read_no_plan(text: &str) -> Reading {
    let begins = |line: &str| {
        let line = line.trim_start();
        // The text may end within the fence.
        let is_fence = line.starts_with(JSON_FENCE) || !line.is_empty() && JSON_FENCE.starts_with(line);
        is_fence || line.starts_with('{')
    };
    let shown: String = text.split_inclusive('\n').take_while(|line| !begins(line)).collect();
    Reading { text: Some(shown.trim_end().to_owned()), ..Reading::default() }
}

/// The JSON Schema of a plan with calls of these tools. [`AgentPlan::read`] reads more leniently.
///
/// It names each tool with its parameters: a small model held to a schema that leaves them open writes names
/// of its own.
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
fn offered(tools: &[ToolSpec]) -> impl Iterator<Item = &ToolSpec> {
    let of_fields = |tool: &&ToolSpec| matches!(tool.name.as_str(), TASK_COMPLETE | ASK_USER);
    tools.iter().filter(move |tool| tool.effect != EffectClass::Control || !of_fields(tool))
}

/// The tools that a plan may call, a line of JSON each.
fn describe(tools: &[ToolSpec]) -> String {
    let line = |tool: &ToolSpec| {
        let (name, description) = (&tool.name, &tool.description);
        json!({ "name": name, "description": description, "parameters": tool.parameters.value() }).to_string()
    };
    offered(tools).map(line).collect::<Vec<_>>().join("\n")
}
