use super::{board::BURST, *};
use abide_protocol::{
    ApprovalId, CallId, JsonText, QuestionId, RecordId, Seq, TaskId, Timestamp,
    conversation::Conversation,
    inbox::{Approval, Decision, InboxItem, Pending, Question, QuestionKind, Rule},
    notification::{ConversationUpdate, InboxUpdate},
    record::{Record, RecordBody, TaskEnded},
    task::{AgentTask, EndReason, Limits, Mode, Status},
    transcript::{Risk, Usage},
};
use abide_store::Committed;
use std::sync::{Arc, Mutex};
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
        work: None,
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
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

/// A server that logs what it is asked, and reports what the test sends.
struct Screen {
    log: Arc<Mutex<Vec<String>>>,
    reports: mpsc::Receiver<Heard<u32>>,
    shown: u32,
    abilities: Abilities,
    broken: Arc<Mutex<bool>>,
}

impl Desktop for Screen {
    type Handle = u32;

    async fn server(&mut self) -> Result<Server, String> {
        if *self.broken.lock().unwrap() {
            self.log.lock().unwrap().push("failed".to_owned());
            return Err("no bus".to_owned());
        }
        Ok(Server { name: "screen 1".to_owned(), abilities: self.abilities })
    }

    async fn show(&mut self, popup: &Popup, replaces: Option<&u32>) -> Result<u32, String> {
        let id = replaces.copied().unwrap_or_else(|| {
            self.shown += 1;
            self.shown
        });
        let keys: Vec<&str> = popup.buttons.iter().map(|button| button.key).collect();
        self.log.lock().unwrap().push(format!("{id}: {} [{}]", popup.summary, keys.join(" ")));
        Ok(id)
    }

    async fn close(&mut self, shown: &u32) {
        self.log.lock().unwrap().push(format!("close {shown}"));
    }

    async fn heard(&mut self) -> Heard<u32> {
        match self.reports.recv().await {
            Some(heard) => heard,
            None => std::future::pending().await,
        }
    }

    fn rest(&mut self) {
        self.log.lock().unwrap().push("rest".to_owned());
    }
}

/// A notifier at work, and the test's ends of its channels.
struct Stage {
    notifier: Notifier<Screen>,
    log: Arc<Mutex<Vec<String>>>,
    broken: Arc<Mutex<bool>>,
    policy: Arc<Mutex<Policy>>,
    orders: mpsc::Receiver<Order<u32>>,
    focus: watch::Sender<HashSet<ConversationId>>,
}

impl Stage {
    fn new() -> Self {
        Self::with(Abilities { actions: true, inline_reply: true })
    }

    fn with(abilities: Abilities) -> Self {
        let (_, reports) = mpsc::channel(1);
        let (log, broken) = (Arc::default(), Arc::default());
        let screen =
            Screen { log: Arc::clone(&log), reports, shown: 0, abilities, broken: Arc::clone(&broken) };
        let (focus, focused) = watch::channel(HashSet::new());
        let ((orders, _), (ordered, _)) = channels();
        let notifier = Notifier::new(screen, focused, orders);
        let policy = Arc::new(Mutex::new(Policy::Show));
        Self { notifier, log, broken, policy, orders: ordered, focus }
    }

    async fn on(&mut self, change: Change) -> Vec<String> {
        let policy = Arc::clone(&self.policy);
        self.notifier.changed(&change, &move |_| std::future::ready(*policy.lock().unwrap())).await;
        self.log()
    }

    async fn hear(&mut self, heard: Heard<u32>) -> Vec<String> {
        self.notifier.heard(heard).await;
        self.log()
    }

    async fn press(&mut self, shown: u32, key: &str) -> Vec<String> {
        self.hear(Heard::Pressed { shown, key: key.to_owned(), token: None }).await
    }

    async fn later(&mut self, time: Duration) -> Vec<String> {
        tokio::time::advance(time).await;
        let policy = Arc::clone(&self.policy);
        self.notifier.woke(&move |_| std::future::ready(*policy.lock().unwrap())).await;
        self.log()
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
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
    assert_eq!(stage.press(2, "open").await, [""; 0]);
    assert_eq!(stage.ordered(), [Act::Open(Place::Inbox)]);
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
    assert_eq!(stage.hear(Heard::Closed(1)).await, [""; 0]);
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
        stage.press(1, "choice-2").await,
        ["close 1", "2: Approval needed: Job 1 [allow reject open default]"]
    );
    let answer = Act::Answer { task: TASK, question: question_id(1), response: "b".to_owned() };
    assert_eq!(stage.ordered(), [answer]);
    // Its commit comes later, and changes nothing more.
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, [""; 0]);
    // A press that comes too late is about the old item, and is passed on once.
    assert_eq!(stage.press(1, "choice-1").await, [""; 0]);
    let late = Act::Answer { task: TASK, question: question_id(1), response: "a".to_owned() };
    assert_eq!(stage.ordered(), [late]);
    stage.press(1, "choice-1").await;
    assert_eq!(stage.ordered(), []);
    stage.press(2, "reject").await;
    assert_eq!(stage.ordered(), [Act::Decide { approval: approval_id(2), decision: Decision::RejectOnce }]);
}

#[tokio::test]
async fn unknown_notifications_and_keys_do_nothing() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for (shown, key) in [(7, "choice-1"), (1, "choice-3"), (1, "allow"), (1, ""), (1, "inline-reply")] {
        assert_eq!(stage.press(shown, key).await, [""; 0], "{shown} {key}");
    }
    stage.hear(Heard::Replied { shown: 1, text: "a question with choices has no field".to_owned() }).await;
    stage.hear(Heard::Closed(9)).await;
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.on(answered(CONVERSATION, 1)).await, ["close 1"]);
}

#[tokio::test]
async fn a_typed_reply_answers_and_an_empty_one_does_not() {
    let mut stage = Stage::new();
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, ["1: Question: Job 1 [open default]"]);
    stage.hear(Heard::Replied { shown: 1, text: " \n".to_owned() }).await;
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.hear(Heard::Replied { shown: 1, text: "green".to_owned() }).await, ["close 1"]);
    let answer = Act::Answer { task: TASK, question: question_id(1), response: "green".to_owned() };
    assert_eq!(stage.ordered(), [answer]);
}

#[tokio::test]
async fn a_flood_of_presses_is_bounded() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for _ in 0..1000 {
        stage.press(1, "open").await;
    }
    assert_eq!(stage.ordered(), vec![Act::Open(Place::Conversation(CONVERSATION)); ORDERS]);
    for _ in 0..1000 {
        stage.press(1, "choice-1").await;
    }
    assert_eq!(stage.ordered().len(), 2);
    assert_eq!(stage.log(), [""; 0]);
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_room_says_so() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a", "b"])).await;
    for _ in 0..ORDERS {
        stage.press(1, "open").await;
    }
    assert_eq!(stage.press(1, "choice-1").await, ["close 1", "1: Not answered []"]);
    assert_eq!(stage.press(1, "choice-1").await, ["1: Not answered []"]);
    assert_eq!(stage.press(1, "choice-1").await, [""; 0], "a flood is told twice");
}

#[tokio::test]
async fn nothing_is_shown_of_what_somebody_looks_at_or_does_not_want() {
    let mut stage = Stage::new();
    stage.focus.send_replace(HashSet::from([CONVERSATION]));
    assert_eq!(stage.on(asks(CONVERSATION, 1, &[])).await, [""; 0]);
    stage.focus.send_replace(HashSet::new());
    *stage.policy.lock().unwrap() = Policy::Drop;
    assert_eq!(stage.on(asks(CONVERSATION, 2, &[])).await, [""; 0]);
    *stage.policy.lock().unwrap() = Policy::Show;
    stage.on(asks(CONVERSATION, 3, &[])).await;
    let muted = Change { over: Some(Over::Silent), ..change(CONVERSATION) };
    assert_eq!(stage.on(muted).await, ["close 1"]);
}

#[tokio::test(start_paused = true)]
async fn what_still_waits_after_the_quiet_hours_is_shown_then_as_one() {
    let mut stage = Stage::new();
    *stage.policy.lock().unwrap() = Policy::Hold;
    for (conversation, n) in [(CONVERSATION, 1), (OTHER, 2), (THIRD, 3)] {
        assert_eq!(stage.on(asks(conversation, n, &[])).await, [""; 0]);
    }
    assert_eq!(stage.later(QUIET_LOOK).await, [""; 0], "still quiet");
    stage.on(answered(OTHER, 2)).await;
    *stage.policy.lock().unwrap() = Policy::Show;
    assert_eq!(stage.later(QUIET_LOOK).await, ["1: 2 tasks need you [open default]"]);
    assert_eq!(stage.notifier.look_at, None, "nothing is held");
}

#[tokio::test(start_paused = true)]
async fn a_failed_server_is_left_alone_for_a_minute() {
    let mut stage = Stage::new();
    *stage.broken.lock().unwrap() = true;
    assert_eq!(stage.on(ended(CONVERSATION)).await, ["failed"]);
    assert_eq!(stage.on(ended(OTHER)).await, [""; 0]);
    *stage.broken.lock().unwrap() = false;
    tokio::time::advance(RETRY_AFTER).await;
    assert_eq!(stage.on(ended(THIRD)).await, ["1: Completed: Job 102 [open default]"]);
}

#[tokio::test(start_paused = true)]
async fn the_connection_is_given_up_when_nothing_is_shown() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    assert_eq!(stage.notifier.rest_at, None);
    stage.on(answered(CONVERSATION, 1)).await;
    assert_eq!(stage.later(REST_AFTER).await, ["rest"]);
    assert_eq!(stage.notifier.rest_at, None);
    *stage.broken.lock().unwrap() = true;
    stage.on(ended(OTHER)).await;
    assert_eq!(stage.later(REST_AFTER).await, ["rest"], "also after a failure");
}

#[tokio::test]
async fn a_lost_connection_forgets_what_was_shown() {
    let mut stage = Stage::new();
    stage.on(asks(CONVERSATION, 1, &["a"])).await;
    stage.hear(Heard::Lost).await;
    assert_eq!(stage.press(1, "choice-1").await, [""; 0]);
    assert_eq!(stage.ordered(), []);
    assert_eq!(stage.on(asks(OTHER, 2, &["a"])).await, ["2: Question: Job 101 [choice-1 open default]"]);
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
    assert_eq!(stage.log(), [""; 0], "they stay on the screen");
    stage.press(1, "choice-1").await;
    assert_eq!(stage.ordered().len(), 1);
}

#[tokio::test]
async fn what_waits_is_closed_when_the_daemon_ends() {
    let mut stage = Stage::new();
    tokio::time::pause();
    stage.on(asks(CONVERSATION, 1, &[])).await;
    tokio::time::advance(BURST).await;
    stage.on(ended(OTHER)).await;
    let (_changes, changed) = mpsc::channel(1);
    let (_notes, noted) = mpsc::channel(1);
    let log = Arc::clone(&stage.log);
    let policy = |_| std::future::ready(Policy::Show);
    log.lock().unwrap().clear();
    stage.notifier.run(changed, noted, policy, std::future::ready(())).await;
    assert_eq!(*log.lock().unwrap(), ["close 1"]);
}
