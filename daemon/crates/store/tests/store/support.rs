//! A store in a folder of its own, and records to put in it.

use abide_protocol::{
    ApprovalId, CallId, ConversationId, JsonText, QuestionId, RecordId, TaskId, Timestamp,
    inbox::{Approval, Pending, Question, QuestionKind, Rule},
    memory::MemoryUse,
    message::CallOutcome,
    record::*,
    task::{AgentTask, Approvals, EndReason, Limits, Mode, RestartPolicy, Status},
    transcript::{Block, CallBlock, EffectClass, Reply, Risk, StopReason, TextBlock, ToolResult, Usage},
};
use abide_store::{Append, Committed, Options, Store, TaskProjection};
use rusqlite::{Connection, params};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) told: Arc<Mutex<Vec<Committed>>>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), told: Arc::default() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("data").join("abide.db")
    }

    pub(crate) fn open(&self) -> Store {
        let told = Arc::clone(&self.told);
        let sink = move |committed: &Committed| told.lock().unwrap().push(committed.clone());
        Store::open(options(&self.path()), Box::new(sink)).unwrap()
    }

    /// What the sink got since the last call.
    pub(crate) fn told(&self) -> Vec<Committed> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

/// Gives each record the checksum of what it says now.
pub(crate) fn reseal(database: &Connection) {
    let mut statement =
        database.prepare("SELECT seq, id, conversation, task, at, kind, version, body FROM records").unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let mut hasher = crc32fast::Hasher::new();
        let (seq, at, version): (i64, i64, u32) =
            (row.get(0).unwrap(), row.get(4).unwrap(), row.get(6).unwrap());
        hasher.update(&seq.to_le_bytes());
        for column in 1..=3 {
            hasher.update(&row.get::<_, Option<Vec<u8>>>(column).unwrap().unwrap_or_default());
        }
        hasher.update(&at.to_le_bytes());
        hasher.update(&version.to_le_bytes());
        let (kind, body): (String, String) = (row.get(5).unwrap(), row.get(7).unwrap());
        hasher.update(&(kind.len() as u64).to_le_bytes());
        hasher.update(kind.as_bytes());
        hasher.update(body.as_bytes());
        let sealed = params![seq, hasher.finalize()];
        database.execute("UPDATE records SET checksum = ?2 WHERE seq = ?1", sealed).unwrap();
    }
}

pub(crate) fn options(path: &Path) -> Options {
    Options { path: path.to_owned(), reserve_bytes: 0, readers: 2 }
}

/// Ids that show their group and number.
pub(crate) fn uuid(group: u64, n: u64) -> Uuid {
    Uuid::from_u64_pair(group, n)
}

pub(crate) fn conversation(n: u64) -> ConversationId {
    ConversationId(uuid(0xc0, n))
}

pub(crate) fn task_id(n: u64) -> TaskId {
    TaskId(uuid(0x7a, n))
}

pub(crate) fn call_id(n: u64) -> CallId {
    CallId(uuid(0xca, n))
}

pub(crate) fn question_id(n: u64) -> QuestionId {
    QuestionId(uuid(0x90, n))
}

pub(crate) fn approval_id(n: u64) -> ApprovalId {
    ApprovalId(uuid(0xa9, n))
}

/// A record whose id and time are `n`.
pub(crate) fn record(n: u64, task: Option<u64>, body: RecordBody) -> NewRecord {
    NewRecord {
        id: RecordId(uuid(0x4e, n)),
        task_id: task.map(task_id),
        at: Timestamp(n.cast_signed()),
        body,
    }
}

pub(crate) fn append(conversation_id: ConversationId, records: Vec<NewRecord>) -> Append {
    Append { conversation_id, records, tasks: Vec::new(), urgent: false }
}

pub(crate) fn created(title: &str) -> RecordBody {
    RecordBody::ConversationCreated(ConversationCreated {
        title: title.to_owned(),
        workspace: "/w".to_owned(),
        mode: Some(Mode::Agent),
        model: None,
        persona: None,
        memory: MemoryUse::Normal,
    })
}

pub(crate) fn notice(text: &str) -> RecordBody {
    RecordBody::Notice(Notice { about: NoticeKind::Stopped, text: text.to_owned() })
}

pub(crate) fn user(text: &str) -> RecordBody {
    RecordBody::UserMessage(UserMessage { text: text.to_owned() })
}

pub(crate) fn task_started(client_message: Option<ClientMessage>) -> RecordBody {
    RecordBody::TaskStarted(Box::new(TaskStarted { client_message, ..head() }))
}

/// A task beneath `parent`.
pub(crate) fn started_beneath(parent: u64) -> RecordBody {
    RecordBody::TaskStarted(Box::new(TaskStarted { parent_id: Some(task_id(parent)), depth: 1, ..head() }))
}

/// A task's first record with this external id.
pub(crate) fn task_named(external_id: Option<&str>) -> RecordBody {
    let external_id = external_id.map(str::to_owned);
    RecordBody::TaskStarted(Box::new(TaskStarted { external_id, ..head() }))
}

fn head() -> TaskStarted {
    TaskStarted {
        parks: true,
        parent_id: None,
        mode: Mode::Agent,
        model: "test/model".to_owned(),
        system_prompt: "system".to_owned(),
        tools: Vec::new(),
        workspace: "/w".to_owned(),
        environment: [("LANG".to_owned(), "C".to_owned())].into(),
        limits: Limits::default(),
        approvals: Approvals::Ask,
        restart: RestartPolicy::Resume,
        original_prompt: "do it".to_owned(),
        metadata: Some(JsonText::parse(r#"{"b":1, "a":2}"#).unwrap()),
        client_message: None,
        depth: 0,
        by: None,
        prompts: std::collections::BTreeMap::new(),
        persona: None,
        instructions: Vec::new(),
        compact_at_tokens: 0,
        external_id: None,
        files: Vec::new(),
        checkpoints: false,
        title: String::new(),
        forked_by: None,
        child_system_prompt: None,
    }
}

pub(crate) fn client_message(id: &str) -> Option<ClientMessage> {
    Some(ClientMessage { id: id.to_owned(), digest: format!("digest of {id}") })
}

pub(crate) fn reply(text: &str, calls: &[(u64, &str, &str)]) -> RecordBody {
    let text = Block::Text(TextBlock { text: text.to_owned(), opaque: None });
    let calls = calls.iter().map(|(n, tool, arguments)| {
        Block::Call(CallBlock {
            id: call_id(*n),
            provider_id: format!("call_{n}"),
            tool: (*tool).to_owned(),
            arguments: (*arguments).to_owned(),
            opaque: Some(JsonText::parse(r#"{"z": 1,"a":1.0}"#).unwrap()),
        })
    });
    RecordBody::Reply(ReplyRecord::new(
        1,
        1,
        Reply {
            blocks: [text].into_iter().chain(calls).collect(),
            api: "scripted".to_owned(),
            model: "model".to_owned(),
            stop_reason: StopReason::ToolCalls,
            usage: Usage::default(),
        },
    ))
}

pub(crate) fn assessed(n: u64, arguments: &str) -> RecordBody {
    RecordBody::CallAssessed(CallAssessed {
        call_id: call_id(n),
        tool: "shell".to_owned(),
        arguments: arguments.to_owned(),
        summary: format!("run call {n}"),
        effect: EffectClass::Unsafe,
        risk: Risk::High,
        preview: None,
        edit: None,
        digest: "digest".to_owned(),
        permission: Permission::Ask,
        sandbox: "none".to_owned(),
        rule: None,
        direct: None,
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
        notes: Vec::new(),
    })
}

pub(crate) fn started(n: u64, attempt: u32) -> RecordBody {
    RecordBody::CallStarted(CallStarted { call_id: call_id(n), attempt, sandbox: "none".to_owned() })
}

pub(crate) fn finished(n: u64, attempt: u32) -> RecordBody {
    RecordBody::CallFinished(CallFinished {
        call_id: call_id(n),
        attempt,
        outcome: CallOutcome::Done,
        result: ToolResult::success(format!("call {n} is done"), None),
        duration_ms: 5,
        read_results: Vec::new(),
        usage: None,
    })
}

pub(crate) fn approval(n: u64, call: u64) -> Approval {
    Approval {
        id: approval_id(n),
        call_id: call_id(call),
        at: Timestamp(n.cast_signed()),
        tool: "shell".to_owned(),
        summary: format!("run call {call}"),
        arguments: JsonText::empty(),
        workspace: "/w".to_owned(),
        preview: None,
        risk: Risk::High,
        sandbox: "none".to_owned(),
        rule: rule("{}"),
        digest: "digest".to_owned(),
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
    }
}

pub(crate) fn question(n: u64, call: Option<u64>) -> Question {
    Question {
        id: question_id(n),
        kind: QuestionKind::Agent,
        at: Timestamp(n.cast_signed()),
        text: format!("question {n}?"),
        choices: vec!["yes".to_owned(), "no".to_owned()],
        call_id: call.map(call_id),
        expires_at: None,
    }
}

pub(crate) fn rule(arguments: &str) -> Rule {
    Rule {
        tool: "shell".to_owned(),
        arguments: JsonText::parse(arguments).unwrap(),
        workspace: "/w".to_owned(),
    }
}

pub(crate) fn answered(n: u64) -> RecordBody {
    RecordBody::QuestionAnswered(QuestionAnswered {
        question_id: question_id(n),
        response: Some("yes".to_owned()),
        by: None,
    })
}

pub(crate) fn ended() -> RecordBody {
    RecordBody::TaskEnded(TaskEnded::of(EndReason::Completed))
}

/// A task that started at time `n`.
pub(crate) fn task(conversation: ConversationId, n: u64, status: Status, pending: Vec<Pending>) -> AgentTask {
    AgentTask {
        id: task_id(n),
        conversation_id: conversation,
        parent_id: None,
        mode: Mode::Agent,
        model: "test/model".to_owned(),
        status,
        end_reason: None,
        pause_reason: None,
        original_prompt: "do it".to_owned(),
        scratchpad: vec!["a thought".to_owned()],
        step_count: 1,
        phase: None,
        started_at: Timestamp(n.cast_signed()),
        ended_at: None,
        pending,
        active_calls: Vec::new(),
        error_message: None,
        summary: None,
        usage: Usage::default(),
        limits: Limits::default(),
        metadata: Some(JsonText::parse(r#"{"b":1, "a":2}"#).unwrap()),
        children: Vec::new(),
        incomplete: None,
        retry: None,
        work: abide_protocol::task::Work { ms: 0, since: None },
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
        approvals: abide_protocol::task::Approvals::Ask,
    }
}

pub(crate) fn projection(task: AgentTask) -> TaskProjection {
    let needs_daemon = matches!(task.status, Status::Running | Status::Thinking | Status::ToolExecuting);
    TaskProjection { task, wake_at: None, needs_daemon }
}

/// Creates conversation `n`; its first record has the id `first`.
pub(crate) async fn begin(store: &Store, n: u64, first: u64) -> ConversationId {
    let id = conversation(n);
    store.append(append(id, vec![record(first, None, created(&format!("title {n}")))])).await.unwrap();
    id
}

/// Starts task `n` in that conversation; its record has the id `n`.
pub(crate) async fn start(store: &Store, id: ConversationId, n: u64, status: Status) {
    let append = Append {
        tasks: vec![projection(task(id, n, status, Vec::new()))],
        ..append(id, vec![record(n, Some(n), task_started(None))])
    };
    store.append(append).await.unwrap();
}
