//! `roa`: reason, act, observe. A step is one pass of the three phases, and begins with reason. All three are
//! recorded in every step.

use super::{
    block::Block,
    control::{FORK, REQUEST_INPUT, SEND_UPDATE, TELL, WAIT},
    progress::{AfterText, Progress},
    reading::Reading,
    rules::{Action, Answer, Facts, Last, Recalls, Rules, Shape, Table},
};
use abide_protocol::{
    record::{ControlBlock, ObserveBlock, ReasonBlock, RecordBody, ReplyRecord},
    task::Phase,
    transcript::{EffectClass, Reply, StopReason},
};

pub(super) const TABLE: Table = Table {
    prompt: Some(include_str!("prompt/roa.md")),
    control_tools: &[REQUEST_INPUT, SEND_UPDATE, FORK, WAIT, TELL],
    shape,
    read,
    steps: 10,
    // Each step ends with an observation, which says what came of it.
    shortens_steps_first: true,
    is_told_before_it_ends: true,
    recalls: Recalls::Notes,
    ..Table::USUAL
};

/// What the phases of a pass have come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Roa {
    progress: Progress,
    /// What the pass's reason phase has decided.
    reason: ReasonBlock,
    /// What the newest observe phase has decided, in this pass or the one before.
    observe: ObserveBlock,
}

impl Rules for Roa {
    fn fold(&mut self, record: &RecordBody, _: &Last) {
        match record {
            RecordBody::PhaseBegan(began) if began.phase == Phase::Reason => {
                self.reason = ReasonBlock::default();
            }
            RecordBody::Reply(reply) => match &reply.control {
                Some(ControlBlock::Reason(block)) => self.reason = block.clone(),
                Some(ControlBlock::Observe(block)) => self.observe = block.clone(),
                // An observation without a block replaces the one of the step before.
                None if reply.phase == Some(Phase::Observe) => self.observe = ObserveBlock::default(),
                Some(ControlBlock::Summarize(_)) | None => {}
            },
            // New instructions begin the pass anew.
            RecordBody::Intervened(intervened) if intervened.content.is_some() => {
                self.progress.phase = None;
                self.reason = ReasonBlock::default();
            }
            _ => {}
        }
        self.progress.fold(record);
    }

    fn next(&self, facts: &Facts<'_>) -> Action {
        if matches!(facts.last, Last::Text { stop: StopReason::Refusal, .. }) {
            return Action::Refused;
        }
        match self.progress.phase {
            Some(Phase::Reason) if self.reason.finish || !has_tools(facts) => Action::Skip(Phase::Act),
            Some(Phase::Reason) => Action::Think(Some(Phase::Act)),
            Some(Phase::Act) if *facts.last == Last::Nudged => Action::GoOn(Phase::Act),
            Some(Phase::Act) => match facts.last {
                // What was to be done has to be, or there is nothing to observe.
                Last::Text { text, stop: stop @ StopReason::LostCalls, .. } => {
                    match self.progress.after_text(facts, text, *stop) {
                        AfterText::Nudge(words) => Action::Nudge(words),
                        AfterText::End(answer) => Action::Finish(answer),
                    }
                }
                _ => Action::Think(Some(Phase::Observe)),
            },
            // A note says what keeps the task from its end.
            Some(Phase::Observe) if self.is_over() && *facts.last != Last::Nudged => {
                Action::Finish(self.answer(facts))
            }
            Some(_) | None => Action::Think(Some(Phase::Reason)),
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.progress.phase
    }

    fn begins_step_again(&self, is_asking: bool) -> bool {
        is_asking || matches!(self.progress.phase, Some(Phase::Reason | Phase::Act))
    }

    fn report(&self, reply: &ReplyRecord) -> String {
        match &reply.control {
            Some(ControlBlock::Observe(block)) if !block.observation.trim().is_empty() => {
                block.observation.clone()
            }
            None if reply.phase == Some(Phase::Observe) => reply.shown(),
            _ => reply.text.clone().unwrap_or_default(),
        }
    }

    fn observation(&self) -> &str {
        &self.observe.observation
    }

    fn answer_at_limit(&self, facts: &Facts<'_>) -> Answer {
        self.answer(facts)
    }
}

impl Roa {
    /// Whether the pass that has just been observed is the last one.
    fn is_over(&self) -> bool {
        let observed = &self.observe;
        self.reason.finish || !observed.should_continue || !observed.final_answer.trim().is_empty()
    }

    /// The final answer, else the last observation, else the text that was shown with it.
    fn answer(&self, facts: &Facts<'_>) -> Answer {
        Answer::first_of(facts, &[&self.observe.final_answer, &self.observe.observation, facts.shown])
    }
}

/// Whether the task has a tool that is not a control tool: without one, act would have nothing to do.
fn has_tools(facts: &Facts<'_>) -> bool {
    facts.tools.iter().any(|tool| tool.effect != EffectClass::Control)
}

fn shape(phase: Option<Phase>) -> Shape {
    match phase {
        Some(Phase::Reason) => Shape::WITHOUT_TOOLS.noted(include_str!("prompt/agent_reason_prompt.md")),
        Some(Phase::Act) => Shape::WITH_TOOLS.noted(include_str!("prompt/agent_act_prompt.md")),
        Some(Phase::Observe) => Shape::WITHOUT_TOOLS.noted(include_str!("prompt/agent_observe_prompt.md")),
        _ => Shape::WITHOUT_TOOLS,
    }
}

fn read(phase: Option<Phase>, reply: &Reply) -> Reading {
    match phase {
        Some(Phase::Reason) => read_reason(&reply.text()),
        Some(Phase::Observe) => read_observation(&reply.text()),
        _ => Reading::default(),
    }
}

/// Reads a reply of phase `reason`. If there is no text beside the block, people see its plan.
fn read_reason(text: &str) -> Reading {
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
fn read_observation(text: &str) -> Reading {
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
