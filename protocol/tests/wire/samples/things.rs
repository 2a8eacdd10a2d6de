use super::{at, id, text};
use abide_protocol::{
    JsonText, RecordId, Seq,
    checkpoint::{KeptFile, SavedTree, UndoFrom},
    conversation::{Conversation, LatestTask},
    event::{
        CompactedEvent, EndedEvent, Event, EventKind, ModelFailedEvent, ModelTracedEvent, PhaseEvent,
        RuleEvent, StartedEvent, StepEvent, UndoneEvent,
    },
    inbox::{
        Approval, Changed, InboxItem, NamedFile, Pending, Preview, Question, QuestionKind, Rule, RuleEffect,
        TextRule, WiderRule,
    },
    memory::{MemoryUse, Reason, RecallWay, Snippet, Source},
    message::{CallOutcome, CallView, Message, MessageKind, Role},
    record::{InstructionFile, ModelErrorKind, Noted, Permission, Recalled, Record, RecordBody, Trace},
    task::{
        ActiveCall, AgentTask, Approvals, CallState, EndReason, Incomplete, Limits, Mode, PauseReason, Phase,
        Retry, Status, Tree, Work,
    },
    transcript::{Risk, ToolResult, Usage},
};

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(crate) fn usage() -> Usage {
    Usage {
        input: 101,
        output: 102,
        cache_read: 103,
        cache_write: 104,
        reasoning: 105,
        model_calls: 106,
        cost_micros: Some(107),
    }
}

pub(crate) fn limits() -> Limits {
    Limits {
        max_steps: 11,
        max_duration_secs: 12,
        step_delay_ms: 13,
        max_tokens: 14,
        max_cost_micros: 15,
        question_timeout_secs: 16,
        max_depth: 17,
        max_children: 18,
        max_tasks: 19,
    }
}

pub(crate) fn preview() -> Box<Preview> {
    Box::new(Preview {
        path: "src/a file.rs".to_owned(),
        diff: "-old\n+new\n".to_owned(),
        changed: Some(Changed { added: 1, removed: 1 }),
    })
}

pub(crate) fn rule() -> Rule {
    Rule {
        tool: "shell".to_owned(),
        arguments: json(r#"{"command":"cargo test","n":1.50}"#),
        workspace: "/home/me/project".to_owned(),
    }
}

pub(crate) fn question() -> Question {
    Question {
        id: id(0x51),
        kind: QuestionKind::Agent,
        at: at(51),
        text: "Which one?".to_owned(),
        choices: vec!["this".to_owned(), "that".to_owned()],
        call_id: Some(id(0x41)),
        expires_at: Some(at(52)),
    }
}

pub(crate) fn approval() -> Approval {
    Approval {
        id: id(0x61),
        call_id: id(0x42),
        at: at(61),
        tool: "write".to_owned(),
        summary: "write src/a file.rs".to_owned(),
        arguments: json(r#"{"path":"src/a file.rs","content":"a\nb\"c\" \u00fc"}"#),
        workspace: "/home/me/project".to_owned(),
        preview: Some(preview()),
        risk: Risk::Medium,
        sandbox: "none".to_owned(),
        rule: rule(),
        digest: "ab".repeat(32),
        wider: vec![wider()],
        why: Some("it leaves the sandbox".to_owned()),
        in_passing: true,
        files: vec![named_file()],
        only_once: Some("it names `a.sh`, which other calls could change".to_owned()),
        for_task: true,
    }
}

pub(crate) fn inbox() -> Vec<InboxItem> {
    [Pending::Question(question()), Pending::Approval(approval())]
        .map(|pending| InboxItem {
            task_id: id(0x21),
            conversation_id: id(0x11),
            conversation_title: "Tidy up".to_owned(),
            pending,
            root_id: Some(id(0x20)),
            title: "Tidy up the tests".to_owned(),
            depth: 1,
        })
        .into()
}

pub(crate) fn snippet() -> Snippet {
    Snippet {
        conversation_id: id(0x12),
        title: "Ports".to_owned(),
        seq: Seq(77),
        at: at(1),
        source: Source::Agent,
        before: "Which port?".to_owned(),
        text: "It listens on 8080.".to_owned(),
        why: vec![Reason::Words(2), Reason::Meaning(1), Reason::Newest],
    }
}

pub(crate) fn recalled() -> Recalled {
    Recalled { form: 1, how: RecallWay::Words, snippets: vec![snippet()], problem: text("it is slow") }
}

pub(crate) fn noted() -> Noted {
    Noted { text: "Tests need a display.".to_owned() }
}

pub(crate) fn conversation() -> Conversation {
    Conversation {
        id: id(0x11),
        title: "Tidy up".to_owned(),
        workspace: "/home/me/project".to_owned(),
        mode: Some(Mode::Agent),
        model: text("local/smollm2"),
        persona: text("reviewer"),
        created_at: at(1),
        updated_at: at(2),
        archived: true,
        muted: true,
        memory: MemoryUse::NoRecall,
        unread: 3,
        task: Some(LatestTask {
            id: id(0x21),
            status: Status::WaitingApproval,
            end_reason: Some(EndReason::StepLimit),
            incomplete: Some(Incomplete::Length),
        }),
    }
}

/// No task can be in this state: every field is filled.
pub(crate) fn task() -> AgentTask {
    AgentTask {
        id: id(0x21),
        conversation_id: id(0x11),
        parent_id: Some(id(0x20)),
        mode: Mode::Chat,
        model: "local/smollm2".to_owned(),
        status: Status::WaitingUser,
        end_reason: Some(EndReason::StepLimit),
        pause_reason: Some(PauseReason::CrashLoop),
        original_prompt: "Tidy up.\nThen rest.".to_owned(),
        scratchpad: vec!["first".to_owned(), "second".to_owned()],
        step_count: 4,
        phase: Some(Phase::Observe),
        started_at: at(21),
        ended_at: Some(at(22)),
        pending: vec![Pending::Question(question()), Pending::Approval(approval())],
        active_calls: vec![ActiveCall {
            call_id: id(0x41),
            tool: "ask_user".to_owned(),
            summary: "ask".to_owned(),
            state: CallState::WaitingUser,
            started_at: Some(at(23)),
            attempt: 2,
        }],
        error_message: text("no"),
        summary: text("yes"),
        usage: usage(),
        limits: limits(),
        metadata: Some(json(r#"{"ticket":[1,2,{"deep":null}]}"#)),
        children: vec![id(0x22), id(0x23)],
        incomplete: Some(Incomplete::Length),
        retry: Some(Retry {
            attempt: 3,
            of: 12,
            kind: ModelErrorKind::Overloaded,
            reason: "529".to_owned(),
            next_at: at(24),
        }),
        work: Work { ms: 1500, since: Some(at(25)) },
        external_id: text("agent-123"),
        title: "Look at the tests".to_owned(),
        depth: 1,
        tree: Some(Box::new(Tree { live: 2, ended: 1, waiting: 1, usage: usage() })),
        data: Some(Box::new(JsonText::parse(r#"{"answer":"yes"}"#.to_owned()).expect("JSON"))),
        approvals: Approvals::AllowEdits,
    }
}

pub(crate) fn message() -> Message {
    Message {
        id: id(0x31),
        seq: Seq(1001),
        conversation_id: id(0x11),
        task_id: Some(id(0x21)),
        at: at(31),
        role: Role::Agent,
        kind: MessageKind::Question,
        text: "Grüße, \"you\"\u{1f980}\n\tend".to_owned(),
        reasoning: text("because"),
        question_id: Some(id(0x51)),
    }
}

/// One of each kind.
pub(crate) fn started() -> StartedEvent {
    StartedEvent {
        parent_id: Some(id(0x22)),
        mode: Mode::Agent,
        model: "local/smollm2".to_owned(),
        persona: Some("coder".to_owned()),
        instructions: vec![InstructionFile {
            path: "AGENTS.md".to_owned(),
            bytes: 1200,
            sha256: "0".repeat(64),
        }],
    }
}

pub(crate) fn events() -> Vec<Event> {
    let kinds = [
        EventKind::TaskStarted(started()),
        EventKind::StepBegan(StepEvent { step: 3 }),
        EventKind::PhaseBegan(PhaseEvent { step: 3, phase: Phase::Reason }),
        EventKind::Undone(UndoneEvent {
            undone: id(0x21),
            from: UndoFrom::Step(3),
            restored: 2,
            kept: vec![kept_file()],
            error: text("no"),
        }),
        EventKind::ModelFailed(ModelFailedEvent {
            kind: ModelErrorKind::RateLimited,
            message: "429".to_owned(),
            retry_at: Some(at(33)),
        }),
        EventKind::Paused(PauseReason::CrashLoop),
        EventKind::Resumed(PauseReason::Budget),
        EventKind::LimitsRaised(limits()),
        EventKind::Compacted(CompactedEvent { outputs: 4, steps: 2, recalled: true }),
        EventKind::RuleRemembered(RuleEvent { rule: rule(), allow: true, text: None }),
        EventKind::Restarted,
        EventKind::TaskEnded(EndedEvent {
            reason: EndReason::Completed,
            summary: text("yes"),
            error: text("no"),
        }),
        EventKind::ModelTraced(ModelTracedEvent { attempt: 2, traces: vec![trace()], count: 4 }),
        EventKind::Recalled(recalled()),
        EventKind::Noted(noted()),
    ];
    let event = |(n, kind)| Event { seq: Seq(n), task_id: Some(id(0x21)), at: at(44), kind };
    (1010..).zip(kinds).map(event).collect()
}

pub(crate) fn trace() -> Trace {
    Trace { what: "an event of an unknown kind".to_owned(), raw: "{\"type\":\"surprise\"}".to_owned() }
}

pub(crate) fn result() -> ToolResult {
    ToolResult {
        ok: true,
        data: Some(json(r#"{"stdout":"ok\n","exit_code":0}"#)),
        message: "exit code 0".to_owned(),
        diagnostics: vec!["the output was cut".to_owned()],
    }
}

pub(crate) fn call() -> CallView {
    CallView {
        call_id: id(0x42),
        seq: Seq(1002),
        conversation_id: id(0x11),
        task_id: id(0x21),
        tool: "shell".to_owned(),
        summary: "cargo test".to_owned(),
        arguments: r#"{"command": "cargo test""#.to_owned(),
        preview: Some(preview()),
        state: CallState::Finished,
        attempt: 3,
        started_at: Some(at(42)),
        ended_at: Some(at(43)),
        outcome: Some(CallOutcome::Interrupted),
        result: Some(result()),
        permission: Permission::Rule,
    }
}

pub(crate) fn record(body: RecordBody) -> Record {
    Record {
        seq: Seq(1003),
        id: id::<RecordId>(0x32),
        conversation_id: id(0x11),
        task_id: Some(id(0x21)),
        at: at(32),
        body,
    }
}

pub(crate) fn named_file() -> NamedFile {
    NamedFile { path: "a.sh".to_owned(), bytes: 12, sha256: "ab".repeat(32) }
}

pub(crate) fn wider() -> WiderRule {
    WiderRule { text: "shell(ls *)".to_owned(), matches: "`ls`, alone or with any further words".to_owned() }
}

pub(crate) fn text_rule() -> TextRule {
    TextRule { text: "shell(git push *)".to_owned(), workspace: "/w".to_owned(), effect: RuleEffect::Deny }
}

pub(super) fn kept_file() -> KeptFile {
    KeptFile { perhaps_yours: true, ..KeptFile::because("src/b.rs", "it was changed since") }
}

pub(super) fn saved_tree(byte: &str) -> SavedTree {
    SavedTree { commit: byte.repeat(20), tree: byte.repeat(20) }
}
