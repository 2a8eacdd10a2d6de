//! A reply that was begun and not sent.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, QUESTION},
    replies::is_done,
};
use abide_client::{
    Update,
    protocol::{
        inbox::{Pending, PendingId},
        notification::{InboxUpdate, Notification, Snapshot},
        task::Status,
    },
};
use abide_gui::{Message, daemon::Failure, request::Request};
use iced_test::core::keyboard::key::Named;

#[test]
fn a_typed_choice_is_dropped_with_its_question() {
    for (draft, left) in [("2", ""), ("16–19 March", ""), ("use 2 workers", "use 2 workers")] {
        let mut person = Person::reading(Status::WaitingUser, &[Pending::Question(preset::question())]);
        person.writes(draft);
        person.wait(1000);
        person.clicks("9–12 March");
        let asked = person.asked();
        assert!(
            matches!(&asked[..], [Request::UserResponse(said)] if said.response.as_deref() == Some("9–12 March")),
            "{asked:?}"
        );
        let gone = InboxUpdate { added: Vec::new(), removed: vec![PendingId::Question(QUESTION)], count: 0 };
        let update = Update::Notification(Notification::InboxUpdate(gone));
        person.tell(Message::Conversation(CONVERSATION, vec![update]));
        assert_eq!(person.draft(), left);
    }
}

/// A person who has just sent this answer, which was on disk as a draft; the request, and the snapshot of the
/// conversation.
fn sends(answer: &str) -> (Person, Request, Snapshot) {
    let pending = [Pending::Question(preset::question())];
    let (overview, conversation) = preset::waits(Status::WaitingUser, &pending, preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation.clone());
    person.wait(60_000);
    person.asked();
    person.control("l");
    person.writes(answer);
    person.tell(Message::DraftDue);
    assert_eq!(kept(&person), answer);
    person.named(Named::Enter);
    let mut asked = person.asked();
    assert!(matches!(&asked[..], [Request::UserResponse(_)]), "{asked:?}");
    (person, asked.remove(0), conversation)
}

/// The draft on disk.
fn kept(person: &Person) -> String {
    let file = person.home().state_dir.join(format!("gui/drafts/{CONVERSATION}"));
    std::fs::read_to_string(file).unwrap_or_default()
}

/// It would be the answer to the next question.
#[test]
fn an_answer_that_was_sent_does_not_come_back_as_a_draft() {
    for answer in ["2", "in words"] {
        let (mut person, request, conversation) = sends(answer);
        person.tell(is_done(request));
        person.tell(Message::DraftDue);
        assert_eq!(kept(&person), "");
        person.control("n");
        person.open(CONVERSATION, conversation);
        assert_eq!(person.draft(), "");
    }
}

#[test]
fn nor_does_it_if_the_person_leaves_before_the_daemon_has_taken_it() {
    for is_back_before in [false, true] {
        let (mut person, request, conversation) = sends("in words");
        person.control("n");
        if is_back_before {
            person.open(CONVERSATION, conversation.clone());
        }
        person.tell(is_done(request));
        person.tell(Message::DraftDue);
        assert_eq!(kept(&person), "", "{is_back_before}");
        if !is_back_before {
            person.open(CONVERSATION, conversation);
        }
        assert_eq!(person.draft(), "", "{is_back_before}");
    }
}

#[test]
fn an_answer_that_could_not_be_sent_stays_a_draft() {
    let (mut person, request, conversation) = sends("in words");
    person.control("n");
    let failure = Failure { message: "The daemon is away.".to_owned(), kind: None };
    person.tell(Message::Answered(request, Err(failure)));
    person.open(CONVERSATION, conversation);
    assert_eq!((kept(&person), person.draft()), ("in words".to_owned(), "in words".to_owned()));
}
