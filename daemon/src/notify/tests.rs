use super::*;
use abide_protocol::{
    ApprovalId, CallId, JsonText, QuestionId, RecordId, Seq, TaskId, Timestamp,
    inbox::{Approval, Pending, PendingId, Question, QuestionKind, Rule},
    notification::InboxUpdate,
    record::{QuestionAnswered, Record, RecordBody, TaskEnded},
    task::{AgentTask, EndReason, Limits, Mode, Status},
    transcript::{Risk, Usage},
};
use abide_store::Committed;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(1));
const TASK: TaskId = TaskId(Uuid::from_u128(2));
const QUESTION: QuestionId = QuestionId(Uuid::from_u128(3));
const APPROVAL: ApprovalId = ApprovalId(Uuid::from_u128(4));

fn question(text: &str) -> Notice {
    Notice {
        sub_task: None,
        conversation_id: CONVERSATION,
        title: "Tidy up".to_owned(),
        key: Key::Pending(PendingId::Question(QUESTION)),
        what: What::Question(text.to_owned()),
    }
}

fn ended(reason: EndReason) -> Notice {
    let what =
        What::Ended { reason, incomplete: None, words: Some("All <b>three</b> files & more".to_owned()) };
    Notice { key: Key::Ended(TASK), what, ..question("") }
}

fn asked() -> Question {
    Question {
        id: QUESTION,
        kind: QuestionKind::Agent,
        at: Timestamp(0),
        text: "Which?".to_owned(),
        choices: vec![],
        call_id: None,
        expires_at: None,
    }
}

fn approval() -> Approval {
    Approval {
        id: APPROVAL,
        call_id: CallId(Uuid::from_u128(5)),
        at: Timestamp(0),
        tool: "shell".to_owned(),
        summary: "rm -r build".to_owned(),
        arguments: JsonText::empty(),
        workspace: "/w".to_owned(),
        preview: None,
        risk: Risk::High,
        sandbox: "none".to_owned(),
        rule: Rule { tool: "shell".to_owned(), arguments: JsonText::empty(), workspace: "/w".to_owned() },
        digest: String::new(),
        wider: Vec::new(),
        why: None,
        in_passing: false,
    }
}

fn task(parent: Option<TaskId>, pending: Vec<Pending>) -> AgentTask {
    AgentTask {
        id: TASK,
        conversation_id: CONVERSATION,
        parent_id: parent,
        mode: Mode::Agent,
        model: "demo/demo".to_owned(),
        status: Status::Running,
        end_reason: None,
        pause_reason: None,
        original_prompt: String::new(),
        scratchpad: vec![],
        step_count: 0,
        phase: None,
        started_at: Timestamp(0),
        ended_at: None,
        pending,
        active_calls: vec![],
        error_message: None,
        summary: None,
        usage: Usage::default(),
        limits: Limits::default(),
        metadata: None,
        children: vec![],
        incomplete: None,
        retry: None,
        work: None,
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
    }
}

fn told(body: RecordBody, task: &AgentTask) -> Option<Notice> {
    notice("Tidy up", &record(body), task)
}

fn record(body: RecordBody) -> Record {
    Record {
        seq: Seq(1),
        id: RecordId(Uuid::from_u128(6)),
        conversation_id: CONVERSATION,
        task_id: Some(TASK),
        at: Timestamp(0),
        body,
    }
}

fn end(reason: EndReason) -> RecordBody {
    let summary = Some("All <b>three</b> files & more".to_owned());
    RecordBody::TaskEnded(TaskEnded { summary, ..TaskEnded::of(reason) })
}

#[test]
fn questions_and_approvals_give_a_notice() {
    let root = task(None, vec![]);
    assert_eq!(told(RecordBody::QuestionAsked(asked()), &root), Some(question("Which?")));
    let notice = told(RecordBody::ApprovalRequested(approval()), &root).unwrap();
    assert_eq!(notice.what, What::Approval { tool: "shell".to_owned(), summary: "rm -r build".to_owned() });
    let answered = QuestionAnswered { question_id: QUESTION, response: None, by: None };
    assert_eq!(told(RecordBody::QuestionAnswered(answered), &root), None);
}

#[test]
fn the_end_of_a_root_task_gives_a_notice_unless_a_person_stopped_it() {
    let root = task(None, vec![]);
    for reason in [EndReason::Completed, EndReason::Error, EndReason::StepLimit, EndReason::QuestionTimeout] {
        assert_eq!(told(end(reason), &root), Some(ended(reason)), "{reason:?}");
    }
    for reason in [EndReason::Stopped, EndReason::Deleted] {
        assert_eq!(told(end(reason), &root), None, "{reason:?}");
    }
    assert_eq!(told(end(EndReason::Completed), &task(Some(TASK), vec![])), None);
}

#[test]
fn a_commit_sends_notices_and_settles_items_that_left_the_inbox() {
    let (feed, mut received) = Feed::new();
    let record = |body| Arc::new(record(body));
    let id = PendingId::Question(QUESTION);
    let committed = |records, removed: Vec<PendingId>| Committed {
        conversation_id: CONVERSATION,
        records,
        tasks: vec![Arc::new(task(None, vec![]))],
        inbox: Some(InboxUpdate { added: vec![], removed, count: 0 }),
        conversation: None,
    };
    feed.committed(&committed(vec![record(RecordBody::QuestionAsked(asked()))], vec![]));
    feed.committed(&committed(vec![], vec![id]));
    let Ok(NotifierEvent::Notice(notice)) = received.try_recv() else { panic!("a notice") };
    assert_eq!(notice.key, Key::Pending(id));
    assert_eq!(received.try_recv(), Ok(NotifierEvent::Settled(Key::Pending(id))));
    assert!(received.try_recv().is_err());
}

#[test]
fn a_focused_conversation_or_a_repeated_key_gives_no_notification() {
    let notice = question("Which?");
    let mut already = Remembered::default();
    let nowhere = HashSet::new();
    assert!(should_notify(&notice, &nowhere, &already));
    assert!(!should_notify(&notice, &HashSet::from([CONVERSATION]), &already));
    assert!(should_notify(&notice, &HashSet::from([ConversationId(Uuid::from_u128(9))]), &already));
    already.insert(notice.key);
    assert!(!should_notify(&notice, &nowhere, &already));
    for n in 0..REMEMBERED as u128 {
        already.insert(Key::Ended(TaskId(Uuid::from_u128(n))));
    }
    assert!(!already.contains(notice.key), "what is remembered is bounded");
}

#[test]
fn text_is_cleaned_escaped_and_cut() {
    let hostile = Notice {
        title: "a\u{1b}]0;x\u{7}\nb\u{202e}c".to_owned(),
        what: What::Question("<a href='x'>&\u{0}\r\n2".to_owned()),
        ..question("")
    };
    assert_eq!(words::summary(&hostile), "Question: a\\x1b]0;x\\x07 b\\u{202e}c");
    assert_eq!(words::body(&hostile), "&lt;a href='x'&gt;&amp;\\x00 2");
    let long = Notice { title: "t".repeat(500), ..question(&"é".repeat(5000)) };
    assert_eq!(words::summary(&long).chars().count(), 120);
    assert_eq!(words::body(&long).chars().count(), 400);
    assert!(words::body(&long).ends_with('…'));
    assert_eq!(words::summary(&ended(EndReason::StepLimit)), "Step limit reached: Tidy up");
    assert_eq!(words::body(&ended(EndReason::Completed)), "All &lt;b&gt;three&lt;/b&gt; files &amp; more");
}

/// A desktop that logs its calls.
#[derive(Clone, Default)]
struct Screen {
    log: Arc<Mutex<Vec<String>>>,
    broken: Arc<Mutex<bool>>,
}

struct OnScreen(Screen, String);

impl Screen {
    fn log(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }
}

impl Desktop for Screen {
    type Shown = OnScreen;

    async fn show(&self, notice: &Notice) -> Result<OnScreen, String> {
        let words = words::summary(notice);
        if *self.broken.lock().unwrap() {
            self.log(format!("failed {words}"));
            return Err("no bus".to_owned());
        }
        self.log(format!("shown {words}"));
        Ok(OnScreen(self.clone(), words))
    }
}

impl Shown for OnScreen {
    async fn close(self) {
        self.0.log(format!("closed {}", self.1));
    }
}

/// The log of a screen after these events.
async fn run(screen: &Screen, focused: &[ConversationId], all: Vec<NotifierEvent>) -> Vec<String> {
    let (_focus, focused) = watch::channel(focused.iter().copied().collect());
    let (tell, told) = mpsc::channel(QUEUE);
    for told in all {
        tell.send(told).await.unwrap();
    }
    drop(tell);
    Notifier::new(screen.clone(), focused).run(told, || std::future::ready(true)).await;
    std::mem::take(&mut *screen.log.lock().unwrap())
}

#[tokio::test]
async fn an_item_is_shown_once_and_closed_when_it_is_settled() {
    let notice = NotifierEvent::Notice(Box::new(question("Which?")));
    let settled = NotifierEvent::Settled(question("").key);
    let end = NotifierEvent::Notice(Box::new(ended(EndReason::Completed)));
    let screen = Screen::default();
    assert_eq!(
        run(
            &screen,
            &[],
            vec![notice.clone(), notice.clone(), settled.clone(), settled.clone(), end.clone(), end]
        )
        .await,
        ["shown Question: Tidy up", "closed Question: Tidy up", "shown Completed: Tidy up"]
    );
    assert_eq!(
        run(&screen, &[], vec![settled, notice.clone()]).await,
        [""; 0],
        "answered before it was told"
    );
    assert_eq!(run(&screen, &[CONVERSATION], vec![notice]).await, [""; 0], "somebody looks at it");
}

#[tokio::test(start_paused = true)]
async fn a_failed_server_is_tried_again_a_minute_later() {
    let screen = Screen::default();
    *screen.broken.lock().unwrap() = true;
    let (_focus, focused) = watch::channel(HashSet::new());
    let mut notifier = Notifier::new(screen.clone(), focused);
    let end = |n| Notice { key: Key::Ended(TaskId(Uuid::from_u128(n))), ..ended(EndReason::Completed) };
    notifier.notice(&end(1)).await;
    notifier.notice(&end(2)).await;
    assert_eq!(*screen.log.lock().unwrap(), ["failed Completed: Tidy up"]);
    *screen.broken.lock().unwrap() = false;
    tokio::time::advance(RETRY_AFTER).await;
    notifier.notice(&end(1)).await;
    notifier.notice(&end(3)).await;
    assert_eq!(*screen.log.lock().unwrap(), ["failed Completed: Tidy up", "shown Completed: Tidy up"]);
}

#[test]
fn a_notification_names_the_sub_task_that_asks() {
    let asks = Notice { sub_task: Some("Option <A>".to_owned()), ..question("Which colour?") };
    assert_eq!(words::body(&asks), "Sub-task Option &lt;A&gt;: Which colour?");
    assert_eq!(words::body(&question("Which colour?")), "Which colour?");
}
