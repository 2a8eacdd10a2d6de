use super::*;
use crate::output::{fixture, screen::captured::Captured};
use abide_client::{
    Update,
    protocol::{
        RecordId, SubscriptionId, Timestamp,
        message::CallOutcome,
        notification::{
            DaemonUpdate, Notification, Partial, Snapshot, TaskDelta, TaskEvent, TaskMessage, TaskUpdate,
        },
        record::{
            CallAssessed, CallFinished, ModelErrorKind, ModelFailed, Permission, Record, RecordBody,
            TaskEnded,
        },
        task::{AgentTask, EndReason, Retry},
        transcript::{EffectClass, Risk, ToolResult},
    },
};
use uuid::Uuid;

const SUBSCRIPTION: SubscriptionId = SubscriptionId(1);

/// A view and a printer that get the same updates.
struct Stage {
    view: ConversationView,
    printer: Printer,
    captured: Captured,
    screen: Screen,
}

impl Stage {
    fn new() -> Self {
        Self::on(Captured::screen)
    }

    /// A terminal of 30 columns.
    fn narrow() -> Self {
        Self::on(|captured| captured.terminal(30, 20))
    }

    /// Standard output is a file.
    fn piped() -> Self {
        Self::on(Captured::piped)
    }

    fn on(screen: fn(&Captured) -> Screen) -> Self {
        let task = fixture::task();
        let captured = Captured::default();
        let mut stage = Self {
            view: ConversationView::new(task.conversation_id),
            printer: Printer::new(Some(task.id), false, Extent::Tail),
            screen: screen(&captured),
            captured,
        };
        stage.update(Update::Snapshot(Box::new(snapshot())));
        stage
    }

    fn update(&mut self, update: Update) -> String {
        let changes = self.view.apply(update);
        self.printer.print(&self.view, &changes, &HashSet::new(), &mut self.screen).unwrap();
        self.captured.take()
    }

    fn delta(&mut self, item: u128, attempt: u32, offset: u64, text: &str) -> String {
        self.update(Update::Notification(Notification::TaskDelta(TaskDelta {
            subscription_id: SUBSCRIPTION,
            conversation_id: fixture::task().conversation_id,
            task_id: fixture::task().id,
            item: DeltaItem::Reply(RecordId(Uuid::from_u128(item))),
            attempt,
            kind: DeltaKind::Text,
            offset,
            text: text.into(),
        })))
    }

    fn message(&mut self, seq: u64, id: u128, kind: MessageKind, text: &str) -> String {
        let message = Message {
            id: RecordId(Uuid::from_u128(id)),
            seq: Seq(seq),
            conversation_id: fixture::task().conversation_id,
            task_id: Some(fixture::task().id),
            at: fixture::START,
            role: if kind == MessageKind::Notice { Role::System } else { Role::Agent },
            kind,
            text: text.into(),
            reasoning: None,
            question_id: (kind == MessageKind::Question).then_some(fixture::question().id),
        };
        let notification = TaskMessage { subscription_id: SUBSCRIPTION, seq: Seq(seq), message };
        self.update(Update::Notification(Notification::TaskMessage(notification)))
    }

    /// The first attempt of reply 9 fails; its live output ends.
    fn failed(&mut self, seq: u64, message: &str) -> String {
        self.attempt_failed(seq, 1, message)
    }

    /// An attempt of reply 9 fails; the task follows its record.
    fn attempt_failed(&mut self, seq: u64, attempt: u32, message: &str) -> String {
        let printed = self.record(
            seq,
            RecordBody::ModelFailed(ModelFailed {
                item: RecordId(Uuid::from_u128(9)),
                attempt,
                kind: ModelErrorKind::Network,
                message: message.into(),
                retry_at: Some(fixture::START),
                sent: true,
            }),
        );
        let retry = Retry {
            attempt: attempt + 1,
            of: 12,
            kind: ModelErrorKind::Network,
            reason: message.into(),
            next_at: fixture::START,
        };
        printed + &self.task(AgentTask { retry: Some(retry), ..fixture::task() })
    }

    fn task(&mut self, task: AgentTask) -> String {
        self.update(Update::Notification(Notification::TaskUpdate(TaskUpdate { task })))
    }

    fn record(&mut self, seq: u64, body: RecordBody) -> String {
        let record = Record {
            seq: Seq(seq),
            id: RecordId(Uuid::from_u128(u128::from(seq))),
            conversation_id: fixture::task().conversation_id,
            task_id: Some(fixture::task().id),
            at: Timestamp(fixture::START.0),
            body,
        };
        let notification = TaskEvent { subscription_id: SUBSCRIPTION, seq: Seq(seq), record };
        self.update(Update::Notification(Notification::TaskEvent(notification)))
    }
}

fn snapshot() -> Snapshot {
    Snapshot {
        seq: Seq(1),
        conversations: vec![],
        tasks: vec![fixture::task()],
        inbox: vec![],
        messages: vec![],
        calls: vec![],
        events: vec![],
        partials: vec![],
        daemon: DaemonUpdate {
            storage_full: false,
            storage_damaged: false,
            shutting_down: false,
            update: None,
        },
    }
}

fn ended(summary: &str) -> RecordBody {
    RecordBody::TaskEnded(TaskEnded { summary: Some(summary.into()), ..TaskEnded::of(EndReason::Completed) })
}

#[test]
fn text_is_printed_as_it_streams_and_once() {
    let mut stage = Stage::new();
    assert_eq!(stage.delta(9, 1, 0, "Hel"), "Hel");
    assert_eq!(stage.delta(9, 1, 0, "Hello"), "lo");
    assert_eq!(stage.message(2, 9, MessageKind::Text, "Hello you"), " you\n");
    assert_eq!(stage.record(3, ended("Hello you")), "");
}

#[test]
fn a_summary_that_no_message_had_is_printed() {
    let mut stage = Stage::new();
    stage.message(2, 9, MessageKind::Text, "Working on it.");
    assert_eq!(stage.record(3, ended("All done.")), "\nAll done.\n");
}

#[test]
fn a_failed_reply_ends_its_line_and_prints_the_error() {
    let mut stage = Stage::new();
    stage.delta(9, 1, 0, "half a wor");
    assert_eq!(stage.failed(2, "cut\u{1b}[2J"), "\n| model: cut\\x1b[2J; attempt 2 of 12\n");
    assert_eq!(stage.delta(9, 2, 0, "whole"), "\nwhole");
}

#[test]
fn a_file_gets_recorded_replies_and_no_text_of_a_failed_attempt() {
    let mut stage = Stage::piped();
    assert_eq!(stage.delta(9, 1, 0, "half a wor"), "");
    assert_eq!(stage.failed(2, "cut."), "| model: cut; attempt 2 of 12\n");
    assert_eq!(stage.delta(10, 2, 0, "half a word"), "");
    assert_eq!(stage.message(3, 10, MessageKind::Text, "half a word, and more"), "half a word, and more\n");
    assert_eq!(stage.delta(11, 1, 0, "I was ab"), "");
    assert_eq!(stage.message(4, 11, MessageKind::Partial, "I was about"), "\nI was about\n");
    assert_eq!(
        stage.record(5, ended("half a word, and more, all done")),
        "\nhalf a word, and more, all done\n"
    );
}

/// Twelve equal failures are one line; another reason, or the same one of a later call, is told.
#[test]
fn a_reason_is_printed_once_until_it_changes() {
    let mut stage = Stage::piped();
    let mut printed = String::new();
    for attempt in 1..=11 {
        printed += &stage.attempt_failed(1 + u64::from(attempt), attempt, "p: it is overloaded (503).");
    }
    assert_eq!(printed, "| model: p: it is overloaded (503); attempt 2 of 12\n");
    assert_eq!(stage.attempt_failed(20, 11, "cut"), "| model: cut; attempt 12 of 12\n");
    assert_eq!(stage.task(fixture::task()), "");
    assert_eq!(stage.attempt_failed(21, 1, "cut"), "| model: cut; attempt 2 of 12\n");
}

#[test]
fn prose_breaks_between_words() {
    let mut stage = Stage::narrow();
    let failed = stage.failed(2, "the server of the provider does not answer");
    let notice = stage.message(3, 11, MessageKind::Notice, "I have reached the maximum number of steps.");
    for shown in [failed, notice] {
        assert!(shown.lines().all(|line| text::width(line) <= 30), "{shown}");
        assert!(!shown.trim().is_empty(), "it is printed");
    }
}

#[test]
fn a_partial_reply_is_not_printed_twice() {
    let mut stage = Stage::new();
    stage.delta(9, 1, 0, "I was about");
    assert_eq!(stage.message(2, 10, MessageKind::Partial, "I was about"), "\n");
    assert_eq!(stage.message(3, 11, MessageKind::Notice, "Stopped."), "| abide: Stopped.\n");
}

#[test]
fn the_kept_text_of_a_broken_reply_is_not_printed_twice() {
    let mut stage = Stage::new();
    stage.delta(9, 1, 0, "half a wor");
    stage.failed(2, "cut");
    assert_eq!(stage.message(3, 9, MessageKind::Partial, "half a wor"), "");
    let mut stage = Stage::new();
    stage.delta(9, 1, 0, "half a wor");
    stage.failed(2, "cut");
    let kept = stage.message(3, 10, MessageKind::Partial, "half a wor");
    assert_eq!(kept, "", "the next attempt had shown nothing");
    let mut stage = Stage::new();
    stage.delta(9, 1, 0, "half");
    stage.failed(2, "cut");
    let kept = stage.message(3, 9, MessageKind::Partial, "half a wor");
    assert_eq!(kept, "\nhalf a wor\n", "it has text that was not printed");
}

#[test]
fn a_call_is_printed_when_it_has_finished() {
    let mut stage = Stage::new();
    stage.delta(9, 1, 0, "I look");
    let assessed = CallAssessed {
        call_id: fixture::call().call_id,
        tool: "read".into(),
        arguments: "{}".into(),
        summary: "a.txt".into(),
        effect: EffectClass::Pure,
        risk: Risk::Low,
        preview: None,
        edit: None,
        digest: String::new(),
        permission: Permission::Tier,
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
    };
    assert_eq!(stage.record(2, RecordBody::CallAssessed(assessed)), "");
    let finished = CallFinished {
        call_id: fixture::call().call_id,
        attempt: 1,
        outcome: CallOutcome::Done,
        result: ToolResult::success("3 lines", None),
        duration_ms: 5,
        read_results: Vec::new(),
        usage: None,
    };
    assert_eq!(stage.record(3, RecordBody::CallFinished(finished)), "\n| ✓ read a.txt → 3 lines\n");
}

#[test]
fn a_reconnection_repeats_nothing() {
    let mut stage = Stage::new();
    stage.message(2, 9, MessageKind::Text, "One.");
    assert_eq!(stage.delta(10, 1, 0, "Tw"), "\nTw");
    let lost = stage.update(Update::Disconnected { reason: "gone".into() });
    assert_eq!(lost, "\n| lost the daemon (gone), connecting again\n");
    assert_eq!(stage.update(Update::Disconnected { reason: "no socket".into() }), "", "it is lost already");
    let back = stage.update(Update::Reconnected(Box::new(Snapshot { seq: Seq(2), ..snapshot() })));
    assert_eq!(back, "| connected again\n");
    assert_eq!(stage.message(3, 10, MessageKind::Text, "Two."), "\nTwo.\n");
    assert_eq!(stage.delta(11, 1, 0, "Th"), "\nTh");
}

#[test]
fn missed_records_are_printed_before_live_output() {
    let mut stage = Stage::new();
    stage.update(Update::Disconnected { reason: "gone".into() });
    let partial = Partial {
        conversation_id: fixture::task().conversation_id,
        task_id: fixture::task().id,
        item: DeltaItem::Reply(RecordId(Uuid::from_u128(10))),
        attempt: 1,
        kind: DeltaKind::Text,
        offset: 0,
        text: "Tw".into(),
    };
    let now = Snapshot { partials: vec![partial], ..snapshot() };
    assert_eq!(stage.update(Update::Reconnected(Box::new(now))), "| connected again\n");
    assert_eq!(stage.message(2, 9, MessageKind::Text, "One."), "One.\n");
    assert_eq!(stage.delta(10, 1, 2, "o"), "\nTwo");
    assert_eq!(stage.message(3, 10, MessageKind::Text, "Two."), ".\n");
}

#[test]
fn an_open_question_is_printed_by_its_prompt_only() {
    let mut stage = Stage::new();
    assert_eq!(stage.message(2, 9, MessageKind::Question, "Which colour?"), "");
    let ended = abide_client::protocol::task::AgentTask {
        status: abide_client::protocol::task::Status::Cancelled,
        ..fixture::task()
    };
    let mut stage = Stage::new();
    stage.update(Update::Snapshot(Box::new(Snapshot { tasks: vec![ended], ..snapshot() })));
    assert_eq!(stage.message(3, 10, MessageKind::Question, "Which colour?"), "| asks: Which colour?\n");
}

#[test]
fn hostile_text_is_escaped_wherever_it_comes_from() {
    let mut stage = Stage::new();
    let mut shown = stage.delta(9, 1, 0, "a\u{1b}[2J");
    shown += &stage.message(2, 9, MessageKind::Text, "a\u{1b}[2Jb\r");
    shown += &stage.message(3, 10, MessageKind::Notice, "\u{1b}]0;x\u{7}");
    shown += &stage.record(4, ended("\u{9b}31m"));
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    assert!(shown.contains("[2Jb"), "{shown:?}");
}

#[test]
fn a_failure_is_printed_once() {
    let mut stage = Stage::new();
    let failed = ModelFailed {
        item: RecordId(Uuid::from_u128(9)),
        attempt: 1,
        kind: ModelErrorKind::Auth,
        message: "the key is wrong".into(),
        retry_at: None,
        sent: true,
    };
    assert_eq!(stage.record(2, RecordBody::ModelFailed(failed)), "");
    assert_eq!(stage.message(3, 11, MessageKind::Notice, "the key is wrong"), "| abide: the key is wrong\n");
    assert!(
        stage.printer.has_printed("the key is wrong"),
        "the message at the end of the command leaves it out"
    );
    assert!(!stage.printer.has_printed("something else"));
}
