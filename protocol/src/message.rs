//! What a person reads in a conversation.

use crate::{
    CallId, ConversationId, QuestionId, RecordId, Seq, TaskId, Timestamp, inbox::Preview, record::Permission,
    task::CallState, transcript::ToolResult,
};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// A message: a record for which [`crate::record::Record::message`] is `Some`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The record's id; for a model's reply the `item` of its deltas.
    pub id: RecordId,
    pub seq: Seq,
    pub conversation_id: ConversationId,
    pub task_id: Option<TaskId>,
    pub at: Timestamp,
    pub role: Role,
    pub kind: MessageKind,
    pub text: String,
    pub reasoning: Option<String>,
    /// For `question` and `answer`.
    pub question_id: Option<QuestionId>,
}

impl Message {
    /// The kinds of records that can be messages.
    pub const RECORDS: &[&str] = &[
        "user_message",
        "notice",
        "update",
        "reply",
        "partial_reply",
        "question_asked",
        "question_answered",
        "agent_message",
        "intervened",
        "imported",
    ];

    /// Whether it is unread until somebody has seen it: it is neither a person's own nor imported by one.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.role != Role::User && self.kind != MessageKind::Imported
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    User,
    Agent,
    System,
}

/// What kind of message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum MessageKind {
    Text,
    /// Sent by the tool `send_update`.
    Update,
    /// The part of a reply that was shown when the task ended.
    Partial,
    Question,
    Answer,
    /// From the system: stop, pause, limits, restart.
    Notice,
    /// Of an earlier conversation that the task was started with. The role `system` says a system message
    /// there, or a call's result.
    Imported,
    /// Somebody has changed the course of the task while it worked.
    Intervention,
}

/// A call's summary without the tool's name, with which most begin; empty if it says no more than that.
#[must_use]
pub fn summary_without_tool<'a>(tool: &str, summary: &'a str) -> &'a str {
    match summary.strip_prefix(tool) {
        Some("") => "",
        Some(rest) => rest.trim_start_matches(':').strip_prefix(' ').unwrap_or(summary),
        None => summary,
    }
}

/// A tool call as a timeline shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallView {
    pub call_id: CallId,
    /// Where it stands among the messages: the seq of its `call_assessed` record.
    pub seq: Seq,
    pub conversation_id: ConversationId,
    pub task_id: TaskId,
    pub tool: String,
    pub summary: String,
    /// Raw, as the model wrote them.
    pub arguments: String,
    pub preview: Option<Box<Preview>>,
    pub state: CallState,
    pub attempt: u32,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub outcome: Option<CallOutcome>,
    pub result: Option<ToolResult>,
    /// What decided whether it may run.
    pub permission: Permission,
}

impl CallView {
    /// A control call, which is shown as a message or as the task's end instead. One that was refused has
    /// become neither.
    #[must_use]
    pub fn is_control(&self) -> bool {
        let is_named = matches!(&*self.tool, "ask_user" | "request_input" | "send_update" | "task_complete");
        is_named && self.outcome != Some(CallOutcome::Refused)
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CallOutcome {
    /// It ran; `ToolResult::ok` says how it went.
    Done,
    /// It never ran: unknown tool, bad arguments, outside the workspace, denied by a rule.
    Refused,
    /// It never ran: a person said no.
    Rejected,
    /// The task ended before it did.
    Cancelled,
    /// The daemon died while it ran; effects unknown.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::summary_without_tool as without;

    #[test]
    fn a_summary_is_shown_beside_its_tool() {
        let table =
            [("read", "read a.txt", "a.txt"), ("fork", "fork: Do it.", "Do it."), ("wait", "wait", "")];
        for (tool, summary, shown) in table {
            assert_eq!(without(tool, summary), shown, "{summary}");
        }
        assert_eq!(without("read", "reads much"), "reads much");
        assert_eq!(without("shell", "make all"), "make all");
    }
}
