//! The digest of a request to start a task. It identifies a repeated request.
//!
//! Digests are stored, so every later build must compute the same: a digest covers exactly the fields listed
//! here. A field added later must be skipped while it has its default value, because earlier versions did not
//! have it.

use abide_protocol::{
    ConversationId, JsonText,
    memory::MemoryUse,
    method::task::{ImportMessage, OwnWorktree, StartTaskParams},
    task::{Approvals, LimitsRequest, Mode, RestartPolicy},
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The version of the list of fields, which begins each digest.
const VERSION: &str = "1:";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    conversation_id: Option<ConversationId>,
    message: &'a str,
    mode: Option<Mode>,
    model: Option<&'a str>,
    workspace: Option<&'a str>,
    persona: Option<&'a str>,
    tools: Option<&'a [String]>,
    limits: Limits,
    approvals: Approvals,
    restart: Option<RestartPolicy>,
    metadata: Option<&'a JsonText>,
    /// Always absent: the digest is stored under it.
    client_message_id: (),
    /// Always empty: the request may be repeated from another shell.
    environment: Environment,
    template: Option<&'a str>,
    message_mode: Option<&'a str>,
    messages: &'a [ImportMessage],
    task_id: Option<&'a str>,
    files: &'a [String],
    worktree: Option<&'a OwnWorktree>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryUse>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    max_steps: Option<u32>,
    max_duration_secs: Option<u64>,
    step_delay_ms: Option<u64>,
    max_tokens: Option<u64>,
    max_cost_micros: Option<u64>,
    question_timeout_secs: Option<u64>,
    max_depth: Option<u32>,
    max_children: Option<u32>,
    max_tasks: Option<u32>,
}

#[derive(Serialize)]
struct Environment {}

impl From<&LimitsRequest> for Limits {
    fn from(limits: &LimitsRequest) -> Self {
        Self {
            max_steps: limits.max_steps,
            max_duration_secs: limits.max_duration_secs,
            step_delay_ms: limits.step_delay_ms,
            max_tokens: limits.max_tokens,
            max_cost_micros: limits.max_cost_micros,
            question_timeout_secs: limits.question_timeout_secs,
            max_depth: limits.max_depth,
            max_children: limits.max_children,
            max_tasks: limits.max_tasks,
        }
    }
}

impl<'a> From<&'a StartTaskParams> for Payload<'a> {
    fn from(params: &'a StartTaskParams) -> Self {
        Self {
            conversation_id: params.conversation_id,
            message: &params.message,
            mode: params.mode,
            model: params.model.as_deref(),
            workspace: params.workspace.as_deref(),
            persona: params.persona.as_deref(),
            tools: params.tools.as_deref(),
            limits: Limits::from(&params.limits),
            approvals: params.approvals,
            restart: params.restart,
            metadata: params.metadata.as_ref(),
            client_message_id: (),
            environment: Environment {},
            template: params.template.as_deref(),
            message_mode: params.message_mode.as_deref(),
            messages: &params.messages,
            task_id: params.task_id.as_deref(),
            files: &params.files,
            worktree: params.worktree.as_ref(),
            parent_id: params.parent_id.as_deref(),
            memory: params.memory,
        }
    }
}

/// The stored form: the version, and SHA-256 of the fields' JSON in hex.
pub(super) fn digest(params: &StartTaskParams) -> String {
    let json = serde_json::to_vec(&Payload::from(params)).unwrap_or_default();
    let hex: String = Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{VERSION}{hex}")
}

#[cfg(test)]
mod tests {
    use super::digest;
    use abide_protocol::{
        ConversationId, JsonText,
        memory::MemoryUse,
        method::task::{OwnWorktree, StartTaskParams},
        task::{Approvals, LimitsRequest, Mode, RestartPolicy},
    };
    use uuid::Uuid;

    /// With every field that counts.
    fn full() -> StartTaskParams {
        StartTaskParams {
            conversation_id: Some(ConversationId(Uuid::from_u128(7))),
            message: "paint \"it\" blue".to_owned(),
            mode: Some(Mode::Agent),
            model: Some("a/b".to_owned()),
            workspace: Some("/w".to_owned()),
            persona: Some("painter".to_owned()),
            tools: Some(vec!["read".to_owned()]),
            limits: LimitsRequest { max_steps: Some(3), max_tokens: Some(9), ..LimitsRequest::default() },
            approvals: Approvals::Allow,
            restart: Some(RestartPolicy::Ask),
            metadata: Some(JsonText::parse(r#"{"b":1, "a":2}"#).unwrap()),
            worktree: Some(OwnWorktree::default()),
            template: Some("house".to_owned()),
            message_mode: Some("Task".to_owned()),
            task_id: Some("agent-123".to_owned()),
            files: vec!["a.txt".to_owned()],
            messages: vec![serde_json::from_str(r#"{"role":"user","text":"Hello."}"#).unwrap()],
            ..StartTaskParams::default()
        }
    }

    /// Digests stored by version 0.1.0. If this fails, a request repeated across an upgrade becomes a
    /// conflict.
    #[test]
    fn a_digest_never_changes() {
        let minimal = StartTaskParams { message: "paint it".to_owned(), ..StartTaskParams::default() };
        for (params, stored) in [
            (minimal, "d51059cfba7d03be657152d5e41d5cb991fea7784a4e5c9efe8181630884959e"),
            (full(), "e6b67ef8885da8bc6553fde2691404fbfe64444004cc5b3e98f4a9ed410bb6c6"),
        ] {
            assert_eq!(digest(&params), format!("1:{stored}"));
        }
    }

    #[test]
    fn client_message_id_and_environment_do_not_count() {
        let sent = StartTaskParams { client_message_id: Some("1".to_owned()), ..full() };
        let elsewhere =
            StartTaskParams { environment: [("PATH".to_owned(), "/x".to_owned())].into(), ..sent.clone() };
        assert_eq!(digest(&sent), digest(&full()));
        assert_eq!(digest(&sent), digest(&elsewhere));
        let other = StartTaskParams { message: "paint it red".to_owned(), ..sent.clone() };
        let beneath = StartTaskParams { parent_id: Some("1".to_owned()), ..sent.clone() };
        let private = StartTaskParams { memory: Some(MemoryUse::Private), ..sent.clone() };
        for differs in [other, beneath, private] {
            assert_ne!(digest(&sent), digest(&differs), "{differs:?}");
        }
    }

    #[test]
    fn every_field_of_the_payload_counts() {
        let json = serde_json::to_value(full()).unwrap();
        let fields = json.as_object().unwrap();
        for name in fields.keys().filter(|name| !["clientMessageId", "environment"].contains(&name.as_str()))
        {
            let mut without = fields.clone();
            without.remove(name);
            let without: StartTaskParams = serde_json::from_value(without.into()).unwrap();
            assert_ne!(digest(&without), digest(&full()), "{name}");
        }
    }
}
