//! Fixed values for the renderers' tests.

use abide_client::protocol::{
    ApprovalId, CallId, ConversationId, JsonText, QuestionId, TaskId, Timestamp,
    conversation::Conversation,
    inbox::{Approval, Question, QuestionKind, Rule},
    memory::MemoryUse,
    message::{CallOutcome, CallView},
    task::{AgentTask, CallState, Limits, Mode, Status},
    transcript::{Risk, ToolResult, Usage},
};
use uuid::Uuid;

pub(crate) const START: Timestamp = Timestamp(1_700_000_000_000);

pub(crate) fn task() -> AgentTask {
    AgentTask {
        id: TaskId(Uuid::from_u128(1)),
        conversation_id: ConversationId(Uuid::from_u128(2)),
        parent_id: None,
        mode: Mode::Agent,
        model: "demo/demo".into(),
        status: Status::Thinking,
        end_reason: None,
        pause_reason: None,
        original_prompt: String::new(),
        scratchpad: Vec::new(),
        step_count: 3,
        phase: None,
        started_at: START,
        ended_at: None,
        pending: Vec::new(),
        active_calls: Vec::new(),
        error_message: None,
        summary: None,
        usage: Usage { input: 1000, output: 234, model_calls: 3, ..Usage::default() },
        limits: Limits::default(),
        metadata: None,
        children: Vec::new(),
        incomplete: None,
        retry: None,
        work: abide_client::protocol::task::Work { ms: 0, since: None },
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
        approvals: abide_client::protocol::task::Approvals::Ask,
    }
}

pub(crate) fn conversation() -> Conversation {
    Conversation {
        id: ConversationId(Uuid::from_u128(2)),
        title: "Tidy up".into(),
        workspace: "/home/me/app".into(),
        mode: Some(Mode::Agent),
        model: None,
        persona: None,
        created_at: START,
        updated_at: START,
        archived: false,
        muted: false,
        memory: MemoryUse::Normal,
        unread: 0,
        task: None,
    }
}

pub(crate) fn question() -> Question {
    Question {
        id: QuestionId(Uuid::from_u128(4)),
        kind: QuestionKind::Agent,
        at: START,
        text: "Which colour?".into(),
        choices: vec!["red".into(), "blue".into()],
        call_id: None,
        expires_at: None,
    }
}

pub(crate) fn approval() -> Approval {
    let arguments = JsonText::parse(r#"{"command":"rm -rf build","timeout_secs":60}"#).unwrap();
    Approval {
        id: ApprovalId(Uuid::from_u128(5)),
        call_id: CallId(Uuid::from_u128(6)),
        at: START,
        tool: "shell".into(),
        summary: "rm -rf build".into(),
        arguments: arguments.clone(),
        workspace: "/home/me/app".into(),
        preview: None,
        risk: Risk::High,
        sandbox: "none".into(),
        rule: Rule { tool: "shell".into(), arguments, workspace: "/home/me/app".into() },
        digest: String::new(),
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
    }
}

/// A call that finished after 12 ms.
pub(crate) fn call() -> CallView {
    CallView {
        call_id: CallId(Uuid::from_u128(6)),
        seq: abide_client::protocol::Seq(10),
        conversation_id: ConversationId(Uuid::from_u128(2)),
        task_id: TaskId(Uuid::from_u128(1)),
        tool: "read".into(),
        summary: "src/main.rs".into(),
        arguments: "{}".into(),
        preview: None,
        state: CallState::Finished,
        attempt: 1,
        started_at: Some(START),
        ended_at: Some(START.plus(12)),
        outcome: Some(CallOutcome::Done),
        result: Some(ToolResult::success("120 lines\nand more", None)),
        permission: abide_client::protocol::record::Permission::Ask,
    }
}
