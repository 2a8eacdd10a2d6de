//! Typing while no field has the keyboard.

use crate::{
    person::Person,
    preset::{self, APPROVAL, CONVERSATION},
};
use abide_client::{
    Update,
    protocol::{
        inbox::{Decision, Pending, PendingId},
        notification::{InboxUpdate, Notification},
        task::Status,
    },
};
use abide_gui::{
    Message,
    request::{self, Request},
};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

/// A person who has had time to read the open conversation, while no field has the keyboard.
fn before(status: Status, waiting: &[Pending]) -> Person {
    let mut person = Person::reading(status, waiting);
    person.named(Named::Escape);
    person.wait(60_000);
    person.asked();
    person
}

#[test]
fn letters_that_no_field_takes_begin_a_draft() {
    for status in [Status::Completed, Status::Thinking, Status::Paused] {
        let mut person = before(status, &[]);
        person.writes("A run of 2 tests, (rust)");
        assert_eq!(person.draft(), "A run of 2 tests, (rust)", "{status:?}");
        person.named(Named::Escape);
        person.wait(1000);
        person.writes("1");
        assert_eq!(
            person.draft(),
            "A run of 2 tests, (rust)1",
            "the text goes to the earlier position of the caret"
        );
        assert_eq!(person.asked(), [], "{status:?}");
    }
    let mut person = Person::before(preset::empty());
    person.control("n");
    person.named(Named::Escape);
    person.wait(1000);
    person.writes("and here");
    person.named(Named::Enter);
    let asked = person.asked();
    assert!(matches!(&asked[..], [Request::StartTask(start)] if start.message == "and here"), "{asked:?}");
}

#[test]
fn keys_other_than_letters_begin_no_draft() {
    let mut person = before(Status::Completed, &[]);
    for key in [Named::Space, Named::Backspace, Named::Enter, Named::Tab] {
        person.named(key);
        person.named(Named::Escape);
        person.wait(1000);
    }
    person.press(Key::Character("x".into()), Modifiers::ALT);
    person.press(Key::Character("j".into()), Modifiers::CTRL);
    assert_eq!(person.draft(), "");
    person.letter("?");
    person.writes("over the keys");
    assert_eq!(person.draft(), "");
}

#[test]
fn a_digit_with_control_is_not_written() {
    let mut person = before(Status::Completed, &[]);
    person.writes("go on");
    person.control("1");
    assert_eq!(person.draft(), "go on");
}

/// The keys of a card are letters.
#[test]
fn letters_begin_no_draft_while_a_card_waits() {
    for pending in [preset::approval(), Pending::Question(preset::question())] {
        let mut person = before(Status::WaitingApproval, std::slice::from_ref(&pending));
        person.writes("some words");
        person.wait(1000);
        person.writes("more");
        assert_eq!(person.draft(), "");
        assert_eq!(person.asked(), []);
        // Nor while the card is out of view.
        person.control("i");
        person.writes("words");
        person.control("i");
        assert_eq!(person.draft(), "");
    }
}

/// Letters typed just after a decision were meant for the card.
#[test]
fn letters_begin_no_draft_just_after_a_decision() {
    let mut person = before(Status::WaitingApproval, &[preset::approval()]);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowOnce, None, None)]);
    let removed = vec![PendingId::Approval(APPROVAL)];
    let gone = InboxUpdate { added: Vec::new(), removed, count: 0 };
    let update = Update::Notification(Notification::InboxUpdate(gone));
    person.tell(Message::Conversation(CONVERSATION, vec![update.clone()]));
    person.tell(Message::Overview(vec![update]));
    person.wait(500);
    person.letter("a");
    person.wait(200);
    person.writes("ll of it");
    assert_eq!(person.draft(), "", "the beginning of the sentence was dropped");
    person.wait(1000);
    person.writes("all of it");
    assert_eq!(person.draft(), "all of it");
}

#[test]
fn letters_begin_no_draft_just_after_the_help_has_closed_or_a_question_has_come() {
    let mut person = before(Status::Completed, &[]);
    // The composer gets the caret back only if it had it.
    person.named(Named::Escape);
    person.letter("?");
    person.wait(1000);
    person.named(Named::Escape);
    person.writes("no");
    assert_eq!(person.draft(), "");
    // A question about the conversation has keys of its own.
    person.wait(1000);
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    person.wait(1000);
    person.writes("no");
    assert_eq!(person.draft(), "");
}
