//! All that waits for a person: questions and approvals, of all tasks at any depth.

use crate::{ApprovalId, CallId, ConversationId, JsonText, QuestionId, TaskId, Timestamp, transcript::Risk};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantNames;

/// An open item of the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    pub task_id: TaskId,
    pub conversation_id: ConversationId,
    pub conversation_title: String,
    pub pending: Pending,
    /// The root above a sub-task; absent: the task is a root.
    pub root_id: Option<TaskId>,
    /// What a sub-task is about; empty for a root, which its conversation's title names.
    pub title: String,
    /// Tasks above this one.
    pub depth: u32,
}

impl InboxItem {
    /// The sub-task that asks, with its title; `None`: a root asks.
    #[must_use]
    pub fn sub_task(&self) -> Option<(TaskId, &str)> {
        self.root_id.map(|_| (self.task_id, self.title.as_str()))
    }
}

/// What a task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "few wait at a time, and most of them are approvals")]
pub enum Pending {
    Question(Question),
    Approval(Approval),
}

impl Pending {
    /// The question's or approval's id.
    #[must_use]
    pub fn id(&self) -> PendingId {
        match self {
            Self::Question(q) => PendingId::Question(q.id),
            Self::Approval(a) => PendingId::Approval(a.id),
        }
    }

    #[must_use]
    pub const fn asked_at(&self) -> Timestamp {
        match self {
            Self::Question(q) => q.at,
            Self::Approval(a) => a.at,
        }
    }
}

/// Names an inbox item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum PendingId {
    Question(QuestionId),
    Approval(ApprovalId),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub id: QuestionId,
    pub kind: QuestionKind,
    pub at: Timestamp,
    pub text: String,
    /// Proposed answers. An answer repeats one exactly, unless [`QuestionKind::takes_words`] allows any text.
    pub choices: Vec<String>,
    /// The call that asks, or that the question is about.
    pub call_id: Option<CallId>,
    /// When the question closes and its task is cancelled.
    pub expires_at: Option<Timestamp>,
}

/// Who asks, and about what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum QuestionKind {
    /// The agent, by `ask_user`.
    Agent,
    /// Identical calls in a row: go on?
    Loop,
    /// A token or cost limit is reached: go on?
    Budget,
    /// A call that a person had approved was interrupted: did it happen?
    Interrupted,
    /// The daemon was restarted, and the task's policy is to ask or to pause; or it died again and again, and
    /// the task is paused: go on?
    Restart,
    /// The task is parked until its model can be asked again (`expires_at`), and goes on by itself then: go
    /// on now, or stop?
    Parked,
}

impl QuestionKind {
    /// Whether an answer may be any text, not only one of the choices. (For `loop` the text becomes the
    /// result of the repeated call.)
    #[must_use]
    pub const fn takes_words(self) -> bool {
        matches!(self, Self::Agent | Self::Loop | Self::Interrupted)
    }
}

/// A tool call that waits for a person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    pub id: ApprovalId,
    pub call_id: CallId,
    pub at: Timestamp,
    pub tool: String,
    /// What it would do, in one line.
    pub summary: String,
    pub arguments: JsonText,
    /// Where it would run: the absolute workspace path.
    pub workspace: String,
    pub preview: Option<Box<Preview>>,
    pub risk: Risk,
    /// What confines it: `full`, `landlock` or `none`; with `, network` if it uses the network of the host.
    pub sandbox: String,
    /// What `allow_always` and `reject_always` would remember.
    pub rule: Rule,
    /// SHA-256 (hex) of tool, arguments and workspace: the decision is about exactly this.
    pub digest: String,
    /// What `allow_always` and `reject_always` can remember instead of `rule`, the narrowest first.
    pub wider: Vec<WiderRule>,
    /// Why it asks although a sandbox could confine it, in a sentence without a full stop. Words of the agent
    /// in it are quoted.
    pub why: Option<String>,
    /// A person may decide with only the summary before them, as in a notification: the summary tells the
    /// call whole, its risk is not high, and it neither leaves the sandbox nor undermines it.
    pub in_passing: bool,
    /// The files that the call names and that other calls could change. If one is no longer like this when
    /// the call starts, it does not run.
    pub files: Vec<NamedFile>,
    /// Why `allow_always` is refused, in a sentence without a full stop; absent: it is not.
    pub only_once: Option<String>,
    /// `allow_for_task` is possible: it asks only because what is done here could not be undone.
    pub for_task: bool,
}

/// A file that a call names, as it was when a person was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedFile {
    /// Relative to the workspace; absolute if it lies elsewhere.
    pub path: String,
    pub bytes: u64,
    /// SHA-256 of its content, in hex.
    pub sha256: String,
}

/// A rule that matches a call and others like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WiderRule {
    /// As `shell(cargo test *)`.
    pub text: String,
    /// What it matches, in words.
    pub matches: String,
}

/// What an edit would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Relative to the workspace.
    pub path: String,
    /// A unified diff, possibly cut. What its lines do not show (encoding, line ends) is in notes before
    /// them, which begin with `\`.
    pub diff: String,
    /// All added and removed lines, including those cut from `diff`. Absent: the file is no text.
    pub changed: Option<Changed>,
}

/// How much an edit would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Lines.
    pub added: u64,
    /// Lines.
    pub removed: u64,
}

/// A remembered decision: this tool with these very arguments in this workspace, whatever reason a `shell`
/// call gives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub tool: String,
    pub arguments: JsonText,
    pub workspace: String,
}

impl Rule {
    /// The rule that a decision "always" about this call remembers. Why a `shell` call wants to leave the
    /// sandbox is no part of it: that changes nothing about what runs, and a model words it anew each time.
    #[must_use]
    pub fn of(tool: &str, arguments: &JsonText, workspace: &str) -> Self {
        let mut value = if tool == "shell" { arguments.value() } else { Value::Null };
        let had_reason = value.as_object_mut().is_some_and(|fields| fields.remove("reason").is_some());
        let arguments = if had_reason { JsonText::from(value) } else { arguments.clone() };
        Self { tool: tool.to_owned(), arguments, workspace: workspace.to_owned() }
    }
}

/// A rule as text, which stands in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextRule {
    /// As `shell(cargo test *)`.
    pub text: String,
    /// Its absolute path.
    pub workspace: String,
    pub effect: RuleEffect,
}

/// What a rule does about the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RuleEffect {
    Deny,
    Ask,
    Allow,
}

impl RuleEffect {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// A person's decision on an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Decision {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// This call, and all others of its root task and of that task's sub-tasks which ask only because what
    /// they do could not be undone.
    AllowForTask,
}

impl Decision {
    #[must_use]
    pub const fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways | Self::AllowForTask)
    }

    /// Whether the decision is remembered as a rule.
    #[must_use]
    pub const fn is_always(self) -> bool {
        matches!(self, Self::AllowAlways | Self::RejectAlways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_shell_call_is_no_part_of_its_rule() {
        let outside = r#"{"command":"make","outside":true}"#;
        let table = [
            ("shell", r#"{"command": "make", "outside": true, "reason": "It needs the network."}"#, outside),
            ("shell", r#"{"reason": ["odd"], "command": "make", "outside": true}"#, outside),
            // All else stays as it is.
            ("shell", r#"{"command": "make", "outside": true}"#, r#"{"command": "make", "outside": true}"#),
            ("shell", r#"["reason"]"#, r#"["reason"]"#),
            ("mail", r#"{"to": "me", "reason": "late"}"#, r#"{"to": "me", "reason": "late"}"#),
        ];
        for (tool, arguments, expected) in table {
            let rule = Rule::of(tool, &JsonText::parse(arguments).unwrap(), "/w");
            assert_eq!(
                (rule.tool.as_str(), rule.arguments.as_str(), rule.workspace.as_str()),
                (tool, expected, "/w")
            );
        }
    }
}
