//! The model's replies, drawn from the seed: text, calls of every kind, bad arguments, cut replies, refusals,
//! failures.

use super::life::Life;
use crate::plan::{Plan, ask, complete, fork, read, recall, remember, shell, tell, update, wait, write};
use abide_engine::{ModelFailure, Turn};
use abide_protocol::{record::ModelErrorKind, task::Phase, transcript::StopReason};
use serde_json::{Value, json};

/// How a model call ends.
#[derive(Clone)]
pub(super) enum End {
    Replied {
        stop: StopReason,
        text: String,
        plans: Vec<Plan>,
        /// The outcome has no assessments of the calls.
        unassessed: bool,
    },
    Failed(ModelFailure),
}

/// A shorter transcript than this never overflows the model's context.
const MIN_OVERFLOW: usize = 6;

impl Life {
    /// Draws how a model call ends; `entries` is the length of the transcript that it was sent, `children`
    /// are the handles of its sub-tasks.
    pub(super) fn model_decides(&mut self, turn: Turn, entries: usize, children: &[String]) -> End {
        if self.one_in(self.nature.model_failures) {
            return End::Failed(self.failure(entries));
        }
        let most = if self.one_in(12) { 14 } else { 4 };
        let count = if self.nature.calm { 1 } else { self.roll(most) };
        let mut plans: Vec<Plan> = (0..count).map(|_| self.plan(children)).collect();
        if plans.iter().any(|plan| plan.tool == "wait") && self.one_in(2) {
            // Its checkpoint is made while the sub-tasks are awaited.
            plans.push(shell("1").contained());
        }
        let stop = match self.roll(24) {
            0 if !self.nature.calm => StopReason::Length,
            1 if !self.nature.calm => StopReason::Refusal,
            2 if !self.nature.calm => StopReason::Unfinished,
            3 if !self.nature.calm => StopReason::LostCalls,
            _ => [StopReason::EndTurn, StopReason::ToolCalls][usize::from(!plans.is_empty())],
        };
        let mut text = self.pick(&["", "Some words."]).to_owned();
        if let Some(phase) = turn.phase {
            text.push_str(&self.block(phase, &plans));
        }
        End::Replied { stop, text, plans, unassessed: self.one_in(40) && !self.nature.calm }
    }

    fn failure(&mut self, entries: usize) -> ModelFailure {
        use ModelErrorKind as K;
        let kinds =
            [K::Network, K::Stalled, K::ServerError, K::RateLimited, K::RateLimited, K::ContextOverflow];
        let mut kind = self.pick(&kinds);
        if self.one_in(12) {
            kind = self.pick(&[K::Auth, K::BadRequest, K::Malformed]);
        }
        if kind == K::ContextOverflow && entries < MIN_OVERFLOW {
            kind = K::Network;
        }
        let retryable = matches!(kind, K::Network | K::Stalled | K::ServerError | K::RateLimited);
        let least = if self.one_in(4) { 600_000 } else { 0 };
        let retry_after_ms = (kind == K::RateLimited).then(|| least + self.roll(9_000));
        // What was shown of the reply is known at its end.
        let (message, shown) = ("no".to_owned(), String::new());
        ModelFailure { kind, message, retryable, retry_after_ms, sent: true, shown }
    }

    /// The block that a phase asks for, or a bad one.
    fn block(&mut self, phase: Phase, plans: &[Plan]) -> String {
        let calm = self.nature.calm;
        if !calm && self.one_in(6) {
            return self
                .pick(&["", "{", "{\"plan\": 3, \"finish\": \"yes\"}", "```json\n[1]\n```", "{}"])
                .to_owned();
        }
        let ends = calm || self.one_in(4);
        let block = match phase {
            Phase::Reason => json!({ "plan": "Look.", "tools_to_consider": ["read"], "finish": ends }),
            Phase::Observe => {
                let answer = self.pick(&["", "", "42"]);
                json!({ "observation": "It is so.", "should_continue": !ends, "final_answer": answer })
            }
            Phase::Plan => {
                let call = |plan: &Plan| {
                    let parameters = serde_json::from_str(&plan.arguments);
                    json!({ "tool_name": plan.tool, "parameters": parameters.unwrap_or(Value::Null) })
                };
                let calls: Vec<Value> = plans.iter().filter(|_| !calm).map(call).collect();
                let question = (!calm && self.one_in(5)).then_some("Which one?");
                json!({ "reasoning": "So.", "tool_calls": calls, "question": question, "is_complete": ends })
            }
            Phase::Act => return String::new(),
            Phase::Clarify => json!({ "ambiguous": !calm && self.one_in(3), "question": "Which of them?" }),
            Phase::Inquire => json!({ "missing": !calm && self.one_in(2), "question": "Where is it?" }),
            Phase::Split => {
                let count = if calm { 0 } else { self.roll(6) };
                json!({ "subquestions": vec!["Do a part."; usize::try_from(count).unwrap_or_default()] })
            }
            Phase::Summarize => {
                json!({ "answer": "42", "uncertain": !calm && self.one_in(2), "question": "Is it right?" })
            }
        };
        if self.one_in(2) { format!("```json\n{block}\n```") } else { block.to_string() }
    }

    /// A call that starts, awaits or tells a sub-task, or the parent.
    fn of_children(&mut self, children: &[String]) -> Plan {
        let mut handles: Vec<&str> = children.iter().map(String::as_str).collect();
        handles.extend(["parent", "nobody"]);
        let handle = self.pick(&handles).to_owned();
        match self.roll(8) {
            0..3 => fork("Do a part."),
            3..5 => wait(None),
            5 => wait(Some(&handle)),
            6 => tell(&handle, "Be quick."),
            _ => self.pick(&[fork, |_: &str| wait(None)])(" ").arguments("{"),
        }
    }

    fn plan(&mut self, children: &[String]) -> Plan {
        if self.nature.calm {
            return complete("done");
        }
        if self.nature.stubborn && !self.one_in(8) {
            return read("1");
        }
        let what = self.pick(&["1", "2", "3"]);
        if self.nature.forks > 0 && self.one_in(6) {
            return self.of_children(children);
        }
        let plan = match self.roll(15) {
            0..4 => read(what),
            4..6 => write(what),
            6..9 => shell(what),
            9 => complete(what),
            10 => ask(what),
            11 => update(what),
            12 => recall(what),
            13 => remember(what),
            _ => return self.pick(&[ask, complete, update])(what).arguments("{"),
        };
        match self.roll(8) {
            0..2 => plan.asking(),
            2 => plan.without_undo(),
            3 => plan.denied("no"),
            4 => plan.yes(),
            5 => plan.contained(),
            _ => plan,
        }
    }
}
