//! Named states of the window, built from snapshots, records and deltas as a daemon would send them.

use abide_client::{
    Update,
    protocol::{
        ApprovalId, CallId, ConversationId, JsonText, QuestionId, RecordId, Seq, SubscriptionId, TaskId,
        Timestamp,
        conversation::{Conversation, LatestTask},
        inbox::{Approval, InboxItem, Pending, Preview, Question, QuestionKind, Rule},
        memory::MemoryUse,
        message::{CallOutcome, CallView, Message as Said, MessageKind, Role},
        notification::{
            DaemonUpdate, DeltaItem, DeltaKind, Notification, Partial, Snapshot, TaskDelta, TaskMessage,
        },
        record::Permission,
        task::{
            ActiveCall, AgentTask, Approvals, CallState, EndReason, Limits, Mode, PauseReason, Status, Work,
        },
        transcript::{Risk, ToolResult, Usage},
    },
};
use abide_gui::{App, Message, screen::sidebar};
use abide_host::Home;
use uuid::Uuid;

/// The time at which the tests begin: noon of a day.
pub(crate) const NOW: Timestamp = Timestamp(1_767_225_600_000);

pub(crate) const fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

pub(crate) const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(1));
pub(crate) const TASK: TaskId = TaskId(Uuid::from_u128(2));
pub(crate) const APPROVAL: ApprovalId = ApprovalId(Uuid::from_u128(3));
pub(crate) const OTHER_APPROVAL: ApprovalId = ApprovalId(Uuid::from_u128(6));
pub(crate) const QUESTION: QuestionId = QuestionId(Uuid::from_u128(4));
pub(crate) const REPLY: RecordId = RecordId(Uuid::from_u128(5));

/// A window with a home folder of its own, not connected to a daemon.
pub(crate) struct Window {
    pub(crate) app: App,
    _home: tempfile::TempDir,
}

impl Window {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let app = App::open(&Home::at(home.path()), || NOW);
        Self { app, _home: home }
    }

    /// Sends the window a message. The iced task that it returns is not run.
    pub(crate) fn tell(&mut self, message: Message) {
        drop(self.app.update(message));
    }

    pub(crate) fn overview(&mut self, snapshot: Snapshot) {
        self.tell(Message::Overview(vec![Update::Snapshot(Box::new(snapshot))]));
    }

    pub(crate) fn notify(&mut self, notification: Notification) {
        self.tell(Message::Conversation(CONVERSATION, vec![Update::Notification(notification)]));
    }

    /// Opens the conversation with this snapshot.
    pub(crate) fn with(task: AgentTask, inbox: Vec<InboxItem>, snapshot: Snapshot) -> Self {
        let mut window = Self::new();
        let about = conversation(&task);
        let live = if task.status.has_ended() { Vec::new() } else { vec![task.clone()] };
        window.overview(Snapshot {
            conversations: vec![about.clone()],
            tasks: live,
            inbox: inbox.clone(),
            ..empty()
        });
        window.tell(Message::Sidebar(sidebar::Message::Selected(CONVERSATION)));
        let snapshot = Snapshot { conversations: vec![about], tasks: vec![task], inbox, ..snapshot };
        window.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot))]));
        window
    }
}

pub(crate) fn empty() -> Snapshot {
    Snapshot {
        seq: Seq(100_000),
        conversations: Vec::new(),
        tasks: Vec::new(),
        inbox: Vec::new(),
        messages: Vec::new(),
        calls: Vec::new(),
        events: Vec::new(),
        partials: Vec::new(),
        daemon: DaemonUpdate::default(),
    }
}

pub(crate) fn conversation(task: &AgentTask) -> Conversation {
    Conversation {
        id: CONVERSATION,
        title: "Fix flaky login test".into(),
        workspace: "/home/me/src/web".into(),
        mode: Some(Mode::Agent),
        model: Some("openai/gpt-5".into()),
        persona: None,
        created_at: NOW,
        updated_at: NOW,
        archived: false,
        muted: false,
        memory: MemoryUse::Normal,
        unread: 0,
        task: Some(LatestTask::from(task)),
    }
}

pub(crate) fn task(status: Status) -> AgentTask {
    AgentTask {
        id: TASK,
        conversation_id: CONVERSATION,
        parent_id: None,
        mode: Mode::Agent,
        model: "openai/gpt-5".into(),
        status,
        end_reason: None,
        pause_reason: (status == Status::Paused).then_some(PauseReason::User),
        original_prompt: String::new(),
        scratchpad: Vec::new(),
        step_count: 5,
        phase: None,
        started_at: Timestamp(NOW.0 - 93_000),
        ended_at: None,
        pending: Vec::new(),
        active_calls: Vec::new(),
        error_message: None,
        summary: None,
        usage: Usage {
            input: 20_000,
            output: 2_480,
            model_calls: 5,
            cost_micros: Some(91_000),
            ..Usage::default()
        },
        limits: Limits::default(),
        metadata: None,
        children: Vec::new(),
        incomplete: None,
        retry: None,
        work: match status.has_ended() {
            true => Work { ms: 93_000, since: None },
            false => Work { ms: 0, since: Some(Timestamp(NOW.0 - 93_000)) },
        },
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
        approvals: Approvals::Ask,
    }
}

pub(crate) fn said(seq: u64, role: Role, text: &str) -> Said {
    Said {
        id: RecordId(id(1000 + u128::from(seq))),
        seq: Seq(seq),
        conversation_id: CONVERSATION,
        task_id: Some(TASK),
        at: NOW,
        role,
        kind: MessageKind::Text,
        text: text.into(),
        reasoning: None,
        question_id: None,
    }
}

pub(crate) fn call(seq: u64, tool: &str, summary: &str) -> CallView {
    CallView {
        call_id: CallId(id(5000 + u128::from(seq))),
        seq: Seq(seq),
        conversation_id: CONVERSATION,
        task_id: TASK,
        tool: tool.into(),
        summary: summary.into(),
        arguments: format!("{{\"command\":\"{summary}\"}}"),
        preview: None,
        state: CallState::Finished,
        attempt: 1,
        started_at: Some(Timestamp(NOW.0 - 41_000)),
        ended_at: Some(NOW),
        outcome: Some(CallOutcome::Done),
        result: Some(ToolResult::success("exit 0", None)),
        permission: Permission::Ask,
    }
}

fn talk() -> Vec<Said> {
    vec![
        said(1, Role::User, "login_test fails one time in ten on CI. Find out why and mend it."),
        said(2, Role::Agent, "I'll run it 50 times first, so that I know what I'm looking at."),
        said(
            4,
            Role::Agent,
            "Six of 50 runs fail, always at `session.rs:88`: the cookie's expiry is compared with a clock read twice.\n\n\
             - the first read happens before the TLS handshake,\n- the second after it.\n\n```rust\nlet now = clock.now();\n```",
        ),
    ]
}

fn calls() -> Vec<CallView> {
    let mut patch = call(5, "patch", "patch Cargo.toml");
    patch.preview = Some(Box::new(Preview {
        path: "Cargo.toml".into(),
        diff: "--- a/Cargo.toml\n+++ b/Cargo.toml\n@@ -1 +1 @@\n-rusqlite = \"0.39\"\n+rusqlite = \"0.41\""
            .into(),
        changed: None,
    }));
    vec![call(3, "shell", "for i in $(seq 50); do cargo test login_test -q; done"), patch]
}

pub(crate) fn history() -> Snapshot {
    Snapshot { messages: talk(), calls: calls(), ..empty() }
}

/// Connected to a daemon without conversations.
pub(crate) fn nothing() -> Window {
    let mut window = Window::new();
    window.overview(empty());
    window
}

/// Text that is hard to lay out: endless words, other scripts, emoji, invisible characters, a command as long
/// as a page.
pub(crate) fn hard_words() -> Window {
    let endless =
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(3);
    let others = "日本語の文章：これは長い一行です。中文：测试失败了十分之一。한국어: 시험이 실패합니다. Ελληνικά, русский, \
                  עברית, العربية. 👍🏽 🧪 👩‍💻 ✅";
    let messages = vec![
        said(1, Role::User, &format!("{endless} {others}")),
        said(
            2,
            Role::Agent,
            &format!(
                "# {others}\n\n{endless}\n\n- {others}\n- `{endless}`\n\n```\n{others}\n{endless}\n```\n\n\
                 An override that turns text round: \u{202e}exe.cod\u{202c}, and a bell: \u{7}."
            ),
        ),
    ];
    let mut hostile = call(3, "shell", &format!("echo {endless} \u{1b}[31m\u{202e}{others}"));
    hostile.result = Some(ToolResult::failure(format!("{endless}\n{others}")));
    let snapshot = Snapshot { messages, calls: vec![hostile], ..empty() };
    let item = waiting(Pending::Question(Question { text: format!("{others} {endless}"), ..question() }));
    Window::with(task(Status::WaitingUser), vec![item], snapshot)
}

pub(crate) fn streaming() -> Window {
    let partial = Partial {
        conversation_id: CONVERSATION,
        task_id: TASK,
        item: DeltaItem::Reply(REPLY),
        attempt: 1,
        kind: DeltaKind::Text,
        offset: 0,
        text: "That explains why only ".into(),
    };
    Window::with(task(Status::Thinking), Vec::new(), Snapshot { partials: vec![partial], ..history() })
}

pub(crate) fn delta(offset: u64, text: &str) -> Notification {
    Notification::TaskDelta(TaskDelta {
        subscription_id: SubscriptionId(1),
        conversation_id: CONVERSATION,
        task_id: TASK,
        item: DeltaItem::Reply(REPLY),
        attempt: 1,
        kind: DeltaKind::Text,
        offset,
        text: text.into(),
    })
}

pub(crate) fn message(said: Said) -> Notification {
    Notification::TaskMessage(TaskMessage {
        subscription_id: SubscriptionId(1),
        seq: said.seq,
        message: said,
    })
}

pub(crate) fn tool_running() -> Window {
    let mut running = call(6, "shell", "cargo test --workspace");
    running.state = CallState::Running;
    running.ended_at = None;
    running.outcome = None;
    running.result = None;
    running.started_at = Some(Timestamp(NOW.0 - 12_000));
    let mut task = task(Status::ToolExecuting);
    task.active_calls = vec![ActiveCall {
        call_id: running.call_id,
        tool: running.tool.clone(),
        summary: running.summary.clone(),
        state: CallState::Running,
        started_at: running.started_at,
        attempt: 1,
    }];
    let partial = Partial {
        conversation_id: CONVERSATION,
        task_id: TASK,
        item: DeltaItem::Call(running.call_id),
        attempt: 1,
        kind: DeltaKind::Output,
        offset: 0,
        text: "   Compiling web v0.4.1\n    Finished `test` profile in 9.84s\ntest login_test ... ok\n"
            .into(),
    };
    let mut calls = calls();
    calls.push(running);
    Window::with(task, Vec::new(), Snapshot { calls, partials: vec![partial], ..history() })
}

pub(crate) fn question() -> Question {
    Question {
        id: QUESTION,
        kind: QuestionKind::Agent,
        at: Timestamp(NOW.0 - 180_000),
        text: "Which week shall I book for?".into(),
        choices: vec!["9–12 March".into(), "16–19 March".into()],
        call_id: None,
        expires_at: None,
    }
}

fn waiting(pending: Pending) -> InboxItem {
    InboxItem {
        task_id: TASK,
        conversation_id: CONVERSATION,
        conversation_title: "Fix flaky login test".into(),
        pending,
        root_id: None,
        title: String::new(),
        depth: 0,
    }
}

pub(crate) fn waiting_question() -> Window {
    let asked = Said {
        kind: MessageKind::Question,
        question_id: Some(QUESTION),
        ..said(7, Role::Agent, "Which week shall I book for?")
    };
    let pending = Pending::Question(question());
    let mut task = task(Status::WaitingUser);
    task.pending = vec![pending.clone()];
    let mut snapshot = history();
    snapshot.messages.push(asked);
    Window::with(task, vec![waiting(pending)], snapshot)
}

/// A command that tries to hide what it does.
pub(crate) fn approval() -> Pending {
    let arguments = JsonText::parse(r#"{"command":"git push origin upgrade\u001b[2K\rls"}"#).unwrap();
    Pending::Approval(Approval {
        id: APPROVAL,
        call_id: call(7, "shell", "").call_id,
        at: Timestamp(NOW.0 - 180_000),
        tool: "shell".into(),
        summary: "git push origin upgrade".into(),
        arguments: arguments.clone(),
        workspace: "/home/me/src/ledger".into(),
        preview: None,
        risk: Risk::High,
        sandbox: "none".into(),
        rule: Rule { tool: "shell".into(), arguments, workspace: "/home/me/src/ledger".into() },
        digest: String::new(),
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
    })
}

pub(crate) fn approval_with(change: impl FnOnce(&mut Approval)) -> Pending {
    let Pending::Approval(mut approval) = approval() else { unreachable!() };
    change(&mut approval);
    Pending::Approval(approval)
}

/// An approval that one key allows.
pub(crate) fn low(id: ApprovalId) -> Pending {
    approval_with(|approval| (approval.id, approval.risk) = (id, Risk::Low))
}

pub(crate) fn waiting_approval() -> Window {
    let mut wanted = call(7, "shell", "git push origin upgrade");
    wanted.state = CallState::WaitingApproval;
    wanted.started_at = None;
    wanted.ended_at = None;
    wanted.outcome = None;
    wanted.result = None;
    let pending = approval();
    let mut task = task(Status::WaitingApproval);
    task.pending = vec![pending.clone()];
    let mut snapshot = history();
    snapshot.calls.push(wanted);
    Window::with(task, vec![waiting(pending)], snapshot)
}

/// The overview and the conversation while these items wait.
pub(crate) fn waits(status: Status, pending: &[Pending], history: Snapshot) -> (Snapshot, Snapshot) {
    let mut task = task(status);
    task.pending = pending.to_vec();
    let inbox: Vec<InboxItem> = pending.iter().cloned().map(waiting).collect();
    let about = vec![conversation(&task)];
    let overview =
        Snapshot { conversations: about.clone(), tasks: vec![task.clone()], inbox: inbox.clone(), ..empty() };
    (overview, Snapshot { conversations: about, tasks: vec![task], inbox, ..history })
}

pub(crate) fn ended(reason: EndReason) -> Window {
    let mut task = task(reason.status());
    task.end_reason = Some(reason);
    task.ended_at = Some(NOW);
    match reason {
        EndReason::Completed => task.summary = Some("The expiry is read from one clock now.".into()),
        EndReason::Error => task.error_message = Some("The provider refused the key.".into()),
        _ => {}
    }
    Window::with(task, Vec::new(), history())
}

pub(crate) fn disconnected() -> Window {
    let mut window = ended(EndReason::Completed);
    let lost = || Update::Disconnected { reason: "the connection is closed".into() };
    window.tell(Message::Overview(vec![lost()]));
    window.tell(Message::Conversation(CONVERSATION, vec![lost()]));
    window
}

/// A conversation with that many messages.
pub(crate) fn long(messages: u64) -> Window {
    let said = (1..=messages).map(|n| {
        let role = if n % 2 == 0 { Role::Agent } else { Role::User };
        said(n, role, &format!("message {n}"))
    });
    let mut task = task(Status::Completed);
    task.end_reason = Some(EndReason::Completed);
    Window::with(task, Vec::new(), Snapshot { messages: said.collect(), ..empty() })
}
