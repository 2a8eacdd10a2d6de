//! What a mode reads in the text of a model's reply: a control block, the text that people see, and calls.
//!
//! A reply is read once, before it is recorded, and what was read is recorded with it. A model may write anything: a field of the
//! wrong type takes its default, and a text without a block is free text.

use super::{block::Block, veil::Veil};
use abide_protocol::{
    CallId,
    record::{ControlBlock, ObserveBlock, ReasonBlock, SummarizeBlock},
    transcript::CallBlock,
};
use serde_json::Value;
use uuid::Uuid;

use crate::mode::control::{ASK_USER, FORK, TASK_COMPLETE};

/// The most calls in a plan. A longer list is no plan.
const MAX_CALLS: usize = 32;
/// The most sub-tasks that phase `split` starts.
const MAX_PARTS: usize = 4;

/// What was read in a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    pub control: Option<ControlBlock>,
    /// The text that people see; `None`: the reply's own.
    pub text: Option<String>,
    pub calls: Vec<CallBlock>,
}

/// Reads a reply of phase `reason`. If there is no text beside the block, people see its plan.
pub(crate) fn reason(text: &str) -> Reading {
    let Some(block) = Block::find(text, &["plan", "tools_to_consider", "finish"]) else {
        return Reading::default();
    };
    let read = ReasonBlock {
        plan: block.text("plan"),
        tools_to_consider: block
            .list("tools_to_consider")
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        finish: block.flag("finish").unwrap_or_default(),
    };
    let text = block.around_or(&read.plan);
    Reading { control: Some(ControlBlock::Reason(read)), text: Some(text), ..Reading::default() }
}

/// Reads a reply of phase `observe`. If there is no text beside the block, people see its observation.
pub(crate) fn observe(text: &str) -> Reading {
    let Some(block) = Block::find(text, &["observation", "should_continue", "final_answer"]) else {
        return Reading::default();
    };
    let read = ObserveBlock {
        observation: block.text("observation"),
        should_continue: block.flag("should_continue").unwrap_or(true),
        final_answer: block.text("final_answer"),
    };
    let text = block.around_or(&read.observation);
    Reading { control: Some(ControlBlock::Observe(read)), text: Some(text), ..Reading::default() }
}

/// Reads a plan, if the text holds one: its question, then its calls, then its end. People see its reasoning. A plan that asks is not complete: what it would
/// end with does not know the answer.
pub(crate) fn plan(text: &str) -> Option<Reading> {
    let block = Block::find(text, &["reasoning", "tool_calls", "question", "is_complete"])?;
    let (reasoning, question, listed) =
        (block.text("reasoning"), block.text("question"), block.list("tool_calls"));
    if listed.len() > MAX_CALLS {
        return None;
    }
    let mut calls = Vec::new();
    let asks = !question.trim().is_empty();
    if asks {
        calls.push(ask(&question));
    }
    for planned in listed {
        let name = planned.get("tool_name").and_then(Value::as_str).unwrap_or_default();
        let arguments = planned.get("parameters").map_or_else(|| "{}".to_owned(), Value::to_string);
        calls.push(call(name, arguments));
    }
    if !asks && block.flag("is_complete").unwrap_or_default() {
        let summary = if reasoning.trim().is_empty() { "Done." } else { &reasoning };
        calls.push(call(TASK_COMPLETE, serde_json::json!({ "summary": summary }).to_string()));
    }
    Some(Reading { text: Some(block.around_or(&reasoning)), calls, ..Reading::default() })
}

/// Reads a reply that holds no plan, for example one that was cut: people see its text up to where a plan begins.
pub(crate) fn no_plan(text: &str) -> Reading {
    let shown = Veil::new(true).push(text);
    Reading { text: Some(shown.trim_end().to_owned()), ..Reading::default() }
}

/// Reads a reply of phase `clarify`: what is ambiguous is asked.
pub(crate) fn clarify(text: &str) -> Reading {
    asking(text, "ambiguous")
}

/// Reads a reply of phase `inquire`: what is missing is asked.
pub(crate) fn inquire(text: &str) -> Reading {
    asking(text, "missing")
}

/// Reads a block with this flag and a question, which is asked if the flag is set.
fn asking(text: &str, flag: &str) -> Reading {
    let Some(block) = Block::find(text, &[flag, "question"]) else { return Reading::default() };
    let question = block.text("question");
    let asks = block.flag(flag).unwrap_or_default() && !question.trim().is_empty();
    let calls = asks.then(|| ask(&question)).into_iter().collect();
    Reading { text: Some(block.around_or("")), calls, ..Reading::default() }
}

/// Reads a reply of phase `split`: each part is a sub-task. Further parts than [`MAX_PARTS`] are left out.
pub(crate) fn split(text: &str) -> Reading {
    let Some(block) = Block::find(text, &["subquestions"]) else { return Reading::default() };
    let parts =
        block.list("subquestions").iter().filter_map(Value::as_str).filter(|part| !part.trim().is_empty());
    let fork = |part: &str| call(FORK, serde_json::json!({ "prompt": part }).to_string());
    let calls = parts.take(MAX_PARTS).map(fork).collect();
    Reading { text: Some(block.around_or("")), calls, ..Reading::default() }
}

/// Reads a reply of phase `summarize`. An answer that is uncertain asks, if it `may_ask`. If there is no text beside the block, people
/// see its answer.
pub(crate) fn summarize(text: &str, may_ask: bool) -> Reading {
    let Some(block) = Block::find(text, &["answer", "uncertain", "question"]) else {
        return Reading::default();
    };
    let read = SummarizeBlock {
        answer: block.text("answer"),
        uncertain: block.flag("uncertain").unwrap_or_default(),
    };
    let question = block.text("question");
    let asks = may_ask && read.uncertain && !question.trim().is_empty();
    let calls = asks.then(|| ask(&question)).into_iter().collect();
    let text = block.around_or(&read.answer);
    Reading { control: Some(ControlBlock::Summarize(read)), text: Some(text), calls }
}

fn ask(question: &str) -> CallBlock {
    call(ASK_USER, serde_json::json!({ "question": question }).to_string())
}

/// Its id is given by [`crate::Turn::read`].
fn call(tool: &str, arguments: String) -> CallBlock {
    CallBlock {
        id: CallId(Uuid::nil()),
        provider_id: String::new(),
        tool: tool.to_owned(),
        arguments,
        opaque: None,
    }
}
