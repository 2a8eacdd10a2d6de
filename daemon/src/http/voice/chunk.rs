//! The chunks of the agent API's stream. Of sub-tasks only states and questions are told, one chunk a record.

use super::{Beside, Event};
use abide_protocol::{
    record::{Record, RecordBody},
    task::{EndReason, Status},
    transcript::StopReason,
};
use serde_json::{Value, json};

/// Whether a record changes what the agent API shows of its task.
pub(in crate::http) const fn changes_agent(body: &RecordBody) -> bool {
    matches!(
        body,
        RecordBody::TaskStarted(_)
            | RecordBody::QuestionAsked(_)
            | RecordBody::QuestionAnswered(_)
            | RecordBody::ApprovalRequested(_)
            | RecordBody::ApprovalDecided(_)
            | RecordBody::Intervened(_)
            | RecordBody::Paused(_)
            | RecordBody::Resumed(_)
            | RecordBody::TaskEnded(_)
    )
}

pub(super) fn of(record: &Record, beside: &Beside, tool: Option<&str>) -> Vec<Event> {
    let agent = record.task_id;
    let state =
        beside.agent.as_ref().map(|state| ("agent-state", json!({ "agentId": agent, "state": state })));
    let more: Vec<Event> = match &record.body {
        RecordBody::QuestionAsked(asked) => {
            let asked = json!({ "agentId": agent, "questionId": asked.id, "prompt": asked.text });
            vec![("question", asked)]
        }
        _ if beside.is_sub_task => Vec::new(),
        RecordBody::ModelRequested(_) => vec![("step-start", json!({}))],
        RecordBody::Reply(reply) => {
            let calls = reply.calls().map(|call| {
                // What is no JSON is shown as it was written.
                let args =
                    serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(&*call.arguments));
                let call = json!({ "toolCallId": call.id, "toolName": call.tool, "args": args });
                ("tool-call", call)
            });
            let finish = json!({
                "finishReason": reason_of_step(reply.reply.stop_reason), "usage": reply.reply.usage,
            });
            calls.chain([("step-finish", finish)]).collect()
        }
        RecordBody::CallFinished(finished) => {
            let result =
                json!({ "toolCallId": finished.call_id, "toolName": tool, "result": finished.result });
            vec![("tool-result", result)]
        }
        RecordBody::TaskEnded(ended) => {
            let error = ended.error.as_ref().map(|error| ("error", json!({ "message": error })));
            let finish = json!({
                "finishReason": reason_of_end(ended.reason), "usage": beside.usage, "result": ended.summary,
            });
            error.into_iter().chain([("finish", finish)]).collect()
        }
        _ => Vec::new(),
    };
    let state = state.filter(|_| !beside.is_sub_task || more.is_empty());
    state.into_iter().chain(more).collect()
}

const fn reason_of_step(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn => "stop",
        StopReason::ToolCalls => "tool-calls",
        StopReason::Length => "length",
        StopReason::Refusal => "content-filter",
        StopReason::Unfinished | StopReason::LostCalls => "other",
    }
}

const fn reason_of_end(reason: EndReason) -> &'static str {
    match (reason, reason.status()) {
        (EndReason::StepLimit | EndReason::TimeLimit, _) => "length",
        (_, Status::Completed) => "stop",
        (_, Status::Error) => "error",
        _ => "other",
    }
}
