//! The events of a session's stream. What has no event of its own is a `trace`.

use super::{Beside, Event};
use crate::http::outward::outward;
use abide_protocol::{
    record::{Record, RecordBody},
    transcript::StopReason,
};
use serde_json::{Value, json};

/// At least one.
pub(super) fn of(record: &Record, beside: &Beside, tool: Option<&str>) -> Vec<Event> {
    let task = record.task_id;
    let mut events = match &record.body {
        RecordBody::ApprovalRequested(a) => vec![(
            "approval_required",
            json!({
                "callId": a.call_id, "approvalId": a.id, "tool": a.tool, "argsJson": a.arguments.as_str(),
                "reason": a.why.as_ref().unwrap_or(&a.summary), "summary": a.summary, "preview": a.preview,
                "risk": a.risk,
                "rule": a.rule, "onlyOnce": a.only_once,
            }),
        )],
        RecordBody::ApprovalDecided(d) => vec![(
            "approval_decided",
            json!({
                "callId": d.call_id, "approvalId": d.approval_id, "decision": d.decision, "note": d.note,
                "by": d.by,
            }),
        )],
        RecordBody::QuestionAsked(q) => vec![(
            "question",
            json!({
                "questionId": q.id, "kind": q.kind, "text": q.text, "choices": q.choices,
                "callId": q.call_id, "expiresAt": q.expires_at,
            }),
        )],
        RecordBody::QuestionAnswered(a) => vec![(
            "question_answered",
            json!({ "questionId": a.question_id, "response": a.response, "by": a.by }),
        )],
        _ if beside.is_sub_task => vec![trace(record)],
        RecordBody::Reply(reply) => {
            let mut events = Vec::new();
            for call in reply.calls() {
                let data = json!({ "callId": call.id, "tool": call.tool, "argsJson": call.arguments });
                events.push(("tool_call", data));
            }
            let (reason, step) = (reply.reply.stop_reason, reply.step);
            events.push(("completed", json!({ "stopReason": reason, "final": false, "step": step })));
            events
        }
        RecordBody::CallFinished(finished) => vec![(
            "tool_result",
            json!({
                "callId": finished.call_id, "tool": tool, "result": finished.result,
                "outcome": finished.outcome,
            }),
        )],
        RecordBody::Paused(paused) => {
            vec![("state", json!({ "status": "paused", "reason": paused.reason }))]
        }
        RecordBody::Resumed(resumed) => {
            vec![("state", json!({ "status": "running", "reason": resumed.was }))]
        }
        RecordBody::TaskEnded(ended) => {
            let error = ended.error.as_ref().map(|error| ("error", json!({ "message": error })));
            let status = ended.reason.status();
            let stop = match status {
                abide_protocol::task::Status::Completed => json!(StopReason::EndTurn),
                _ => json!(ended.reason),
            };
            let completed = json!({
                "stopReason": stop, "final": true, "status": status, "endReason": ended.reason,
                "summary": ended.summary, "usage": beside.usage,
            });
            error.into_iter().chain([("completed", completed)]).collect()
        }
        _ => vec![trace(record)],
    };
    if let Some(task) = task {
        for (_, data) in &mut events {
            data["taskId"] = json!(task);
        }
    }
    events
}

fn trace(record: &Record) -> Event {
    let (kind, data) = match serde_json::to_value(outward(&record.body)).unwrap_or_default() {
        Value::Object(tagged) => tagged.into_iter().next().unwrap_or_default(),
        other => (String::new(), other),
    };
    ("trace", json!({ "kind": kind, "data": data }))
}
