//! Ctrl F: finding in the conversation.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    Seq,
    message::{MessageKind, Role},
    method::search::{Excerpt, MessageHit, SearchReply},
    notification::Snapshot,
    task::Status,
};
use abide_gui::{
    Message,
    request::{Answer, Request},
};
use iced_test::core::{
    Size,
    keyboard::{Key, Modifiers, key::Named},
};

fn before(size: Size) -> Person {
    let said = (1..=90).map(|n| {
        let words = if n % 30 == 0 { format!("the needle {n}") } else { format!("hay {n}") };
        preset::said(n, Role::Agent, &words)
    });
    let history = Snapshot { messages: said.collect(), ..preset::empty() };
    let (overview, conversation) = preset::waits(Status::Completed, &[], history);
    let mut person = Person::before(overview);
    person.resizes(size.width, size.height);
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    person
}

fn hit(seq: u64) -> MessageHit {
    let said = preset::said(seq, Role::Agent, "the needle");
    MessageHit {
        conversation_id: CONVERSATION,
        conversation_title: String::new(),
        archived: false,
        message_id: said.id,
        seq: Seq(seq),
        task_id: None,
        at: preset::NOW,
        role: Role::Agent,
        kind: MessageKind::Text,
        line: Excerpt { text: "the needle".into(), marks: Vec::new() },
    }
}

fn asks(query: &str) -> Request {
    Request::Find(CONVERSATION, query.into())
}

fn answers(person: &mut Person, query: &str, seqs: &[u64]) {
    let messages = seqs.iter().copied().map(hit).collect();
    let reply = SearchReply { titles: Vec::new(), messages, before: None, searched_to: Seq(90) };
    person.tell(Message::Answered(asks(query), Ok(Answer::Found(reply))));
}

#[test]
fn control_f_goes_through_the_messages_in_which_it_is() {
    for size in [Size::new(1280.0, 800.0), Size::new(320.0, 210.0)] {
        let mut person = before(size);
        person.control("f");
        person.writes("needle");
        // One request at a time, and the newest next.
        assert_eq!(person.asked(), [asks("ne")]);
        answers(&mut person, "ne", &[90, 60, 30]);
        assert_eq!(person.asked(), [asks("needle")]);
        answers(&mut person, "needle", &[90, 60, 30]);
        assert_eq!(person.asked(), []);
        assert!(person.finds("1 of 3").is_some() && person.finds("the needle 90").is_some(), "{size:?}");
        person.named(Named::Enter);
        assert!(person.finds("2 of 3").is_some() && person.finds("the needle 60").is_some(), "{size:?}");
        assert!(person.finds("the needle 90").is_none());
        person.clicks("Older");
        assert!(person.finds("the needle 30").is_some(), "{size:?}");
        person.clicks("Newer");
        assert!(person.finds("the needle 60").is_some(), "{size:?}");
        // The field has the keyboard again by the same key.
        person.control("f");
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        assert!(person.finds("1 of 3").is_some() && person.finds("the needle 90").is_some(), "{size:?}");
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        assert!(person.finds("3 of 3").is_some() && person.finds("the needle 30").is_some(), "in a circle");
        person.named(Named::Escape);
        assert!(person.finds("3 of 3").is_none() && person.finds("Older").is_none());
        person.writes("next");
        assert_eq!(person.app.conversation().unwrap().composer.draft(), "next");
        assert_eq!(person.asked(), []);
    }
}

#[test]
fn what_is_not_there_is_said_and_what_is_empty_is_not_asked() {
    let mut person = before(Size::new(1280.0, 800.0));
    person.control("f");
    person.writes("x");
    assert_eq!(person.asked(), []);
    person.writes("y");
    assert_eq!(person.asked(), [asks("xy")]);
    answers(&mut person, "xy", &[]);
    assert!(person.finds("not found").is_some());
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.named(Named::Backspace);
    assert!(person.finds("not found").is_none());
}

/// Where no conversation is open, it is searched for one.
#[test]
fn control_f_elsewhere_searches_all() {
    let mut person = before(Size::new(1280.0, 800.0));
    person.control("n");
    person.control("f");
    person.writes("needle");
    assert_eq!(person.asked(), [Request::Search("ne".into())]);
}
