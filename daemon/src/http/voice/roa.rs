//! What clients that show reason, act and observe are sent. Arguments of tools are left out.

use super::{Beside, Event, Voice};
use abide_protocol::{
    CallId,
    agent_update::AgentUpdate,
    record::{Record, RecordBody},
};
use serde_json::{Value, json};

/// Where tools come from, as these clients ask.
const SERVER: &str = "abide";

pub(super) fn of(record: &Record, beside: &Beside, tool: Option<&str>) -> Vec<Event> {
    let Some(task) = &beside.task else { return Vec::new() };
    if beside.is_sub_task && !matches!(record.body, RecordBody::QuestionAsked(_)) {
        return Vec::new();
    }
    let said = match &record.body {
        RecordBody::Reply(reply) if Voice::Roa.withholds(reply.phase) || reply.shown().is_empty() => None,
        RecordBody::Reply(_) => Some(token("", false, true)),
        RecordBody::AgentMessage(message) => Some(token(&message.text, true, true)),
        _ => None,
    };
    let updates = AgentUpdate::of(record, task).into_iter().map(|update| event(update, tool));
    said.into_iter().chain(updates).collect()
}

/// A piece of a reply's text.
pub(super) fn token(text: &str, is_first: bool, is_last: bool) -> Event {
    ("token_stream", json!({ "token": text, "is_first": is_first, "is_last": is_last }))
}

fn event(update: AgentUpdate, tool: Option<&str>) -> Event {
    let of_call = |id: CallId, name: Option<&str>| {
        let mut call = json!({ "tool_call_id": id, "tool_name": name });
        call["server_name"] = Value::from(SERVER);
        call
    };
    let ended = |id: CallId, said: &str, words: String, success: bool| {
        let mut call = of_call(id, tool);
        call[said] = Value::from(words);
        call["success"] = Value::from(success);
        call
    };
    match update {
        AgentUpdate::ToolStart(started) => {
            ("tool_start", of_call(started.call_id, tool.or(Some(&started.tool))))
        }
        AgentUpdate::ToolComplete(end) => ("tool_complete", ended(end.call_id, "result", end.message, true)),
        AgentUpdate::ToolError(end) => ("tool_error", ended(end.call_id, "error", end.message, false)),
        AgentUpdate::ResponseComplete(complete) => ("response_complete", json!(complete)),
        other => ("agent_update", json!(other)),
    }
}
