//! `tree`: asks until the request is clear, splits it among sub-tasks, works beside them, waits for them, and sums up.
//!
//! The phases in their order: clarify, inquire, split, act, summarize. Only act has tools, and only act begins steps. What the other
//! phases decide is read in their replies as calls: a question, or the forks of the sub-tasks. A reply without a block decides nothing.

use super::{
    Action, Answer, Rules,
    agent::{self, AfterText},
    turn::Turn,
};
use crate::{
    decide::children,
    mode::reading::{self, Reading},
    state::{
        history::History,
        task::{Asked, Last, Response, Task},
    },
};
use abide_protocol::{
    JsonText,
    shape::ToolUse,
    task::Phase,
    transcript::{Reply, StopReason},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most questions of phase `inquire`.
const MAX_ROUNDS: u32 = 3;

pub(super) struct Tree;

impl Rules for Tree {
    fn next(&self, task: &Task) -> Action {
        let Some(phase) = task.pass.phase else { return Action::Think(Some(Phase::Clarify)) };
        match &task.last {
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            // New instructions have come: the phase begins again.
            Last::Start => Action::Think(Some(phase)),
            last => match phase {
                Phase::Clarify => after_clarify(task),
                Phase::Inquire => after_inquire(task, last),
                Phase::Split => Action::Think(Some(Phase::Act)),
                Phase::Summarize => after_summarize(task, last),
                Phase::Act | Phase::Reason | Phase::Observe | Phase::Plan => after_act(task, last),
            },
        }
    }

    fn may_ask(&self, task: &Task) -> bool {
        task.pass.phase != Some(Phase::Summarize) || asked(task, Phase::Summarize).is_none()
    }

    fn tool_use(&self, phase: Option<Phase>) -> ToolUse {
        if phase == Some(Phase::Act) { ToolUse::Allowed } else { ToolUse::Forbidden }
    }

    fn read(&self, turn: Turn, reply: &Reply) -> Reading {
        match turn.phase {
            Some(Phase::Clarify) => reading::clarify(&reply.text()),
            Some(Phase::Inquire) => reading::inquire(&reply.text()),
            Some(Phase::Split) => reading::split(&reply.text()),
            Some(Phase::Summarize) => reading::summarize(&reply.text(), turn.may_ask),
            _ => Reading::default(),
        }
    }

    fn control_tools(&self) -> &'static [&'static str] {
        agent::CONTROL_TOOLS
    }

    fn templates(&self) -> BTreeMap<Phase, &'static str> {
        BTreeMap::from([
            (Phase::Clarify, include_str!("prompt/agent_clarify_prompt.md")),
            (Phase::Inquire, include_str!("prompt/agent_inquire_prompt.md")),
            (Phase::Split, include_str!("prompt/agent_split_prompt.md")),
            (Phase::Act, include_str!("prompt/agent_act_prompt.md")),
            (Phase::Summarize, include_str!("prompt/agent_summarize_prompt.md")),
        ])
    }

    fn is_told_before_it_ends(&self) -> bool {
        true
    }

    fn joins_sub_tasks(&self) -> bool {
        true
    }

    fn data(&self, history: &History, task: &Task, answer: Option<&str>) -> Option<JsonText> {
        let question = |asked: &Asked| {
            let answer = match &asked.response {
                Response::Answer(words) => Some(words),
                Response::None | Response::Declined => None,
            };
            json!({ "question": asked.text, "answer": answer })
        };
        let questions: Value = task.inquiry.asked.iter().map(question).collect();
        let usage = history.usage();
        Some(JsonText::from(json!({
            "answer": answer,
            "subResults": children::results_so_far(history, &task.children),
            "questions": questions,
            "usage": { "tokens": usage.tokens(), "modelCalls": usage.model_calls },
        })))
    }
}

/// The newest question of this phase.
fn asked(task: &Task, phase: Phase) -> Option<&Asked> {
    task.inquiry.asked.iter().rfind(|asked| asked.phase == Some(phase))
}

fn is_declined(task: &Task, phase: Phase) -> bool {
    asked(task, phase).is_some_and(|asked| asked.response == Response::Declined)
}

fn after_clarify(task: &Task) -> Action {
    if is_declined(task, Phase::Clarify) { Action::Decline } else { Action::Think(Some(Phase::Inquire)) }
}

/// A reply without a question says that nothing is missing.
fn after_inquire(task: &Task, last: &Last) -> Action {
    let has_asked = matches!(last, Last::Results { .. });
    if is_declined(task, Phase::Inquire) {
        Action::Decline
    } else if has_asked && task.inquiry.rounds < MAX_ROUNDS {
        Action::Think(Some(Phase::Inquire))
    } else {
        Action::Think(Some(Phase::Split))
    }
}

/// As in mode `agent`; what ends an agent ends the phase.
fn after_act(task: &Task, last: &Last) -> Action {
    match last {
        Last::Results { complete: Some(_) } => Action::Join(Phase::Summarize),
        Last::Results { complete: None } | Last::Nudged | Last::Start => Action::GoOn(Phase::Act),
        Last::Text { text, stop, .. } => match agent::after_text(task, text, *stop) {
            AfterText::Nudge(words) => Action::Nudge(words),
            AfterText::End(_) => Action::Join(Phase::Summarize),
        },
    }
}

/// An answer is summed up once more. A declined question leaves the answer as it was.
fn after_summarize(task: &Task, last: &Last) -> Action {
    match last {
        Last::Results { .. }
            if asked(task, Phase::Summarize).is_some() && !is_declined(task, Phase::Summarize) =>
        {
            Action::Think(Some(Phase::Summarize))
        }
        Last::Nudged => Action::Think(Some(Phase::Summarize)),
        _ => Action::Finish(answer(task)),
    }
}

/// The summary's answer, else the text that was shown with it.
fn answer(task: &Task) -> Answer {
    Answer::first_of(task, &[&task.pass.summary.answer, &task.shown])
}
