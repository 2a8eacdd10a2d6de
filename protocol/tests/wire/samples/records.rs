use super::{at, id, text, things};
use abide_protocol::{
    JsonText, Timestamp,
    checkpoint::{
        CheckpointState, Checkpointed, TakenCheckpoint, UndoBegun, UndoEnded, UndoFrom, UndoResult,
        UndoneFiles,
    },
    inbox::Decision,
    memory::MemoryUse,
    message::CallOutcome,
    record::{
        AgentMessage, ApprovalDecided, By, CallAssessed, CallFinished, CallStarted, ClientMessage,
        ClockMoved, Compacted, CompactedStep, ControlBlock, ConversationArchived, ConversationCreated,
        ConversationDeleted, ConversationUpdated, Direct, DirectOutput, EditHashes, ForkedBy, Imported,
        ImportedReply, InstructionFile, Interruption, Intervened, Intervener, InterventionKind, Joining,
        LimitsRaised, ModelErrorKind, ModelFailed, ModelRequested, ModelTraced, Notice, NoticeKind, Nudge,
        PartialReply, Paused, Permission, PhaseBegan, QuestionAnswered, ReasonBlock, RecordBody as Body,
        ReplyRecord, Restarted, ResultsDelivered, Resumed, RuleRemembered, TaskEnded, TaskStarted, Update,
        UserMessage, Via,
    },
    task::{Approvals, EndReason, Mode, PauseReason, Phase, RestartPolicy},
    transcript::{Block, CallBlock, EffectClass, Reply, Risk, StopReason, TextBlock, Tier, ToolSpec},
};
use std::collections::BTreeMap;

/// Every kind of record, by its name on the wire (`exhaustive` checks that none is missing).
pub(crate) fn all() -> Vec<(&'static str, Body)> {
    conversation()
        .into_iter()
        .chain(messages())
        .chain(model())
        .chain(calls())
        .chain(files())
        .chain(rest())
        .collect()
}

fn conversation() -> Vec<(&'static str, Body)> {
    vec![
        (
            "conversation_created",
            Body::ConversationCreated(ConversationCreated {
                title: "Tidy up".to_owned(),
                workspace: "/home/me/project".to_owned(),
                mode: Some(Mode::Agent),
                model: text("local/smollm2"),
                persona: text("reviewer"),
                memory: MemoryUse::Private,
            }),
        ),
        (
            "conversation_updated",
            Body::ConversationUpdated(ConversationUpdated {
                title: text("Tidier"),
                workspace: text("/home/me/other"),
                mode: Some(Mode::Chat),
                model: None,
                persona: text("writer"),
                muted: Some(true),
                memory: Some(MemoryUse::NoRecall),
            }),
        ),
        ("conversation_archived", Body::ConversationArchived(ConversationArchived { archived: true })),
        ("conversation_deleted", Body::ConversationDeleted(ConversationDeleted { records: 12 })),
        ("task_started", Body::TaskStarted(Box::new(task_started()))),
    ]
}

fn task_started() -> TaskStarted {
    TaskStarted {
        parent_id: Some(id(0x20)),
        mode: Mode::Agent,
        model: "local/smollm2".to_owned(),
        system_prompt: "You are…".to_owned(),
        tools: vec![ToolSpec {
            name: "shell".to_owned(),
            description: "Runs a command.".to_owned(),
            parameters: things::json(r#"{"type":"object","properties":{"command":{"type":"string"}}}"#),
            effect: EffectClass::Unsafe,
            risk: Risk::High,
            tier: Tier::Ask,
        }],
        workspace: "/home/me/project".to_owned(),
        environment: [("LANG".to_owned(), "C.UTF-8".to_owned())].into(),
        limits: things::limits(),
        approvals: Approvals::Allow,
        restart: RestartPolicy::Ask,
        original_prompt: "Tidy up.".to_owned(),
        metadata: Some(things::json("[1, 2.50, 1e400]")),
        client_message: Some(ClientMessage { id: "mine-1".to_owned(), digest: "cd".repeat(32) }),
        depth: 1,
        by: Some(by("abide-gui")),
        prompts: [("reason".to_owned(), "Think about {user_question}.".to_owned())].into(),
        persona: text("reviewer"),
        instructions: vec![InstructionFile {
            path: "AGENTS.md".to_owned(),
            bytes: 12,
            sha256: "ab".repeat(32),
        }],
        title: "Look at the tests".to_owned(),
        forked_by: Some(ForkedBy { call_id: id(0x44), index: 2 }),
        child_system_prompt: text("You are an agent."),
        compact_at_tokens: 60_000,
        external_id: text("agent-123"),
        files: vec!["notes.md".to_owned()],
        checkpoints: true,
        parks: true,
    }
}

fn by(name: &str) -> By {
    By { via: Via::Socket, name: name.to_owned() }
}

fn messages() -> Vec<(&'static str, Body)> {
    vec![
        ("user_message", Body::UserMessage(UserMessage { text: "Tidy up.".to_owned() })),
        ("clock_moved", Body::ClockMoved(ClockMoved { slept_ms: 3_600_000, set_by_ms: -1_500 })),
        ("recalled", Body::Recalled(things::recalled())),
        ("noted", Body::Noted(things::noted())),
        ("notice", Body::Notice(Notice { about: NoticeKind::LimitReached, text: "Stopped.".to_owned() })),
        ("nudge", Body::Nudge(Nudge { text: "Go on.".to_owned(), names_children: true })),
        ("update", Body::Update(Update { call_id: id(0x41), text: "Half done.".to_owned() })),
        ("question_asked", Body::QuestionAsked(things::question())),
        (
            "question_answered",
            Body::QuestionAnswered(QuestionAnswered {
                question_id: id(0x51),
                response: text("this"),
                by: Some(by("")),
            }),
        ),
    ]
}

fn model() -> Vec<(&'static str, Body)> {
    let requested = ModelRequested { item: id(0x33), step: 3, attempt: 2, phase: Some(Phase::Reason) };
    let failed = ModelFailed {
        item: id(0x33),
        attempt: 2,
        kind: ModelErrorKind::RateLimited,
        message: "429".to_owned(),
        retry_at: Some(at(33)),
        sent: true,
    };
    let traced = ModelTraced { item: id(0x33), attempt: 2, traces: vec![things::trace()], left_out: 3 };
    let block = |text: &str, opaque| TextBlock { text: text.to_owned(), opaque };
    let reply = Reply {
        blocks: vec![
            Block::Reasoning(block("hm", Some(things::json(r#"{"signature":"c2ln"}"#)))),
            Block::Text(block("I run it.", None)),
            Block::Call(CallBlock {
                id: id(0x42),
                provider_id: "toolu_01".to_owned(),
                tool: "shell".to_owned(),
                arguments: r#"{"command": "#.to_owned(),
                opaque: None,
            }),
        ],
        api: "anthropic".to_owned(),
        model: "claude".to_owned(),
        stop_reason: StopReason::ToolCalls,
        usage: things::usage(),
    };
    let planned = CallBlock {
        id: id(0x43),
        provider_id: String::new(),
        tool: "read".to_owned(),
        arguments: r#"{"path":"a"}"#.to_owned(),
        opaque: None,
    };
    let reason = ControlBlock::Reason(ReasonBlock {
        plan: "Read, then write.".to_owned(),
        tools_to_consider: vec!["read".to_owned()],
        finish: false,
    });
    vec![
        ("model_requested", Body::ModelRequested(requested)),
        ("model_failed", Body::ModelFailed(failed)),
        (
            "reply",
            Body::Reply(ReplyRecord {
                phase: Some(Phase::Reason),
                control: Some(reason),
                text: text("I run it."),
                calls: vec![planned],
                ..ReplyRecord::new(3, 2, reply)
            }),
        ),
        (
            "phase_began",
            Body::PhaseBegan(PhaseBegan {
                step: 3,
                phase: Phase::Observe,
                text: text("Look at it."),
                asks: true,
            }),
        ),
        ("agent_message", Body::AgentMessage(AgentMessage { text: "42".to_owned() })),
        (
            "imported",
            Body::Imported(Imported::Assistant(ImportedReply {
                text: "I look.".to_owned(),
                calls: vec![CallBlock {
                    id: id(0x43),
                    provider_id: "theirs-1".to_owned(),
                    tool: "read".to_owned(),
                    arguments: r#"{"path":"a"}"#.to_owned(),
                    opaque: None,
                }],
            })),
        ),
        ("joining", Body::Joining(Joining { call_id: id(0x45), tasks: vec![id(0x20), id(0x21)] })),
        (
            "intervened",
            Body::Intervened(Intervened {
                by: Intervener::Task(id(0x20)),
                kind: InterventionKind::Modify,
                comment: "Only the tests.".to_owned(),
                content: text("Tidy up the tests."),
                withdraws: Some(id(0x46)),
            }),
        ),
        ("partial_reply", Body::PartialReply(PartialReply { text: "I ru".to_owned() })),
        ("model_traced", Body::ModelTraced(traced)),
        (
            "compacted",
            Body::Compacted(Compacted {
                elided: vec![id(0x40), id(0x41)],
                steps: vec![CompactedStep { step: 2, text: "Step 2: three files are read.".to_owned() }],
                recalled: true,
            }),
        ),
    ]
}

fn calls() -> Vec<(&'static str, Body)> {
    let assessed = CallAssessed {
        call_id: id(0x42),
        tool: "write".to_owned(),
        arguments: "{}".to_owned(),
        digest: "ef".repeat(32),
        summary: "write it".to_owned(),
        effect: EffectClass::Verifiable,
        risk: Risk::Low,
        preview: Some(things::preview()),
        edit: Some(EditHashes {
            path: "src/a file.rs".to_owned(),
            before: text("00"),
            after: "ff".to_owned(),
            bytes: 12,
        }),
        permission: Permission::Denied("closed folder".to_owned()),
        sandbox: "none".to_owned(),
        rule: Some("shell(ls *)".to_owned()),
        direct: Some(Box::new(Direct {
            program: "/usr/bin/ls".to_owned(),
            arguments: vec!["-l".to_owned()],
            environment: BTreeMap::from([("NO_COLOR".to_owned(), "1".to_owned())]),
            stdout: DirectOutput::Own,
            stderr: DirectOutput::Stdout,
        })),
        wider: vec![things::wider()],
        why: Some("it leaves the sandbox".to_owned()),
        in_passing: true,
        files: vec![things::named_file()],
        only_once: Some("it names `a.sh`, which other calls could change".to_owned()),
        for_task: true,
        notes: vec!["`depth` is no field of `list`; it was left out".to_owned()],
    };
    let decided = ApprovalDecided {
        approval_id: id(0x61),
        call_id: id(0x42),
        decision: Decision::RejectAlways,
        note: text("not that"),
        by: by("abide"),
    };
    let finished = CallFinished {
        call_id: id(0x42),
        attempt: 2,
        outcome: CallOutcome::Rejected,
        result: things::result(),
        duration_ms: 99,
        read_results: vec![id(0x21)],
        usage: Some(things::usage()),
    };
    vec![
        ("call_assessed", Body::CallAssessed(assessed)),
        ("approval_requested", Body::ApprovalRequested(things::approval())),
        ("approval_decided", Body::ApprovalDecided(decided)),
        (
            "rule_remembered",
            Body::RuleRemembered(RuleRemembered { rule: things::rule(), allow: true, text: None }),
        ),
        (
            "call_started",
            Body::CallStarted(CallStarted { call_id: id(0x42), attempt: 2, sandbox: "none".to_owned() }),
        ),
        ("call_finished", Body::CallFinished(finished)),
    ]
}

fn files() -> Vec<(&'static str, Body)> {
    vec![
        (
            "checkpointed",
            Body::Checkpointed(Checkpointed {
                number: 2,
                step: 3,
                state: CheckpointState::Taken(TakenCheckpoint {
                    others: Some(things::saved_tree("ab")),
                    edits: Some(things::saved_tree("ef")),
                    saved: things::saved_tree("cd"),
                }),
            }),
        ),
        (
            "undo_begun",
            Body::UndoBegun(UndoBegun {
                undo: id(0x47),
                undone: id(0x20),
                from: UndoFrom::LastUndo,
                all: true,
                files: vec!["src/main.rs".to_owned()],
                hunk: text("@@ -1 +1 @@\n-a\n+b\n"),
                by: by("abide"),
            }),
        ),
        (
            "undo_ended",
            Body::UndoEnded(UndoEnded {
                undo: id(0x47),
                undone: id(0x20),
                from: UndoFrom::Step(3),
                result: UndoResult::Done(UndoneFiles {
                    before: things::saved_tree("ab"),
                    after: things::saved_tree("cd"),
                    restored: 2,
                    kept: vec![things::kept_file()],
                    notes: vec!["HEAD was main".to_owned()],
                }),
                note: text("It was taken back."),
            }),
        ),
    ]
}

fn rest() -> Vec<(&'static str, Body)> {
    let ended = TaskEnded {
        reason: EndReason::QuestionTimeout,
        summary: text("yes"),
        error: text("no"),
        data: Some(JsonText::parse(r#"{"answer":"yes"}"#.to_owned()).expect("JSON")),
    };
    vec![
        ("paused", Body::Paused(Paused { reason: PauseReason::Budget })),
        ("resumed", Body::Resumed(Resumed { was: PauseReason::Restart })),
        ("limits_raised", Body::LimitsRaised(LimitsRaised { limits: things::limits() })),
        (
            "restarted",
            Body::Restarted(Restarted {
                without_progress: 2,
                cause: Interruption::DaemonRestarted,
                ran_until: Some(Timestamp(7)),
            }),
        ),
        ("task_ended", Body::TaskEnded(ended)),
        (
            "results_delivered",
            Body::ResultsDelivered(ResultsDelivered {
                tasks: vec![id(0x22)],
                text: "It is done.".to_owned(),
            }),
        ),
    ]
}
