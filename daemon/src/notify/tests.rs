use super::{
    board::BURST,
    notifier::{GRACE, LEAVE_TIME, LOOK_AFTER, LOST_FOR, REMIND_AFTER, REST_AFTER, RETRY_AFTER},
    *,
};
use crate::events::{Focused, Viewer};
use abide_protocol::{
    ApprovalId, CallId, ConversationId, JsonText, QuestionId, RecordId, Seq, TaskId, Timestamp,
    conversation::Conversation,
    inbox::{Approval, Decision, InboxItem, Pending, PendingId, Question, QuestionKind, Rule},
    memory::MemoryUse,
    method::conversation::FocusParams,
    notification::{ConversationUpdate, InboxUpdate},
    record::{Record, RecordBody, TaskEnded},
    task::{AgentTask, Approvals, EndReason, Limits, Mode, Status},
    transcript::{Risk, Usage},
};
use abide_store::Committed;
use futures_util::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use std::sync::{Arc, Mutex};
use tokio::{sync::watch, time::Instant};
use uuid::Uuid;

pub(super) const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(1));
pub(super) const TASK: TaskId = TaskId(Uuid::from_u128(2));
const OTHER: ConversationId = ConversationId(Uuid::from_u128(101));
const THIRD: ConversationId = ConversationId(Uuid::from_u128(102));

pub(super) const fn question_id(n: u128) -> QuestionId {
    QuestionId(Uuid::from_u128(1000 + n))
}

pub(super) const fn approval_id(n: u128) -> ApprovalId {
    ApprovalId(Uuid::from_u128(2000 + n))
}

pub(super) fn question(n: u128, choices: &[&str]) -> Question {
    Question {
        id: question_id(n),
        kind: QuestionKind::Agent,
        at: Timestamp(0),
        text: "Which?".to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        call_id: None,
        expires_at: None,
    }
}

pub(super) fn approval(n: u128) -> Approval {
    Approval {
        id: approval_id(n),
        call_id: CallId(Uuid::from_u128(5)),
        at: Timestamp(0),
        tool: "shell".to_owned(),
        summary: "make test".to_owned(),
        arguments: JsonText::empty(),
        workspace: "/w".to_owned(),
        preview: None,
        risk: Risk::Medium,
        sandbox: "full".to_owned(),
        rule: Rule { tool: "shell".to_owned(), arguments: JsonText::empty(), workspace: "/w".to_owned() },
        digest: String::new(),
        wider: Vec::new(),
        why: None,
        in_passing: true,
        files: Vec::new(),
        only_once: None,
        for_task: false,
    }
}

pub(super) fn waits(pending: Pending) -> InboxItem {
    InboxItem {
        task_id: TASK,
        conversation_id: CONVERSATION,
        conversation_title: "Tidy up".to_owned(),
        pending,
        root_id: None,
        title: String::new(),
        depth: 0,
    }
}

fn task(parent: Option<TaskId>) -> AgentTask {
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
        pending: vec![],
        active_calls: vec![],
        error_message: None,
        summary: None,
        usage: Usage::default(),
        limits: Limits::default(),
        metadata: None,
        children: vec![],
        incomplete: None,
        retry: None,
        work: abide_protocol::task::Work { ms: 0, since: None },
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
        approvals: Approvals::Ask,
    }
}

fn committed(bodies: Vec<RecordBody>, added: Vec<InboxItem>, removed: Vec<PendingId>) -> Committed {
    let record = |body| {
        Arc::new(Record {
            seq: Seq(1),
            id: RecordId(Uuid::from_u128(6)),
            conversation_id: CONVERSATION,
            task_id: Some(TASK),
            at: Timestamp(0),
            body,
        })
    };
    Committed {
        conversation_id: CONVERSATION,
        records: bodies.into_iter().map(record).collect(),
        tasks: vec![Arc::new(task(None))],
        inbox: Some(InboxUpdate { added, removed, count: 0 }),
        conversation: None,
    }
}

fn of_record(reason: EndReason) -> RecordBody {
    RecordBody::TaskEnded(TaskEnded { summary: Some("Done <b>all</b>".to_owned()), ..TaskEnded::of(reason) })
}

fn is_muted(muted: bool) -> Option<ConversationUpdate> {
    let conversation = Conversation {
        id: CONVERSATION,
        title: "Tidy up".to_owned(),
        workspace: "/w".to_owned(),
        mode: None,
        model: None,
        persona: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        archived: false,
        muted,
        memory: MemoryUse::Normal,
        unread: 0,
        task: None,
    };
    Some(ConversationUpdate { conversation_id: CONVERSATION, conversation: Some(conversation) })
}

#[test]
fn a_commit_that_asks_is_news_and_one_that_answers_settles() {
    let asked = question(1, &[]);
    let id = PendingId::Question(asked.id);
    let added = || vec![waits(Pending::Question(asked.clone()))];
    let change =
        Change::of(&committed(vec![RecordBody::QuestionAsked(asked.clone())], added(), vec![])).unwrap();
    assert_eq!((change.title.as_str(), change.asked.len(), change.is_news()), ("Tidy up", 1, true));
    assert_eq!(change.asked[0].id(), id);
    // An item that changes is in the inbox's update again, and no news.
    assert_eq!(Change::of(&committed(vec![], added(), vec![])), None);
    let change = Change::of(&committed(vec![], vec![], vec![id])).unwrap();
    assert_eq!((change.settled.clone(), change.is_news()), (vec![id], false));
}

#[test]
fn the_end_of_a_root_task_is_news_unless_a_person_stopped_it() {
    let end = |reason| {
        Change::of(&committed(vec![of_record(reason)], vec![], vec![])).and_then(|change| change.end)
    };
    for reason in [EndReason::Completed, EndReason::Error, EndReason::StepLimit, EndReason::QuestionTimeout] {
        assert_eq!(end(reason).map(|end| end.reason), Some(reason));
    }
    for reason in [EndReason::Stopped, EndReason::Deleted] {
        assert_eq!(end(reason), None, "{reason:?}");
    }
    let of_sub_task = Committed {
        tasks: vec![Arc::new(task(Some(TASK)))],
        ..committed(vec![of_record(EndReason::Completed)], vec![], vec![])
    };
    assert_eq!(Change::of(&of_sub_task), None);
}

#[test]
fn a_deleted_or_muted_conversation_takes_its_notification_back() {
    let update = |conversation| Committed { conversation, inbox: None, ..committed(vec![], vec![], vec![]) };
    let deleted = ConversationUpdate { conversation_id: CONVERSATION, conversation: None };
    let over = |conversation| Change::of(&update(conversation)).map(|change| change.over);
    assert_eq!(over(Some(deleted)), Some(Some(Over::Silent)));
    assert_eq!(over(is_muted(true)), Some(Some(Over::Silent)));
    assert_eq!(over(is_muted(false)), None);
}

fn change(conversation: ConversationId) -> Change {
    let n = conversation.0.as_u128();
    Change {
        conversation_id: conversation,
        title: format!("Job {n}"),
        asked: vec![],
        settled: vec![],
        end: None,
        over: None,
    }
}

fn asks(conversation: ConversationId, n: u128, choices: &[&str]) -> Change {
    let item = Item::from(&waits(Pending::Question(question(n, choices))));
    Change { asked: vec![item], ..change(conversation) }
}

/// The question of [`asks`], as the inbox has it.
fn item(conversation_id: ConversationId, n: u128) -> InboxItem {
    InboxItem {
        conversation_id,
        conversation_title: change(conversation_id).title,
        ..waits(Pending::Question(question(n, &[])))
    }
}

fn wants(conversation: ConversationId, n: u128) -> Change {
    let item = Item::from(&waits(Pending::Approval(approval(n))));
    Change { asked: vec![item], ..change(conversation) }
}

fn answered(conversation: ConversationId, n: u128) -> Change {
    Change { settled: vec![PendingId::Question(question_id(n))], ..change(conversation) }
}

fn ended(conversation: ConversationId) -> Change {
    let end = End { reason: EndReason::Completed, incomplete: None, words: "All of it".to_owned() };
    Change { end: Some(end), ..change(conversation) }
}

/// A server that logs what it is asked.
#[derive(Clone)]
struct Wall {
    log: Arc<Mutex<Vec<String>>>,
    shown: Arc<Mutex<u32>>,
    server: Server,
    fails: Arc<Mutex<Fails>>,
    /// It answers nothing while this is false.
    answers: watch::Receiver<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fails {
    Never,
    /// There is no server.
    Always,
    /// It refuses to show anything.
    ToShow,
}

impl Wall {
    fn write(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }
}

impl Desktop for Wall {
    type Screen = View;

    fn connect(&mut self) -> BoxFuture<'static, Result<View, String>> {
        if *self.fails.lock().unwrap() == Fails::Always {
            self.write("failed".to_owned());
            return future::ready(Err("no bus".to_owned())).boxed();
        }
        future::ready(Ok(View(self.clone()))).boxed()
    }
}

struct View(Wall);

impl Screen for View {
    type Handle = u32;

    fn server(&self) -> &Server {
        &self.0.server
    }

    fn show(&self, popup: &Popup, replaces: Option<&u32>) -> BoxFuture<'static, Result<u32, String>> {
        let id = replaces.copied().unwrap_or_else(|| {
            let mut shown = self.0.shown.lock().unwrap();
            *shown += 1;
            *shown
        });
        let keys: Vec<&str> = popup.buttons.iter().map(|button| button.key).collect();
        self.0.write(format!("{id}: {} [{}]", popup.summary, keys.join(" ")));
        let (fails, mut answers) = (*self.0.fails.lock().unwrap(), self.0.answers.clone());
        async move {
            answers.wait_for(|answers| *answers).await.unwrap();
            if fails == Fails::ToShow { Err("too many".to_owned()) } else { Ok(id) }
        }
        .boxed()
    }

    fn close(&self, shown: &u32) -> BoxFuture<'static, ()> {
        self.0.write(format!("close {shown}"));
        future::ready(()).boxed()
    }

    async fn heard(&mut self) -> Heard<u32> {
        future::pending().await
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.0.write("rest".to_owned());
    }
}

/// A window that shows this conversation, or none.
const fn on(conversation_id: Option<ConversationId>) -> FocusParams {
    FocusParams { conversation_id, inbox: false }
}

/// A window that shows the inbox.
const ON_INBOX: FocusParams = FocusParams { conversation_id: None, inbox: true };

/// A window for each of these conversations, and one that shows none.
fn windows_on(conversations: &[ConversationId]) -> Focused {
    let mut focused = Focused::default();
    focused.set(Viewer(0), on(None));
    for (viewer, conversation) in (1..).map(Viewer).zip(conversations) {
        focused.set(viewer, on(Some(*conversation)));
    }
    focused
}

/// A notifier at work, and the test's ends of its channels.
struct Stage {
    notifier: Notifier<Wall>,
    log: Arc<Mutex<Vec<String>>>,
    fails: Arc<Mutex<Fails>>,
    answers: watch::Sender<bool>,
    policy: Arc<Mutex<Policy>>,
    orders: mpsc::Receiver<Order<u32>>,
    focus: watch::Sender<Focused>,
    inbox: Vec<InboxItem>,
}

impl Stage {
    fn new() -> Self {
        Self::with(Abilities { actions: true, inline_reply: true })
    }

    fn with(abilities: Abilities) -> Self {
        let (log, fails) = (Arc::default(), Arc::new(Mutex::new(Fails::Never)));
        let (answers, answered) = watch::channel(true);
        let server = Server { name: "wall 1".to_owned(), abilities };
        let wall = Wall {
            log: Arc::clone(&log),
            shown: Arc::default(),
            server,
            fails: Arc::clone(&fails),
            answers: answered,
        };
        let (focus, focused) = watch::channel(Focused::default());
        let ((orders, _), (ordered, _)) = channels();
        let mut notifier = Notifier::new(wall, focused, orders);
        notifier.grace = Duration::ZERO;
        let policy = Arc::new(Mutex::new(Policy::Show));
        Self { notifier, log, fails, answers, policy, orders: ordered, focus, inbox: Vec::new() }
    }

    /// Takes all steps that the server answers at once; returns what it was asked.
    fn settle(&mut self) -> Vec<String> {
        loop {
            self.notifier.start_step();
            match self.notifier.step.done().now_or_never() {
                Some(done) => self.notifier.did(done),
                None => return std::mem::take(&mut *self.log.lock().unwrap()),
            }
        }
    }

    async fn on(&mut self, change: Change) -> Vec<String> {
        let policy = Arc::clone(&self.policy);
        self.notifier.changed(&change, &move |_| future::ready(*policy.lock().unwrap())).await;
        self.settle()
    }

    fn look_at(&mut self, conversations: &[ConversationId]) -> Vec<String> {
        self.focus.send_replace(windows_on(conversations));
        self.notifier.looked_at();
        self.settle()
    }

    /// Only these windows are left, which show this.
    fn are_left(&mut self, windows: &[(Viewer, FocusParams)]) -> Vec<String> {
        let mut focused = Focused::default();
        windows.iter().for_each(|(viewer, shown)| focused.set(*viewer, *shown));
        self.focus.send_replace(focused);
        self.notifier.looked_at();
        self.settle()
    }

    fn hear(&mut self, heard: Heard<u32>) -> Vec<String> {
        self.notifier.heard(heard);
        self.settle()
    }

    fn press(&mut self, shown: u32, key: &str) -> Vec<String> {
        self.hear(Heard::Pressed { shown, key: key.to_owned(), token: None })
    }

    async fn later(&mut self, time: Duration) -> Vec<String> {
        tokio::time::advance(time).await;
        let (policy, inbox) = (Arc::clone(&self.policy), self.inbox.clone());
        let inbox = move || future::ready(inbox.clone());
        self.notifier.woke(&move |_| future::ready(*policy.lock().unwrap()), &inbox).await;
        self.settle()
    }

    /// The server answers, or does not.
    fn answer(&mut self, answers: bool) -> Vec<String> {
        self.answers.send_replace(answers);
        self.settle()
    }

    fn fail(&self, fails: Fails) {
        *self.fails.lock().unwrap() = fails;
    }

    fn ordered(&mut self) -> Vec<Act> {
        std::iter::from_fn(|| self.orders.try_recv().ok()).map(|order| order.act).collect()
    }
}

const CHOICES: &str = "choice-1 choice-2 open default";

#[tokio::test]
async fn an_item_is_shown_and_closed_when_it_is_settled_elsewhere() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.on(asks(CONVERSATION, 1, &["a", "b"])).await,
        [format!("1: Question: Job 1 [{CHOICES}]")]
    );
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, ["close 1"]);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, [""; 0]);
    assert_eq!(stage.on(ended(CONVERSATION)).await, ["2: Completed: Job 1 [open default]"]);
}

#[tokio::test]
async fn a_task_has_one_notification_which_goes_on_to_the_next_item() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    // The same actions: the same notification, with other words.
    assert_eq!(stage.on(wants(CONVERSATION, 1)).await, [format!("1: Question: Job 1 [{CHOICES}]")]);
    // Other actions: another one, so that a press on the old one decides nothing of the new one.
    assert_eq!(
        stage.on(answered(CONVERSATION, 1)).await,
        ["close 1", "2: Approval needed: Job 1 [allow reject open default]"]
    );
    assert_eq!(stage.on(ended(CONVERSATION)).await, [""; 0], "the approval is what matters");
    let settled = vec![PendingId::Approval(approval_id(1))];
    assert_eq!(
        stage.on(Change { settled, ..change(CONVERSATION) }).await,
        ["close 2", "3: Completed: Job 1 [open default]"]
    );
    let begun = Change { over: Some(Over::Begun), ..change(CONVERSATION) };
    assert_eq!(stage.on(begun).await, ["close 3"], "the end is no news when the next task has begun");
}

#[tokio::test(start_paused = true)]
async fn several_within_a_minute_are_one_with_a_count() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(stage.on(asks(OTHER, 2, &[])).await, ["close 1", "2: 2 tasks need you [open default]"]);
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(stage.on(wants(THIRD, 3)).await, ["2: 3 tasks need you [open default]"]);
    assert_eq!(stage.press(2, "open"), [""; 0]);
    assert_eq!(stage.ordered(), [Act::Open(WindowPage::Inbox)]);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, ["2: 2 tasks need you [open default]"]);
    assert_eq!(
        stage.on(answered(OTHER, 2)).await,
        ["close 2", "3: Approval needed: Job 102 [allow reject open default]"],
        "the last one can be answered again"
    );
    tokio::time::advance(BURST).await;
    assert_eq!(stage.on(ended(OTHER)).await, ["4: Completed: Job 101 [open default]"], "a minute later");
}

#[tokio::test]
async fn what_a_person_dismissed_does_not_come_back() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a"])).await;
    assert_eq!(stage.hear(Heard::Closed(1)), [""; 0]);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, [""; 0]);
    assert_eq!(
        stage.on(wants(CONVERSATION, 2)).await,
        ["2: Approval needed: Job 1 [allow reject open default]"]
    );
}

#[tokio::test]
async fn a_notification_answers_once_and_the_next_item_comes() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    stage.on(wants(CONVERSATION, 2)).await;
    assert_eq!(
        stage.press(1, "choice-2"),
        ["close 1", "2: Approval needed: Job 1 [allow reject open default]"]
    );
    let answer = Act::Answer { task: TASK, question: question_id(1), response: "b".to_owned() };
    assert_eq!(stage.ordered(), [answer]);
    // Its commit comes later, and changes nothing more.
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, [""; 0]);
    // A press that comes too late is about the old item, and is passed on once.
    assert_eq!(stage.press(1, "choice-1"), [""; 0]);
    let late = Act::Answer { task: TASK, question: question_id(1), response: "a".to_owned() };
    assert_eq!(stage.ordered(), [late]);
    stage.press(1, "choice-1");
    assert_eq!(stage.ordered(), []);
    stage.press(2, "reject");
    assert_eq!(stage.ordered(), [Act::Decide { approval: approval_id(2), decision: Decision::RejectOnce }]);
}

#[tokio::test]
async fn unknown_notifications_and_keys_do_nothing() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for (shown, key) in [(7, "choice-1"), (1, "choice-3"), (1, "allow"), (1, ""), (1, "inline-reply")] {
        assert_eq!(stage.press(shown, key), [""; 0], "{shown} {key}");
    }
    stage.hear(Heard::Replied { shown: 1, text: "a question with choices has no field".to_owned() });
    stage.hear(Heard::Closed(9));
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, ["close 1"]);
}

#[tokio::test]
async fn a_typed_reply_answers_and_an_empty_one_does_not() {
    let mut stage = Stage::new();
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, ["1: Question: Job 1 [open default]"]);
    stage.hear(Heard::Replied { shown: 1, text: " \n".to_owned() });
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.hear(Heard::Replied { shown: 1, text: "green".to_owned() }), ["close 1"]);
    let answer = Act::Answer { task: TASK, question: question_id(1), response: "green".to_owned() };
    assert_eq!(stage.ordered(), [answer]);
}

#[tokio::test]
async fn a_flood_of_presses_is_bounded() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for _ in 0..1000 {
        stage.press(1, "open");
    }
    assert_eq!(stage.ordered(), vec![Act::Open(WindowPage::Conversation(CONVERSATION)); ORDERS]);
    for _ in 0..1000 {
        stage.press(1, "choice-1");
    }
    assert_eq!(stage.ordered().len(), 2);
    assert_eq!(stage.settle(), [""; 0]);
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_room_says_so() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for _ in 0..ORDERS {
        stage.press(1, "open");
    }
    assert_eq!(stage.press(1, "choice-1"), ["close 1", "1: Not answered []"]);
    assert_eq!(stage.press(1, "choice-1"), ["1: Not answered []"]);
    assert_eq!(stage.press(1, "choice-1"), [""; 0], "a flood is told twice");
}

#[tokio::test]
async fn nothing_is_shown_of_what_somebody_looks_at_or_does_not_want() {
    let mut stage = Stage::new();
    stage.focus.send_replace(windows_on(&[CONVERSATION]));
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, [""; 0]);
    stage.focus.send_replace(Focused::default());
    *stage.policy.lock().unwrap() = Policy::Drop;
    assert_eq!(stage.on(asks(CONVERSATION, 2, &[])).await, [""; 0]);
    *stage.policy.lock().unwrap() = Policy::Show;
    stage.on(asks(CONVERSATION, 3, &[])).await;
    let muted = Change { over: Some(Over::Silent), ..change(CONVERSATION) };
    assert_eq!(stage.on(muted).await, ["close 1"]);
}

#[tokio::test]
async fn a_conversation_that_is_looked_at_takes_its_notification_back() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    stage.on(asks(OTHER, 2, &[])).await;
    assert_eq!(stage.look_at(&[]), [""; 0]);
    assert_eq!(stage.look_at(&[CONVERSATION]), ["close 2", "3: Question: Job 101 [open default]"]);
    assert_eq!(stage.look_at(&[CONVERSATION, OTHER]), ["close 3"]);
}

#[tokio::test(start_paused = true)]
async fn the_inbox_shows_all_that_waits_and_no_ends() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    assert_eq!(stage.are_left(&[(Viewer(1), ON_INBOX)]), ["close 1"]);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, [""; 0]);
    assert_eq!(stage.on(asks(CONVERSATION, 2, &[])).await, [""; 0], "the next one comes into the inbox");
    assert_eq!(stage.on(ended(OTHER)).await, ["2: Completed: Job 101 [open default]"]);
    // It has been seen when the window leaves the inbox, and waits unseen when the window is gone.
    assert_eq!(stage.are_left(&[(Viewer(1), on(None))]), [""; 0]);
    assert_eq!(stage.on(asks(THIRD, 3, &[])).await, ["3: Question: Job 102 [open default]"]);
    stage.hear(Heard::Closed(3));
    stage.inbox = vec![item(CONVERSATION, 2), item(THIRD, 3)];
    assert_eq!(stage.are_left(&[]), [""; 0]);
    assert_eq!(
        stage.later(REMIND_AFTER).await,
        ["4: Question: Job 1 [open default]"],
        "the person closed the other"
    );
}

#[tokio::test(start_paused = true)]
async fn what_one_of_two_windows_shows_in_the_inbox_is_not_left() {
    let mut stage = Stage::new();
    let (a, b) = (Viewer(1), Viewer(2));
    stage.are_left(&[(a, ON_INBOX), (b, ON_INBOX)]);
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, [""; 0]);
    stage.inbox = vec![item(CONVERSATION, 1)];
    stage.are_left(&[(b, on(None))]);
    assert_eq!(stage.later(REMIND_AFTER).await, [""; 0]);
    stage.are_left(&[]);
    assert_eq!(stage.later(REMIND_AFTER).await, ["1: Question: Job 1 [open default]"]);
}

#[tokio::test]
async fn the_inbox_takes_what_was_held() {
    let mut stage = Stage::new();
    *stage.policy.lock().unwrap() = Policy::Hold;
    stage.on(asks(CONVERSATION, 1, &[])).await;
    stage.are_left(&[(Viewer(1), ON_INBOX)]);
    assert!(!stage.notifier.board.holds_some());
}

/// The policy is read from the configuration: what people look at may change meanwhile.
#[tokio::test(start_paused = true)]
async fn what_comes_into_view_while_its_policy_is_read_is_shown_when_the_window_is_gone() {
    let mut stage = Stage::new();
    let mut focused = Focused::default();
    focused.set(Viewer(1), ON_INBOX);
    let focus = stage.focus.clone();
    let policy = move |_| {
        focus.send_replace(focused.clone());
        future::ready(Policy::Show)
    };
    stage.notifier.changed(&asks(CONVERSATION, 1, &[]), &policy).await;
    assert_eq!(stage.settle(), [""; 0]);
    stage.inbox = vec![item(CONVERSATION, 1)];
    stage.are_left(&[]);
    assert_eq!(stage.later(REMIND_AFTER).await, ["1: Question: Job 1 [open default]"]);
}

#[tokio::test(start_paused = true)]
async fn a_window_has_a_moment_to_say_that_it_shows_what_has_just_begun() {
    let mut stage = Stage::new();
    stage.notifier.grace = GRACE;
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, [""; 0]);
    assert_eq!(stage.look_at(&[CONVERSATION]), [""; 0]);
    assert_eq!(stage.later(GRACE).await, [""; 0], "it was never shown");
    assert_eq!(stage.on(asks(OTHER, 2, &[])).await, [""; 0]);
    assert_eq!(stage.later(GRACE / 2).await, [""; 0]);
    assert_eq!(stage.later(GRACE / 2).await, ["1: Question: Job 101 [open default]"]);
    assert_eq!(stage.on(answered(OTHER, 2)).await, ["close 1"], "what is shown changes at once");
}

#[tokio::test(start_paused = true)]
async fn what_a_window_showed_is_shown_when_the_last_window_is_gone() {
    let mut stage = Stage::new();
    let (a, b) = (Viewer(1), Viewer(2));
    // One asks before a window looks at it, one while it does, and one is closed by the person.
    stage.on(asks(CONVERSATION, 1, &[])).await;
    assert_eq!(stage.are_left(&[(a, on(Some(CONVERSATION))), (b, on(None))]), ["close 1"]);
    stage.are_left(&[(a, on(Some(OTHER))), (b, on(None))]);
    assert_eq!(stage.on(asks(OTHER, 2, &[])).await, [""; 0]);
    stage.on(asks(THIRD, 3, &[])).await;
    stage.hear(Heard::Closed(2));
    stage.inbox = vec![item(CONVERSATION, 1), item(OTHER, 2), item(THIRD, 3)];
    // Not while the window is there, also if it shows something else, and not when another one shows it.
    assert_eq!(stage.are_left(&[(a, on(None)), (b, on(None))]), [""; 0]);
    assert_eq!(stage.later(REMIND_AFTER).await, [""; 0]);
    assert_eq!(stage.are_left(&[(b, on(Some(OTHER)))]), [""; 0]);
    assert_eq!(stage.later(REMIND_AFTER).await, ["3: Question: Job 1 [open default]"]);
    // Once; and of the other one when its second window has gone.
    stage.hear(Heard::Closed(3));
    assert_eq!(stage.are_left(&[]), [""; 0]);
    assert_eq!(stage.later(REMIND_AFTER).await, ["4: Question: Job 101 [open default]"]);
    stage.hear(Heard::Closed(4));
    stage.are_left(&[(Viewer(3), on(None))]);
    stage.are_left(&[]);
    assert_eq!(stage.later(REMIND_AFTER).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_still_waits_after_the_quiet_hours_is_shown_then_as_one() {
    let mut stage = Stage::new();
    *stage.policy.lock().unwrap() = Policy::Hold;
    for (conversation, n) in [(CONVERSATION, 1), (OTHER, 2), (THIRD, 3)] {
        assert_eq!(stage.on(asks(conversation, n, &[])).await, [""; 0]);
    }
    assert_eq!(stage.later(LOOK_AFTER).await, [""; 0], "still quiet");
    stage.on(answered(OTHER, 2)).await;
    *stage.policy.lock().unwrap() = Policy::Show;
    assert_eq!(stage.later(LOOK_AFTER).await, ["1: 2 tasks need you [open default]"]);
    assert_eq!(stage.notifier.look_at, None, "nothing is held");
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_server_did_not_show_is_shown_later_as_one() {
    let mut stage = Stage::new();
    stage.fail(Fails::Always);
    assert_eq!(stage.on(ended(CONVERSATION)).await, ["failed"]);
    assert_eq!(stage.on(ended(OTHER)).await, [""; 0]);
    assert_eq!(stage.later(RETRY_AFTER[0]).await, ["failed"]);
    assert_eq!(stage.later(RETRY_AFTER[0]).await, [""; 0], "the pause doubles");
    assert_eq!(stage.on(ended(THIRD)).await, [""; 0]);
    stage.fail(Fails::Never);
    assert_eq!(stage.later(RETRY_AFTER[0]).await, ["1: 3 tasks have ended [open default]"]);
    stage.fail(Fails::ToShow);
    assert_eq!(
        stage.on(asks(CONVERSATION, 1, &["a"])).await,
        ["1: 2 tasks have ended [open default]"],
        "refused"
    );
    stage.fail(Fails::Never);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, [""; 0], "it is held no longer");
    let again = ["1: 2 tasks have ended [open default]"];
    assert_eq!(stage.later(RETRY_AFTER[0]).await, again, "the pause is the first one again");
    assert_eq!(stage.notifier.look_at, None);
}

#[tokio::test(start_paused = true)]
async fn the_pause_after_failures_has_a_longest() {
    let mut stage = Stage::new();
    stage.fail(Fails::Always);
    stage.on(asks(CONVERSATION, 1, &[])).await;
    let mut pauses = Vec::new();
    let mut last = Instant::now();
    while pauses.len() < 6 {
        if stage.later(LOOK_AFTER).await == ["failed"] {
            pauses.push((Instant::now() - last).as_secs() / 60);
            last = Instant::now();
        }
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 16]);
}

#[tokio::test(start_paused = true)]
async fn an_update_that_fails_leaves_what_is_shown_and_its_actions() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    stage.fail(Fails::ToShow);
    // The words change, the actions stay.
    assert_eq!(stage.on(wants(CONVERSATION, 2)).await, [format!("1: Question: Job 1 [{CHOICES}]")]);
    stage.fail(Fails::Never);
    assert_eq!(stage.later(RETRY_AFTER[0]).await, [format!("1: Question: Job 1 [{CHOICES}]")], "once more");
    stage.press(1, "choice-1");
    let answer = Act::Answer { task: TASK, question: question_id(1), response: "a".to_owned() };
    assert_eq!(stage.ordered(), [answer]);
}

#[tokio::test(start_paused = true)]
async fn an_update_is_tried_again_after_each_pause() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    stage.fail(Fails::ToShow);
    let update = [format!("1: Question: Job 1 [{CHOICES}]")];
    assert_eq!(stage.on(wants(CONVERSATION, 2)).await, update);
    assert_eq!(stage.later(LOOK_AFTER).await, update);
    assert_eq!(stage.later(LOOK_AFTER).await, [""; 0], "the pause doubles");
    assert_eq!(stage.later(LOOK_AFTER).await, update);
}

#[tokio::test(start_paused = true)]
async fn a_press_is_passed_on_once_also_while_the_server_is_busy() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    stage.on(wants(CONVERSATION, 2)).await;
    tokio::time::advance(BURST).await;
    stage.answer(false);
    stage.on(asks(OTHER, 3, &[])).await;
    for _ in 0..5 {
        stage.press(1, "choice-1");
    }
    assert_eq!(stage.ordered().len(), 2, "the second one comes too late, and says so");
    assert_eq!(stage.answer(true), ["close 1", "3: Approval needed: Job 1 [allow reject open default]"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_not_waited_for() {
    let mut stage = Stage::new();
    stage.answer(false);
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, ["1: Question: Job 1 [open default]"]);
    for n in 0..1000 {
        assert_eq!(stage.on(asks(OTHER, 2 + n, &[])).await, [""; 0], "one after the other");
        stage.on(answered(OTHER, 2 + n)).await;
    }
    stage.on(answered(CONVERSATION, 1)).await;
    stage.on(wants(THIRD, 3)).await;
    assert_eq!(
        stage.answer(true),
        ["close 1", "2: Approval needed: Job 102 [allow reject open default]"],
        "what it showed late is closed"
    );
    assert_eq!(stage.press(2, "allow"), ["close 2"]);
}

#[tokio::test]
async fn a_report_that_comes_before_the_reply_is_understood() {
    let mut stage = Stage::new();
    stage.answer(false);
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for stranger in 100..200 {
        stage.press(stranger, "choice-1");
    }
    stage.press(1, "choice-2");
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.answer(true), ["close 1"]);
    let answer = Act::Answer { task: TASK, question: question_id(1), response: "b".to_owned() };
    assert_eq!(stage.ordered(), [answer]);
}

#[tokio::test(start_paused = true)]
async fn the_connection_is_given_up_when_nothing_is_shown() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    assert_eq!(stage.later(REST_AFTER).await, [""; 0]);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, ["close 1"]);
    assert_eq!(stage.later(REST_AFTER).await, ["rest"]);
    stage.fail(Fails::ToShow);
    assert_eq!(stage.on(ended(OTHER)).await, ["2: Completed: Job 101 [open default]"]);
    assert_eq!(stage.later(REST_AFTER).await, ["rest"], "also after a failure");
}

#[tokio::test(start_paused = true)]
async fn what_waited_at_a_server_that_is_lost_is_shown_by_the_next_one() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a"])).await;
    // It may have lost its name only.
    assert_eq!(stage.hear(Heard::Lost), ["close 1", "rest"]);
    assert_eq!(stage.press(1, "choice-1"), [""; 0]);
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.on(asks(OTHER, 2, &["a"])).await, [""; 0], "there may be none yet");
    assert_eq!(stage.later(LOST_FOR).await, ["2: 2 tasks need you [open default]"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_server_is_asked_for_nothing_more() {
    let mut stage = Stage::new();
    stage.answer(false);
    stage.on(asks(CONVERSATION, 1, &["a"])).await;
    stage.hear(Heard::Lost);
    assert_eq!(stage.answer(true), [""; 0]);
    assert_eq!(stage.later(LOST_FOR).await, ["2: Question: Job 1 [choice-1 open default]"]);
}

#[tokio::test(start_paused = true)]
async fn the_inbox_makes_up_for_dropped_changes() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    tokio::time::advance(BURST).await;
    stage.on(asks(OTHER, 2, &[])).await;
    // The end of the first one and a third one were dropped.
    let of = |conversation_id, n| InboxItem {
        conversation_id,
        conversation_title: change(conversation_id).title,
        ..waits(Pending::Question(question(n, &[])))
    };
    stage.inbox = vec![of(OTHER, 2), of(THIRD, 3)];
    stage.notifier.remind_at = Some(Instant::now());
    assert_eq!(
        stage.later(Duration::ZERO).await,
        ["close 1", "close 2", "3: 2 tasks need you [open default]"]
    );
    stage.notifier.remind_at = Some(Instant::now());
    assert_eq!(stage.later(Duration::ZERO).await, [""; 0]);
    assert_eq!(stage.on(answered(OTHER, 2)).await, ["close 3", "4: Question: Job 102 [open default]"]);
    assert_eq!(stage.on(asks(THIRD, 3, &[])).await, [""; 0], "its change was behind in the queue");
    let (feed, news) = Feed::new();
    let asked = question(1, &[]);
    for _ in 0..QUEUE {
        let added = vec![waits(Pending::Question(asked.clone()))];
        feed.committed(&committed(vec![RecordBody::QuestionAsked(asked.clone())], added, vec![]));
    }
    assert_eq!(news.missed.notified().now_or_never(), None);
    feed.committed(&committed(vec![], vec![], vec![PendingId::Question(asked.id)]));
    assert_eq!(news.missed.notified().now_or_never(), Some(()));
}

#[tokio::test]
async fn the_oldest_notifications_are_let_go_and_still_understood() {
    let mut stage = Stage::with(Abilities { actions: true, inline_reply: false });
    tokio::time::pause();
    for n in 0..70 {
        tokio::time::advance(BURST).await;
        stage.on(asks(ConversationId(Uuid::from_u128(500 + n)), n, &["a"])).await;
    }
    assert_eq!(stage.notifier.board.cards.len(), 64);
    assert_eq!(stage.settle(), [""; 0], "they stay on the screen");
    stage.press(1, "choice-1");
    assert_eq!(stage.ordered().len(), 1);
}

#[tokio::test]
async fn what_waits_is_closed_when_the_daemon_ends() {
    let mut stage = Stage::new();
    tokio::time::pause();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    tokio::time::advance(BURST).await;
    stage.on(ended(OTHER)).await;
    tokio::time::advance(BURST).await;
    stage.answer(false);
    stage.on(asks(THIRD, 2, &[])).await;
    let Stage { notifier, log, answers, .. } = stage;
    let (_feed, news) = Feed::new();
    let (_notes, noted) = mpsc::channel(1);
    let policy = |_| future::ready(Policy::Show);
    let ending = async move { answers.send_replace(true) };
    let ran = notifier.run(news, noted, policy, || future::ready(Vec::new()), ending.map(drop));
    ran.await;
    assert_eq!(*log.lock().unwrap(), ["close 1", "close 3", "rest"], "also what is just being shown");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_does_not_keep_the_daemon() {
    let mut stage = Stage::new();
    stage.answer(false);
    stage.on(asks(CONVERSATION, 1, &[])).await;
    let (_feed, news) = Feed::new();
    let (_notes, noted) = mpsc::channel(1);
    let policy = |_| future::ready(Policy::Show);
    let before = Instant::now();
    stage.notifier.run(news, noted, policy, || future::ready(Vec::new()), future::ready(())).await;
    assert_eq!(Instant::now() - before, LEAVE_TIME);
}

#[tokio::test(start_paused = true)]
async fn what_waited_before_the_start_is_shown_when_windows_had_time() {
    let Stage { notifier, log, .. } = Stage::new();
    let (_feed, news) = Feed::new();
    let (_notes, noted) = mpsc::channel(1);
    let policy = |_| future::ready(Policy::Show);
    let inbox = || future::ready(vec![waits(Pending::Question(question(1, &[])))]);
    let shows = Arc::clone(&log);
    let ending = async move {
        tokio::time::sleep(REMIND_AFTER - Duration::from_millis(1)).await;
        assert_eq!(*shows.lock().unwrap(), [""; 0]);
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    notifier.run(news, noted, policy, inbox, ending).await;
    assert_eq!(*log.lock().unwrap(), ["1: Question: Tidy up [open default]", "close 1", "rest"]);
}
