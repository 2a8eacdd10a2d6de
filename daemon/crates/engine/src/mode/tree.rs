//! `tree`: asks until the request is clear, splits it among sub-tasks, works beside them, waits for them, and
//! sums up.
//!
//! The phases in their order: clarify, inquire, split, act, summarize. Only act has tools, and only act
//! begins steps. What the other phases decide is read in their replies as calls: a question, or the forks of
//! the sub-tasks. A reply without a block decides nothing.

use super::{
    agent,
    block::Block,
    control::FORK,
    progress::{AfterText, Progress},
    reading::{Reading, ask, call},
    rules::{Action, Answer, Ending, Facts, Last, Rules, Shape, Table},
};
use abide_protocol::{
    JsonText, QuestionId,
    inbox::QuestionKind,
    record::{ControlBlock, RecordBody, SummarizeBlock},
    task::Phase,
    transcript::{Reply, StopReason},
};
use serde_json::{Value, json};

/// The most questions of phase `inquire`.
const MAX_ROUNDS: u32 = 3;
/// The most sub-tasks that phase `split` starts.
const MAX_PARTS: usize = 4;

pub(super) const TABLE: Table = Table {
    prompt: Some(include_str!("prompt/tree.md")),
    shape,
    read,
    is_told_before_it_ends: true,
    joins_sub_tasks: true,
    ..agent::TABLE
};

/// What the task has asked and was answered, and what it has summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    progress: Progress,
    /// How often phase `inquire` has begun. A round that new instructions begin again counts once.
    rounds: u32,
    asked: Vec<Asked>,
    /// What the newest summary has decided.
    summary: SummarizeBlock,
}

/// A question of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    id: QuestionId,
    /// The phase in which it was asked.
    phase: Option<Phase>,
    text: String,
    response: Response,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Response {
    /// None yet, or new instructions have closed the question.
    None,
    Answer(String),
    Declined,
}

impl Rules for Tree {
    fn fold(&mut self, record: &RecordBody, last: &Last) {
        match record {
            // New instructions begin the same round again.
            RecordBody::PhaseBegan(began) if began.phase == Phase::Inquire && *last != Last::Start => {
                self.rounds += 1;
            }
            RecordBody::Reply(reply) => match &reply.control {
                Some(ControlBlock::Summarize(block)) => self.summary = block.clone(),
                None if reply.phase == Some(Phase::Summarize) => self.summary = SummarizeBlock::default(),
                Some(ControlBlock::Reason(_) | ControlBlock::Observe(_)) | None => {}
            },
            RecordBody::QuestionAsked(question) if question.kind == QuestionKind::Agent => {
                let (id, phase, text) = (question.id, self.progress.phase, question.text.clone());
                self.asked.push(Asked { id, phase, text, response: Response::None });
            }
            RecordBody::QuestionAnswered(answered) => {
                if let Some(asked) = self.asked.iter_mut().find(|asked| asked.id == answered.question_id) {
                    asked.response = answered.response.clone().map_or(Response::Declined, Response::Answer);
                }
            }
            _ => {}
        }
        self.progress.fold(record);
    }

    fn next(&self, facts: &Facts<'_>) -> Action {
        let Some(phase) = self.progress.phase else { return Action::Think(Some(Phase::Clarify)) };
        match facts.last {
            Last::Text { stop: StopReason::Refusal, .. } => Action::Refused,
            // New instructions have come: the phase begins again.
            Last::Start => Action::Think(Some(phase)),
            _ => match phase {
                Phase::Clarify => self.after_clarify(),
                Phase::Inquire => self.after_inquire(facts),
                Phase::Split => Action::Think(Some(Phase::Act)),
                Phase::Summarize => self.after_summarize(facts),
                Phase::Act | Phase::Reason | Phase::Observe | Phase::Plan => self.after_act(facts),
            },
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.progress.phase
    }

    fn may_ask(&self) -> bool {
        self.progress.phase != Some(Phase::Summarize) || self.asked_in(Phase::Summarize).is_none()
    }

    fn begins_step_again(&self, is_asking: bool) -> bool {
        is_asking && self.progress.phase == Some(Phase::Act)
    }

    fn data(&self, end: &Ending<'_>) -> Option<JsonText> {
        let question = |asked: &Asked| {
            let answer = match &asked.response {
                Response::Answer(words) => Some(words),
                Response::None | Response::Declined => None,
            };
            json!({ "question": asked.text, "answer": answer })
        };
        let questions: Value = self.asked.iter().map(question).collect();
        Some(JsonText::from(json!({
            "answer": end.answer,
            "subResults": end.sub_results,
            "questions": questions,
            "usage": { "tokens": end.usage.tokens(), "modelCalls": end.usage.model_calls },
        })))
    }
}

impl Tree {
    /// The newest question of this phase.
    fn asked_in(&self, phase: Phase) -> Option<&Asked> {
        self.asked.iter().rfind(|asked| asked.phase == Some(phase))
    }

    fn is_declined(&self, phase: Phase) -> bool {
        self.asked_in(phase).is_some_and(|asked| asked.response == Response::Declined)
    }

    fn after_clarify(&self) -> Action {
        if self.is_declined(Phase::Clarify) { Action::Decline } else { Action::Think(Some(Phase::Inquire)) }
    }

    /// A reply without a question says that nothing is missing.
    fn after_inquire(&self, facts: &Facts<'_>) -> Action {
        let has_asked = matches!(facts.last, Last::Results { .. });
        if self.is_declined(Phase::Inquire) {
            Action::Decline
        } else if has_asked && self.rounds < MAX_ROUNDS {
            Action::Think(Some(Phase::Inquire))
        } else {
            Action::Think(Some(Phase::Split))
        }
    }

    /// As in mode `agent`; what ends an agent ends the phase.
    fn after_act(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Results { complete: Some(_) } => Action::Join(Phase::Summarize),
            Last::Results { complete: None } | Last::Nudged | Last::Start => Action::GoOn(Phase::Act),
            Last::Text { text, stop, .. } => match self.progress.after_text(facts, text, *stop) {
                AfterText::Nudge(words) => Action::Nudge(words),
                AfterText::End(_) => Action::Join(Phase::Summarize),
            },
        }
    }

    /// An answer is summed up once more. A declined question leaves the answer as it was.
    fn after_summarize(&self, facts: &Facts<'_>) -> Action {
        match facts.last {
            Last::Results { .. }
                if self.asked_in(Phase::Summarize).is_some() && !self.is_declined(Phase::Summarize) =>
            {
                Action::Think(Some(Phase::Summarize))
            }
            Last::Nudged => Action::Think(Some(Phase::Summarize)),
            // The summary's answer, else the text that was shown with it.
            _ => Action::Finish(Answer::first_of(facts, &[&self.summary.answer, facts.shown])),
        }
    }
}

fn shape(phase: Option<Phase>) -> Shape {
    match phase {
        Some(Phase::Clarify) => Shape::WITHOUT_TOOLS.noted(include_str!("prompt/agent_clarify_prompt.md")),
        Some(Phase::Inquire) => Shape::WITHOUT_TOOLS.noted(include_str!("prompt/agent_inquire_prompt.md")),
        Some(Phase::Split) => Shape::WITHOUT_TOOLS.noted(include_str!("prompt/agent_split_prompt.md")),
        Some(Phase::Act) => Shape::WITH_TOOLS.noted(include_str!("prompt/agent_act_prompt.md")),
        Some(Phase::Summarize) => {
            Shape::WITHOUT_TOOLS.noted(include_str!("prompt/agent_summarize_prompt.md"))
        }
        Some(Phase::Reason | Phase::Observe | Phase::Plan) | None => Shape::WITHOUT_TOOLS,
    }
}

fn read(phase: Option<Phase>, reply: &Reply) -> Reading {
    match phase {
        Some(Phase::Clarify) => read_question(&reply.text(), "ambiguous"),
        Some(Phase::Inquire) => read_question(&reply.text(), "missing"),
        Some(Phase::Split) => read_parts(&reply.text()),
        Some(Phase::Summarize) => read_summary(&reply.text()),
        _ => Reading::default(),
    }
}

/// Reads a reply of phase `clarify` or `inquire`: a block with a question, which is asked if this flag is
/// set.
fn read_question(text: &str, flag: &str) -> Reading {
    let Some(block) = Block::find(text, &[flag, "question"]) else { return Reading::default() };
    let question = block.text("question");
    let asks = block.flag(flag).unwrap_or_default() && !question.trim().is_empty();
    let calls = asks.then(|| ask(&question)).into_iter().collect();
    Reading { text: Some(block.around_or("")), calls, ..Reading::default() }
}

/// Reads a reply of phase `split`: each part is a sub-task. Further parts than [`MAX_PARTS`] are left out.
fn read_parts(text: &str) -> Reading {
    let Some(block) = Block::find(text, &["subquestions"]) else { return Reading::default() };
    let parts =
        block.list("subquestions").iter().filter_map(Value::as_str).filter(|part| !part.trim().is_empty());
    let fork = |part: &str| call(FORK, json!({ "prompt": part }).to_string());
    let calls = parts.take(MAX_PARTS).map(fork).collect();
    Reading { text: Some(block.around_or("")), calls, ..Reading::default() }
}

/// Reads a reply of phase `summarize`. An answer that is uncertain asks. If there is no text beside the
/// block, people see its answer.
fn read_summary(text: &str) -> Reading {
    let Some(block) = Block::find(text, &["answer", "uncertain", "question"]) else {
        return Reading::default();
    };
    let read = SummarizeBlock {
        answer: block.text("answer"),
        uncertain: block.flag("uncertain").unwrap_or_default(),
    };
    let question = block.text("question");
    let asks = read.uncertain && !question.trim().is_empty();
    let calls = asks.then(|| ask(&question)).into_iter().collect();
    let text = block.around_or(&read.answer);
    Reading { control: Some(ControlBlock::Summarize(read)), text: Some(text), calls }
}
