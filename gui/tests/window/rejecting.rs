//! The reason of a rejection before it is sent.

use crate::{
    drawn,
    person::Person,
    preset::{self, APPROVAL, CONVERSATION},
};
use abide_client::{
    Update,
    protocol::{
        ConversationId,
        conversation::Conversation,
        inbox::{Decision, PendingId},
        notification::{InboxUpdate, Notification, Snapshot},
        task::Status,
    },
};
use abide_gui::{
    Message,
    request::{self},
};
use iced_test::core::{Color, keyboard::key::Named};

const REASON: &str = "my long reason";
const EMPTY: &str = "Why not? The agent reads it.";

fn other() -> Conversation {
    let task = preset::task(Status::Completed);
    Conversation {
        id: ConversationId(preset::id(200)),
        title: "Another one".into(),
        task: None,
        ..preset::conversation(&task)
    }
}

/// A person at a conversation with a waiting approval; another conversation is in the list.
fn before() -> (Person, Snapshot) {
    let (mut overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    overview.conversations.push(other());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation.clone());
    person.wait(60_000);
    person.asked();
    (person, conversation)
}

fn leaves_and_comes_back(person: &mut Person, conversation: Snapshot) {
    person.clicks("Another one");
    let there = Snapshot { conversations: vec![other()], ..preset::empty() };
    person.tell(Message::Conversation(other().id, vec![Update::Snapshot(Box::new(there))]));
    assert!(person.finds(REASON).is_none());
    person.clicks("Fix flaky login test");
    person.conversation(conversation);
    person.wait(1000);
}

#[test]
fn a_reason_is_kept_while_another_page_is_open() {
    let (mut person, conversation) = before();
    person.letter("r");
    person.writes(REASON);
    leaves_and_comes_back(&mut person, conversation);
    assert!(person.finds(REASON).is_some());
    person.clicks("Reject");
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::RejectOnce, Some(REASON.into()), None)]);
}

#[test]
fn a_closed_reason_field_comes_back_with_its_text() {
    let (mut person, conversation) = before();
    person.letter("r");
    person.writes(REASON);
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert!(person.finds(REASON).is_none() && person.finds("Allow once").is_some());
    leaves_and_comes_back(&mut person, conversation);
    person.letter("r");
    assert!(person.finds(REASON).is_some());
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::RejectOnce, Some(REASON.into()), None)]);
}

#[test]
fn a_reason_is_dropped_with_its_approval() {
    let (mut person, _) = before();
    person.letter("r");
    person.writes(REASON);
    person.named(Named::Escape);
    person.named(Named::Escape);
    let is_there = |added, removed| {
        let update = InboxUpdate { added, removed, count: 1 };
        vec![Update::Notification(Notification::InboxUpdate(update))]
    };
    let (overview, _) = preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let gone = is_there(Vec::new(), vec![PendingId::Approval(APPROVAL)]);
    person.tell(Message::Overview(gone.clone()));
    person.tell(Message::Conversation(CONVERSATION, gone));
    let back = is_there(overview.inbox, Vec::new());
    person.tell(Message::Overview(back.clone()));
    person.tell(Message::Conversation(CONVERSATION, back));
    person.wait(1000);
    person.letter("r");
    assert!(person.finds(EMPTY).is_some() && person.finds(REASON).is_none());
}

/// The colour of the key on *Reject*.
fn cap(person: &mut Person) -> Option<Color> {
    let button = person.finds("Reject").unwrap();
    let is_beside = |at: &f32| (at - button.y).abs() < 10.0;
    let caps = person.finds_all("↵");
    let cap = caps.into_iter().find(|cap| is_beside(&cap.y) && cap.x > button.x).unwrap();
    drawn::ink(person, cap)
}

#[test]
fn the_reject_key_is_bright_only_while_it_acts() {
    let (mut person, _) = before();
    person.letter("r");
    person.writes(REASON);
    let bright = cap(&mut person);
    person.named(Named::Escape);
    person.wait(1000);
    assert_ne!(cap(&mut person), bright, "no field has the keyboard");
    person.control("l");
    assert_ne!(cap(&mut person), bright, "another field has it");
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.named(Named::Escape);
    person.wait(1000);
    person.letter("r");
    assert_eq!(cap(&mut person), bright);
    person.writes(".");
    person.named(Named::Enter);
    let reason = format!("{REASON}.");
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::RejectOnce, Some(reason), None)]);
}

#[test]
fn a_reason_is_kept_when_the_window_is_closed_and_opened_again() {
    let (mut person, conversation) = before();
    person.letter("r");
    person.writes(REASON);
    person.tell(Message::DraftDue);
    let (overview, _) = preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    person.opens_again(overview.clone());
    person.open(CONVERSATION, conversation);
    person.wait(60_000);
    person.letter("r");
    assert!(person.finds(REASON).is_some());
    // But not if another client has decided meanwhile.
    person.opens_again(preset::empty());
    person.tell(Message::DraftDue);
    person.opens_again(overview.clone());
    let (_, conversation) = preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    person.open(CONVERSATION, conversation);
    person.wait(60_000);
    person.letter("r");
    assert!(person.finds(REASON).is_none() && person.finds(EMPTY).is_some());
}
