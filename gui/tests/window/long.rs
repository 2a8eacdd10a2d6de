//! In a long conversation only the part near the view costs time.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::{
    Update,
    protocol::{
        Seq, message::Role, method::conversation::ListMessagesReply, notification::Snapshot, task::Status,
    },
};
use abide_gui::{
    Message,
    daemon::Failure,
    effect::{Effect, Scroll},
    request::{self, PAGE, Reply, Request, Timeline},
    screen::conversation::{self, Conversation, Row},
    settings,
    widget::list::View,
};
use iced_test::{
    Simulator,
    core::keyboard::{Key, Modifiers, key::Named},
};

#[test]
fn only_the_last_of_ten_thousand_messages_are_built() {
    let window = preset::long(10_000);
    let mut screen = Simulator::with_size(settings(), (1280.0, 800.0), window.app.view());
    assert!(screen.find("message 9999").is_ok());
    assert!(screen.find("message 9000").is_err(), "far from the view, it is not built");
}

/// A conversation whose snapshot is full, so that there are older messages.
fn with_history() -> (Conversation, Vec<Effect>) {
    let said = (901..=1000).map(|n| preset::said(n, Role::Agent, &format!("message {n}")));
    let snapshot = Snapshot { messages: said.collect(), ..preset::empty() };
    let mut open = Conversation::new(CONVERSATION, "");
    let effects = open.follow(vec![Update::Snapshot(Box::new(snapshot))], Some(0));
    (open, effects)
}

#[test]
fn older_messages_are_fetched_once_when_their_edge_is_near() {
    let (mut open, _) = with_history();
    assert_eq!(open.rows().first(), Some(&Row::Older));
    let view = View { first: Row::Entry(Seq(905)), last: Row::Entry(Seq(915)), at_end: false };
    let asked = open.update(conversation::Message::Looked(view));
    let request = Timeline::from(CONVERSATION).older(Seq(901), PAGE);
    assert_eq!(asked, [Effect::Ask(request.clone())]);
    assert_eq!(open.update(conversation::Message::Looked(view)), [], "the request is under way");
    let older = (801..=900).map(|n| preset::said(n, Role::User, "before"));
    let page = ListMessagesReply {
        messages: older.collect(),
        calls: Vec::new(),
        events: Vec::new(),
        before: None,
        after: None,
    };
    open.answered(&request, &Reply::ListMessages(page));
    assert_eq!(open.rows().len(), 200);
    assert_eq!(open.rows().first(), Some(&Row::Entry(Seq(801))));
}

/// A page of the messages `from` to `to`, as the daemon sends it.
fn page(from: u64, to: u64) -> ListMessagesReply {
    let messages = (from..=to).map(|n| preset::said(n, Role::Agent, &format!("message {n}"))).collect();
    let before = (from > 1).then_some(Seq(from));
    ListMessagesReply { messages, calls: Vec::new(), events: Vec::new(), before, after: None }
}

/// The messages `from` to `to` of those before `end`, as the daemon sends a page that begins after a message.
fn page_after(from: u64, to: u64, end: u64) -> ListMessagesReply {
    let after = (to + 1 < end).then_some(Seq(to));
    ListMessagesReply { before: None, after, ..page(from, to) }
}

/// A conversation of 3,000 messages, of which the newest 100 are loaded.
fn long() -> Person {
    let about = vec![preset::conversation(&preset::task(Status::Completed))];
    let snapshot =
        Snapshot { messages: page(2901, 3000).messages, conversations: about.clone(), ..preset::empty() };
    let mut person = Person::before(Snapshot { conversations: about, ..preset::empty() });
    person.open(CONVERSATION, snapshot);
    person
}

fn answers(person: &mut Person, request: Request, page: ListMessagesReply) {
    person.tell(Message::Answered(request, Ok(Reply::ListMessages(page))));
}

#[test]
fn control_home_fetches_the_beginning_and_nothing_between() {
    let mut person = long();
    person.sent();
    person.press(Key::Named(Named::Home), Modifiers::CTRL);
    let request = Timeline::from(CONVERSATION).between(Seq(0), Seq(2901));
    let pages = |sent: Vec<Request>| {
        sent.into_iter().filter(|sent| matches!(sent, Request::ListMessages(_))).collect::<Vec<_>>()
    };
    assert_eq!(pages(person.sent()), std::slice::from_ref(&request));
    assert!(person.finds("message 1").is_none());
    answers(&mut person, request, page_after(1, 200, 2901));
    assert!(person.finds("message 1").is_some());
    assert_eq!(pages(person.sent()), []);
    assert_eq!(person.app.conversation().unwrap().rows().len(), 301, "a row stands for the gap");
    person.press(Key::Named(Named::End), Modifiers::CTRL);
    assert!(person.finds("message 3000").is_some() && person.finds("message 1").is_none());
    person.press(Key::Named(Named::Home), Modifiers::CTRL);
    assert!(person.finds("message 1").is_some(), "though few of the rows between are built");
    assert_eq!(pages(person.sent()), []);
}

/// A conversation with the messages 1 to 200 and 2,901 to 3,000.
fn with_gap() -> Conversation {
    let mut open = with_tail();
    let asked = open.update(conversation::Message::Scrolled(Scroll::ToStart));
    let request = Timeline::from(CONVERSATION).between(Seq(0), Seq(2901));
    assert_eq!(asked.first(), Some(&Effect::Ask(request.clone())));
    open.answered(&request, &Reply::ListMessages(page_after(1, 200, 2901)));
    assert_eq!(looks(&mut open, 1, 10), [], "the gap is far away");
    open
}

fn with_tail() -> Conversation {
    let snapshot = Snapshot { messages: page(2901, 3000).messages, ..preset::empty() };
    let mut open = Conversation::new(CONVERSATION, "");
    open.follow(vec![Update::Snapshot(Box::new(snapshot))], Some(0));
    open
}

/// The person looks at the messages `from` to `to`.
fn looks(open: &mut Conversation, from: u64, to: u64) -> Vec<Effect> {
    let row = |seq| Row::Entry(Seq(seq));
    let at_end = to == 3000;
    open.update(conversation::Message::Looked(View { first: row(from), last: row(to), at_end }))
}

/// The seqs of the rows; 0 for the gap.
fn seqs(open: &Conversation) -> Vec<u64> {
    let seq = |row: &Row| if let Row::Entry(seq) = row { seq.0 } else { 0 };
    open.rows().iter().map(seq).collect()
}

#[test]
fn a_gap_is_filled_from_the_side_that_is_read() {
    let mut open = with_gap();
    let down = Timeline::from(CONVERSATION).between(Seq(200), Seq(2901));
    assert_eq!(looks(&mut open, 185, 195), [Effect::Ask(down.clone())]);
    assert_eq!(looks(&mut open, 186, 196), [], "the request is under way");
    open.answered(&down, &Reply::ListMessages(page_after(201, 400, 2901)));
    assert_eq!(looks(&mut open, 186, 196), []);
    let expected: Vec<u64> = (1..=400).chain([0]).chain(2901..=3000).collect();
    assert_eq!(seqs(&open), expected);
    let up = Timeline::from(CONVERSATION).older(Seq(2901), PAGE);
    assert_eq!(looks(&mut open, 2905, 2915), [Effect::Ask(up.clone())]);
    open.answered(&up, &Reply::ListMessages(page(2701, 2900)));
    let expected: Vec<u64> = (1..=400).chain([0]).chain(2701..=3000).collect();
    assert_eq!(seqs(&open), expected);
}

#[test]
fn a_gap_is_closed_where_its_sides_meet() {
    for from_above in [true, false] {
        let mut open = with_gap();
        let (request, page) = if from_above {
            looks(&mut open, 185, 195);
            (Timeline::from(CONVERSATION).between(Seq(200), Seq(2901)), page_after(201, 2900, 2901))
        } else {
            looks(&mut open, 2905, 2915);
            // The page reaches beyond the gap.
            (Timeline::from(CONVERSATION).older(Seq(2901), PAGE), page(101, 2900))
        };
        open.answered(&request, &Reply::ListMessages(page));
        assert_eq!(seqs(&open), (1..=3000).collect::<Vec<u64>>(), "from above: {from_above}");
        assert_eq!(looks(&mut open, 185, 195), []);
    }
}

#[test]
fn a_page_of_an_earlier_gap_is_not_used() {
    let mut open = with_gap();
    let request = Timeline::from(CONVERSATION).older(Seq(901), PAGE);
    open.answered(&request, &Reply::ListMessages(page(701, 900)));
    assert_eq!(seqs(&open).len(), 301, "its other end is not known to be loaded");
}

#[test]
fn following_the_end_forgets_the_beginning_before_the_gap() {
    let mut open = with_gap();
    let many = page_after(201, 2300, 2901);
    looks(&mut open, 185, 195);
    open.answered(&Timeline::from(CONVERSATION).between(Seq(200), Seq(2901)), &Reply::ListMessages(many));
    looks(&mut open, 2990, 3000);
    let said = |n| Update::Notification(preset::message(preset::said(n, Role::Agent, "new")));
    open.follow((100_001..=101_700).map(said).collect(), None);
    let expected: Vec<u64> = [0].into_iter().chain(2901..=3000).chain(100_001..=101_700).collect();
    assert!(seqs(&open) == expected, "{:?}: no part of it is left above the gap", &seqs(&open)[..3]);
    let up = Timeline::from(CONVERSATION).older(Seq(2901), PAGE);
    let view = View { first: Row::Entry(Seq(2905)), last: Row::Entry(Seq(2915)), at_end: false };
    assert_eq!(open.update(conversation::Message::Looked(view)), [Effect::Ask(up)]);
}

#[test]
fn a_page_that_failed_to_load_is_requested_again() {
    let (mut open, _) = with_history();
    let view = View { first: Row::Entry(Seq(905)), last: Row::Entry(Seq(915)), at_end: false };
    let asked = open.update(conversation::Message::Looked(view));
    let failure = Failure { message: "the daemon is away".to_owned(), kind: None };
    open.failed(&Timeline::from(CONVERSATION).older(Seq(901), PAGE), &failure);
    assert_eq!(open.update(conversation::Message::Looked(view)), asked);
}

#[test]
fn visible_messages_are_marked_as_read() {
    let (mut open, _) = with_history();
    let new = preset::message(preset::said(100_001, Role::Agent, "new"));
    let unseen = open.follow(vec![Update::Notification(new)], None);
    assert_eq!(unseen, []);
    assert_eq!(open.read(0), Some(Effect::Ask(request::mark_read(CONVERSATION, Seq(100_001)))));
    assert_eq!(open.read(0), None, "once");
    assert!(open.read(3).is_some(), "the daemon knows of more");
}
