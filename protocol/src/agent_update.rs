//! Updates of an agent panel: a task's course as a list of small events, for faces that show steps, phases
//! and tools and nothing else.

use crate::{
    CallId,
    inbox::Question,
    invisible::is_invisible,
    message::CallOutcome,
    record::{CallFinished, CallStarted, Record, RecordBody, ReplyRecord, TaskEnded},
    task::{AgentTask, EndReason, Phase, Status},
};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The most characters of a name or a summary.
const MAX_LINE: usize = 200;

/// Something that a panel shows about a task. Variants are only ever appended.
///
/// Texts of the model are as it wrote them. Names and summaries, which can hold paths, are one line of at
/// most 200 characters, without characters that act on a terminal or hide text. Arguments are left out: a
/// runner may add to them what nobody should see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "update_type", rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum AgentUpdate {
    AgentStart(AgentStart),
    AgentTurnStart(AgentStep),
    /// A reply of phase `reason`, or the reasoning of a plan.
    AgentReason(AgentText),
    /// A reply of phase `observe`.
    AgentObserve(AgentText),
    /// The task waits for an answer: the agent's question, or one of Abide's own about the task.
    AgentRequestInput(AgentQuestion),
    /// Nobody answered in time, which has ended the task.
    AgentRequestInputTimeout,
    /// The task was cancelled: stopped, deleted, out of budget, or with the task above it.
    AgentStopped,
    AgentCompletion(AgentCompletion),
    /// A tool begins to run; once for each attempt.
    ToolStart(ToolStart),
    ToolComplete(ToolEnd),
    /// A call failed, or was refused or rejected before it ran; then there is no `tool_start`.
    ToolError(ToolEnd),
    /// The task has ended, in any way. Nothing follows.
    ResponseComplete(ResponseComplete),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStart {
    /// 0: no limit.
    pub max_steps: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStep {
    /// Counts from 1.
    pub step: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentText {
    /// What people see of the reply: its text without the control block.
    pub content: String,
    pub step: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentQuestion {
    pub question: String,
    pub step: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCompletion {
    pub steps: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStart {
    pub call_id: CallId,
    pub tool: String,
    /// What the call does, in one line.
    pub summary: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolEnd {
    pub call_id: CallId,
    /// The message of the call's result, in one line.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseComplete {
    pub reason: EndReason,
    /// The task's summary, else its error; empty if it has neither.
    pub content: String,
}

impl AgentUpdate {
    /// The updates that a record gives, in the order in which they are shown. `task` is the record's task as
    /// it is after the append that holds the record.
    #[must_use]
    pub fn of(record: &Record, task: &AgentTask) -> Vec<Self> {
        let update = match &record.body {
            RecordBody::TaskEnded(ended) => return end(ended, task),
            RecordBody::TaskStarted(started) => {
                Some(Self::AgentStart(AgentStart { max_steps: started.limits.max_steps }))
            }
            RecordBody::PhaseBegan(began) if task.mode.step_phase() == Some(began.phase) => {
                Some(turn(began.step))
            }
            // A later attempt belongs to the same step, and a step with phases begins with the first of them.
            RecordBody::ModelRequested(requested) if requested.attempt == 1 && requested.phase.is_none() => {
                Some(turn(requested.step))
            }
            RecordBody::Reply(reply) => said(reply),
            RecordBody::QuestionAsked(asked) => Some(question(asked, task)),
            RecordBody::CallStarted(started) => Some(tool_start(started, task)),
            RecordBody::CallFinished(finished) => tool_end(finished),
            _ => None,
        };
        update.into_iter().collect()
    }
}

const fn turn(step: u32) -> AgentUpdate {
    AgentUpdate::AgentTurnStart(AgentStep { step })
}

fn said(reply: &ReplyRecord) -> Option<AgentUpdate> {
    let text = || AgentText { content: reply.shown(), step: reply.step };
    match reply.phase? {
        Phase::Reason | Phase::Plan => Some(AgentUpdate::AgentReason(text())),
        Phase::Observe => Some(AgentUpdate::AgentObserve(text())),
        // Its calls are shown as tools, its text as a message.
        Phase::Act | Phase::Clarify | Phase::Inquire | Phase::Split | Phase::Summarize => None,
    }
}

fn question(asked: &Question, task: &AgentTask) -> AgentUpdate {
    AgentUpdate::AgentRequestInput(AgentQuestion { question: asked.text.clone(), step: task.step_count })
}

fn tool_start(started: &CallStarted, task: &AgentTask) -> AgentUpdate {
    let call = task.active_calls.iter().find(|call| call.call_id == started.call_id);
    AgentUpdate::ToolStart(ToolStart {
        call_id: started.call_id,
        tool: call.map(|call| line(&call.tool)).unwrap_or_default(),
        summary: call.map(|call| line(&call.summary)).unwrap_or_default(),
    })
}

fn tool_end(finished: &CallFinished) -> Option<AgentUpdate> {
    let end = ToolEnd { call_id: finished.call_id, message: line(&finished.result.message) };
    let was_started = finished.attempt > 0;
    match finished.outcome {
        CallOutcome::Done if finished.result.ok => was_started.then_some(AgentUpdate::ToolComplete(end)),
        // Nobody has seen the call, and the end of the task says why it never ran.
        CallOutcome::Cancelled if !was_started => None,
        _ => Some(AgentUpdate::ToolError(end)),
    }
}

fn end(ended: &TaskEnded, task: &AgentTask) -> Vec<AgentUpdate> {
    let how = match (ended.reason, ended.reason.status()) {
        (EndReason::QuestionTimeout, _) => Some(AgentUpdate::AgentRequestInputTimeout),
        (_, Status::Completed) => {
            Some(AgentUpdate::AgentCompletion(AgentCompletion { steps: task.step_count }))
        }
        (_, Status::Cancelled) => Some(AgentUpdate::AgentStopped),
        // An error is said by `response_complete`.
        _ => None,
    };
    let content = ended.summary.clone().or_else(|| ended.error.clone()).unwrap_or_default();
    let complete = AgentUpdate::ResponseComplete(ResponseComplete { reason: ended.reason, content });
    how.into_iter().chain([complete]).collect()
}

/// The text on one line, cut at [`MAX_LINE`] characters. What would act on a terminal or hide text is
/// escaped.
fn line(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for c in text.trim().chars() {
        let is_hostile = c.is_control() || is_invisible(c);
        let escaped: String = if is_hostile { c.escape_default().collect() } else { c.into() };
        length += escaped.chars().count();
        // The last character's place is kept for the sign of the cut.
        if length >= MAX_LINE {
            line.push('…');
            break;
        }
        line.push_str(&escaped);
    }
    line
}
