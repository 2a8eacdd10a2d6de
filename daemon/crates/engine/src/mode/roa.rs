//! `roa`: reason, act, observe. A step is one pass of the three phases, and begins with reason. All three are recorded in every step.

use super::{
    Action, Answer, Rules,
    agent::{self, AfterText},
    turn::Turn,
};
use crate::{
    mode::{
        control::{FORK, REQUEST_INPUT, SEND_UPDATE, TELL, WAIT},
        reading::{self, Reading},
    },
    state::task::{Last, Task},
};
use abide_protocol::{
    shape::ToolUse,
    task::Phase,
    transcript::{EffectClass, Reply, StopReason},
};
use std::collections::BTreeMap;

pub(super) struct Roa;

impl Rules for Roa {
    fn next(&self, task: &Task) -> Action {
        if matches!(task.last, Last::Text { stop: StopReason::Refusal, .. }) {
            return Action::Refused;
        }
        match task.pass.phase {
            Some(Phase::Reason) if task.pass.reason.finish || !has_tools(task) => Action::Skip(Phase::Act),
            Some(Phase::Reason) => Action::Think(Some(Phase::Act)),
            Some(Phase::Act) if task.last == Last::Nudged => Action::GoOn(Phase::Act),
            Some(Phase::Act) => match &task.last {
                // What was to be done has to be, or there is nothing to observe.
                Last::Text { text, stop: stop @ StopReason::LostCalls, .. } => {
                    match agent::after_text(task, text, *stop) {
                        AfterText::Nudge(words) => Action::Nudge(words),
                        AfterText::End(answer) => Action::Finish(answer),
                    }
                }
                _ => Action::Think(Some(Phase::Observe)),
            },
            // A note says what keeps the task from its end.
            Some(Phase::Observe) if is_over(task) && task.last != Last::Nudged => {
                Action::Finish(answer(task))
            }
            Some(_) | None => Action::Think(Some(Phase::Reason)),
        }
    }

    fn tool_use(&self, phase: Option<Phase>) -> ToolUse {
        if phase == Some(Phase::Act) { ToolUse::Allowed } else { ToolUse::Forbidden }
    }

    fn read(&self, turn: Turn, reply: &Reply) -> Reading {
        match turn.phase {
            Some(Phase::Reason) => reading::reason(&reply.text()),
            Some(Phase::Observe) => reading::observe(&reply.text()),
            _ => Reading::default(),
        }
    }

    fn answer_at_limit(&self, task: &Task) -> Answer {
        answer(task)
    }

    fn default_steps(&self) -> u32 {
        10
    }

    fn control_tools(&self) -> &'static [&'static str] {
        &[REQUEST_INPUT, SEND_UPDATE, FORK, WAIT, TELL]
    }

    fn is_told_before_it_ends(&self) -> bool {
        true
    }

    fn shortens_steps_first(&self) -> bool {
        // Each step ends with an observation, which says what came of it.
        true
    }

    fn templates(&self) -> BTreeMap<Phase, &'static str> {
        BTreeMap::from([
            (Phase::Reason, include_str!("prompt/agent_reason_prompt.md")),
            (Phase::Act, include_str!("prompt/agent_act_prompt.md")),
            (Phase::Observe, include_str!("prompt/agent_observe_prompt.md")),
        ])
    }
}

/// Whether the task has a tool that is not a control tool: without one, act would have nothing to do.
fn has_tools(task: &Task) -> bool {
    task.head.tools.iter().any(|tool| tool.effect != EffectClass::Control)
}

/// Whether the pass that has just been observed is the last one.
fn is_over(task: &Task) -> bool {
    let observed = &task.pass.observe;
    task.pass.reason.finish || !observed.should_continue || !observed.final_answer.trim().is_empty()
}

/// The final answer, else the last observation, else the text that was shown with it.
fn answer(task: &Task) -> Answer {
    let observed = &task.pass.observe;
    Answer::first_of(task, &[&observed.final_answer, &observed.observation, &task.shown])
}
