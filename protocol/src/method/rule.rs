use crate::{
    ConversationId, Seq, Timestamp,
    inbox::{Rule, RuleEffect, TextRule, WiderRule},
    record::Permission,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListRulesParams {
    /// The page of rules that are older than this one; absent: the newest.
    pub before: Option<Seq>,
    /// At most so many; absent: 100.
    pub limit: Option<u32>,
}

/// Newest first. A page ends early where its arguments are long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListRulesReply {
    pub rules: Vec<RememberedRule>,
    /// Pass as `before` for the next page; absent: there is none.
    pub before: Option<Seq>,
    /// The rules of the configuration's `[policy]`.
    pub policy: Vec<PolicyRule>,
}

/// A rule of the configuration: it stands in every workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    pub text: String,
    pub effect: RuleEffect,
}

/// A decision that is remembered: the same call is decided like this without a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RememberedRule {
    /// 64 hex digits: a digest of tool, arguments and workspace.
    pub id: String,
    /// Whether the rule allows or denies.
    pub allow: bool,
    /// Where the decision was made, and what it is about; absent if that conversation is deleted. Then only
    /// the digest is left.
    pub origin: Option<RuleOrigin>,
    /// The rule, if it matches more than one call.
    pub text: Option<TextRule>,
}

impl RememberedRule {
    /// The last 8 digits of its id, as of other ids: what people see and type.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.get(self.id.len().saturating_sub(8)..).unwrap_or(&self.id)
    }

    /// Whether the decision was made in this conversation.
    #[must_use]
    pub fn is_of(&self, conversation: ConversationId) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.conversation_id == conversation)
    }
}

/// Where a decision was made, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleOrigin {
    pub rule: Rule,
    pub at: Timestamp,
    pub conversation_id: ConversationId,
    pub conversation_title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetRuleParams {
    /// A rule's id, or a unique beginning or end of it.
    pub rule_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddRuleParams {
    pub rule: TextRule,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddRuleReply {
    pub rule: RememberedRule,
}

/// The verdict of the rules on a command line of the shell tool. Nothing runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestRuleParams {
    pub command: String,
    /// An absolute path.
    pub workspace: String,
    /// The `PATH` in which its program is looked for; absent: the daemon's.
    #[serde(default)]
    pub path: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestRuleReply {
    /// Absent: no rule is about it, and the tool's own setting decides.
    pub effect: Option<RuleEffect>,
    /// The rule that decides.
    pub rule: Option<String>,
    /// It stands in the configuration; otherwise in the workspace.
    pub is_policy: bool,
    /// Why, in words.
    pub why: String,
    /// The rules that an approval of it would offer besides the exact one.
    pub wider: Vec<WiderRule>,
    /// What becomes of the call in a task that is started without `--yes`, remembered decisions and the
    /// sandbox included.
    pub permission: Option<Permission>,
    /// If it asks, why, in words.
    pub asks: Option<String>,
}

/// The rule that is forgotten: from now on the same call asks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetRuleReply {
    pub rule: RememberedRule,
}
