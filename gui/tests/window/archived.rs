//! Archived conversations in the list: found in any window, fetched when their group is opened, and not
//! hidden while they work.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, NOW},
};
use abide_client::protocol::method::conversation::ListConversationsParams;
use abide_client::{
    Update,
    protocol::{
        ConversationId, Timestamp,
        conversation::Conversation,
        inbox::Pending,
        method::conversation::ListConversationsReply,
        notification::{ConversationUpdate, Notification, Snapshot},
        task::{EndReason, Status},
    },
};
use abide_gui::{
    Message,
    daemon::Failure,
    request::{self, Reply, Request},
};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

/// An ended conversation that was last changed so many minutes ago.
fn ended(n: u32, minutes: i64) -> Conversation {
    Conversation {
        id: ConversationId(preset::id(500 + u128::from(n))),
        title: format!("number {n}"),
        updated_at: Timestamp(NOW.0 - minutes * 60_000),
        ..preset::conversation(&preset::task(Status::Completed))
    }
}

fn archived(n: u32) -> Conversation {
    Conversation { archived: true, ..ended(n, i64::from(n)) }
}

/// A window before a daemon that has these, and others that are archived.
fn before(conversations: Vec<Conversation>) -> Person {
    let mut person = Person::before(Snapshot { conversations, ..preset::empty() });
    assert_eq!(asked_for(&person), [(None, 1)], "it is only asked whether there is one");
    gives(&mut person, None, 1, vec![archived(1)], Some("next"));
    person
}

fn asks(cursor: Option<String>, limit: u32) -> Request {
    Request::ListConversations(ListConversationsParams { archived: true, cursor, limit: Some(limit) })
}

/// The pages that were asked for since the last call: the cursor, and the most conversations.
fn asked_for(person: &Person) -> Vec<(Option<String>, u32)> {
    let pages = person.sent().into_iter().filter_map(|request| match request {
        Request::ListConversations(asked) => Some((asked.cursor, asked.limit?)),
        _ => None,
    });
    pages.collect()
}

/// The daemon answers with this page.
fn gives(
    person: &mut Person,
    cursor: Option<&str>,
    limit: u32,
    conversations: Vec<Conversation>,
    next: Option<&str>,
) {
    let page = ListConversationsReply { conversations, next_cursor: next.map(str::to_owned) };
    let request = asks(cursor.map(str::to_owned), limit);
    person.tell(Message::Answered(request, Ok(Reply::ListConversations(page))));
}

fn becomes(person: &mut Person, conversation_id: ConversationId, conversation: Option<Conversation>) {
    let update = ConversationUpdate { conversation_id, conversation };
    person.tell(Message::Overview(vec![Update::Notification(Notification::ConversationUpdate(update))]));
}

fn folds_by_key(person: &mut Person) {
    person.control_shift("B");
}

/// The overview has none of them: it would grow with each conversation that was ever archived.
#[test]
fn they_are_fetched_by_pages_while_their_group_is_open() {
    let mut person = before(vec![ended(90, 0)]);
    assert!(person.finds("number 1").is_none());
    person.clicks("Archived +");
    assert_eq!(asked_for(&person), [(None, 50)]);
    gives(&mut person, None, 50, (1..=50).map(archived).collect(), Some("after fifty"));
    assert!(person.finds("number 1").is_some() && person.finds_bounds("number 50").is_some());
    let text = "Show older ones";
    while person.finds(text).is_none() {
        person.wheels_over(iced_test::core::Point::new(100.0, 400.0), -20.0);
    }
    person.clicks(text);
    assert_eq!(asked_for(&person), [(Some("after fifty".to_owned()), 50)]);
    person.clicks(text);
    assert_eq!(asked_for(&person), [], "one page at a time");
    gives(&mut person, Some("after fifty"), 50, (50..=70).map(archived).collect(), None);
    assert_eq!(person.texts().iter().filter(|text| *text == "number 50").count(), 1);
    assert!(person.finds_bounds("number 70").is_some());
    assert!(person.finds_bounds(text).is_none(), "these are all");
    folds_by_key(&mut person);
    assert!(person.finds_bounds("number 1").is_none());
    // What was fetched is forgotten.
    folds_by_key(&mut person);
    assert!(person.finds_bounds("number 1").is_none());
    assert_eq!(asked_for(&person), [(None, 50)]);
}

#[test]
fn a_window_before_a_daemon_without_them_has_no_group_for_them() {
    let mut person = Person::before(Snapshot { conversations: vec![ended(90, 0)], ..preset::empty() });
    assert!(person.finds("Archived +").is_none());
    gives(&mut person, None, 1, Vec::new(), None);
    assert!(person.finds("Archived +").is_none());
    becomes(&mut person, ended(90, 0).id, Some(Conversation { archived: true, ..ended(90, 0) }));
    assert!(person.finds("number 90").is_none());
    assert!(person.finds("Archived +").is_some(), "now there is one");
}

/// The menu says *Unarchive*, and the row leaves the group only when the daemon has done it.
#[test]
fn one_is_brought_back_or_deleted_from_the_group() {
    let mut person = before(vec![ended(90, 0)]);
    person.clicks("Archived +");
    gives(&mut person, None, 50, vec![archived(1), archived(2), archived(3)], None);
    person.asked();
    person.clicks_right("number 2");
    person.wait(1000);
    person.clicks("Unarchive");
    assert_eq!(person.asked(), [request::archive(archived(2).id, false)]);
    becomes(&mut person, archived(2).id, Some(ended(2, 2)));
    let group = person.finds("Archived −").unwrap();
    assert!(person.finds("number 2").unwrap().y < group.y);
    assert_eq!(person.texts().iter().filter(|text| *text == "number 2").count(), 1);
    // Another client deletes one that the overview has never had.
    becomes(&mut person, archived(1).id, None);
    assert!(person.finds("number 1").is_none());
    becomes(&mut person, archived(3).id, None);
    assert!(person.finds("Nothing is archived.").is_some());
}

/// Nothing waits unseen.
#[test]
fn what_works_or_waits_is_in_its_group_though_it_is_archived() {
    for (status, pending, group) in [
        (Status::WaitingApproval, vec![preset::approval()], "NEEDS YOU"),
        (Status::WaitingUser, vec![Pending::Question(preset::question())], "NEEDS YOU"),
        (Status::Thinking, Vec::new(), "WORKING"),
        (Status::Paused, Vec::new(), "PAUSED"),
    ] {
        let (overview, _) = preset::waits(status, &pending, preset::history());
        let conversations = overview.conversations.iter().cloned();
        let conversations =
            conversations.map(|conversation| Conversation { archived: true, ..conversation }).collect();
        let mut person = Person::before(Snapshot { conversations, ..overview });
        assert!(person.finds(group).is_some(), "{group}");
        assert!(person.finds("archived").is_some(), "{group}: the row says so");
        person.control("j");
        let is_shown = person.app.conversation().is_some_and(|open| open.id() == CONVERSATION);
        assert_eq!(is_shown, !pending.is_empty(), "{group}");
        // Once it rests it is among the archived ones.
        let mut task = preset::task(Status::Completed);
        task.end_reason = Some(EndReason::Completed);
        let rests = Conversation { archived: true, ..preset::conversation(&task) };
        person.overview(Snapshot { conversations: vec![rests], ..preset::empty() });
        assert!(person.finds(group).is_none(), "{group}");
        person.clicks("Archived +");
        assert!(person.finds("Fix flaky login test").is_some(), "{group}");
    }
}

/// The list is longer than the window, so the group is far below.
#[test]
fn a_key_opens_the_group_and_leads_to_it_from_wherever_it_is_pressed() {
    let many: Vec<Conversation> = (10..60).map(|n| ended(n, i64::from(n))).collect();
    for hides in ["nothing", "a narrow window", "a folded list", "a search"] {
        let mut person = before(many.clone());
        match hides {
            "a narrow window" => person.resizes(500.0, 600.0),
            "a folded list" => person.control("b"),
            "a search" => {
                person.control("k");
                person.writes("number 3");
            }
            _ => {}
        }
        folds_by_key(&mut person);
        gives(&mut person, None, 50, vec![archived(1), archived(2)], None);
        assert!(person.finds_whole("Archived −") && person.finds_whole("number 2"), "{hides}");
        folds_by_key(&mut person);
        assert!(person.finds("Archived −").is_none(), "{hides}");
    }
    // Its rows come after all others for the keys that step through the list.
    let mut person = before(many);
    folds_by_key(&mut person);
    gives(&mut person, None, 50, vec![archived(1), archived(2)], None);
    for _ in 0..51 {
        person.press(Key::Named(Named::ArrowDown), Modifiers::CTRL);
    }
    assert_eq!(person.app.conversation().map(|open| open.id()), Some(archived(1).id));
}

#[test]
fn the_row_of_a_conversation_that_a_key_opens_is_in_view() {
    let many: Vec<Conversation> = (10..60).map(|n| ended(n, i64::from(n))).collect();
    let mut person = Person::before(Snapshot { conversations: many, ..preset::empty() });
    let step = |person: &mut Person, key, number: u32| {
        person.press(Key::Named(key), Modifiers::CTRL);
        assert!(person.finds_whole(&format!("number {number}")), "{number}");
    };
    for number in 10..60 {
        step(&mut person, Named::ArrowDown, number);
    }
    for number in (10..59).rev() {
        step(&mut person, Named::ArrowUp, number);
    }
}

/// The daemon may have changed them meanwhile.
#[test]
fn all_that_are_shown_are_fetched_again_when_the_daemon_is_back() {
    let mut person = before(vec![ended(90, 0)]);
    person.clicks("Archived +");
    gives(&mut person, None, 50, (1..=50).map(archived).collect(), Some("after fifty"));
    gives(&mut person, Some("after fifty"), 50, (51..=70).map(archived).collect(), None);
    person.asked();
    let back = Snapshot { conversations: vec![ended(90, 0)], ..preset::empty() };
    person.tell(Message::Overview(vec![Update::Reconnected(Box::new(back))]));
    assert_eq!(asked_for(&person), [(None, 70)]);
    assert!(person.finds("number 1").is_some(), "until the answer is there");
    gives(&mut person, None, 70, vec![archived(2)], None);
    assert!(person.finds("number 1").is_none() && person.finds("number 2").is_some());
}

#[test]
fn a_page_that_does_not_come_is_an_error_only_for_who_waits_for_it() {
    let mut person = Person::before(preset::empty());
    let fails = |person: &mut Person, limit| {
        let request = asks(None, limit);
        let failure = Failure { message: "The disk is slow.".into(), kind: None };
        person.tell(Message::Answered(request, Err(failure)));
        person.finds("The disk is slow.").is_some()
    };
    assert!(!fails(&mut person, 1));
    gives(&mut person, None, 1, vec![archived(1)], None);
    person.clicks("Archived +");
    assert!(fails(&mut person, 50));
}

/// The overview does not have it, so its title and its unread messages are those of the fetched row.
#[test]
fn one_that_is_opened_has_its_title_and_becomes_read() {
    let mut person = before(vec![ended(90, 0)]);
    person.clicks("Archived +");
    let unread = Conversation { id: CONVERSATION, unread: 2, ..archived(1) };
    gives(&mut person, None, 50, vec![unread.clone()], None);
    person.asked();
    let snapshot = Snapshot { conversations: vec![unread.clone()], ..preset::history() };
    person.open(unread.id, snapshot);
    assert_eq!(person.app.title(), "number 1 – Abide");
    let sent = person.sent();
    assert!(
        sent.iter().any(
            |asked| matches!(asked, Request::MarkRead(asked) if asked.conversation_id == unread.id.to_string())
        ),
        "{sent:?}"
    );
}
