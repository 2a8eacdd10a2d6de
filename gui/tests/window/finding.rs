//! Ctrl F: search within a conversation.

use crate::{
    drawn, giant,
    person::Person,
    preset::{self, APPROVAL, CONVERSATION},
};
use abide_client::protocol::{
    Seq,
    inbox::Decision,
    message::{Message as Said, MessageKind, Role},
    method::search::{Excerpt, MessageHit, SearchReply},
    notification::Snapshot,
    task::Status,
};
use abide_gui::{
    Message,
    request::{self, Reply, Request},
};
use iced_test::core::{
    Point, Rectangle, Size,
    keyboard::{Key, Modifiers, key::Named},
};

fn before(size: Size) -> Person {
    let said = (1..=90).map(|n| {
        let words = if n % 30 == 0 { format!("the needle {n}") } else { format!("hay {n}") };
        preset::said(n, Role::Agent, &words)
    });
    of(said.collect(), size)
}

/// A conversation of these messages.
fn of(messages: Vec<Said>, size: Size) -> Person {
    let history = Snapshot { messages, ..preset::empty() };
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
    request::find(CONVERSATION, query)
}

pub(crate) fn answers(person: &mut Person, query: &str, seqs: &[u64]) {
    let messages = seqs.iter().copied().map(hit).collect();
    let reply = SearchReply { titles: Vec::new(), messages, before: None, searched_to: Seq(90) };
    person.tell(Message::Answered(asks(query), Ok(Reply::Search(reply))));
}

#[test]
fn control_f_goes_through_the_matching_messages() {
    for size in [Size::new(1280.0, 800.0), Size::new(320.0, 210.0)] {
        let mut person = before(size);
        person.control("f");
        person.writes("needle");
        // One request is sent at a time, for the newest text.
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
        // The same key gives the field the keyboard again.
        person.control("f");
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        assert!(person.finds("1 of 3").is_some() && person.finds("the needle 90").is_some(), "{size:?}");
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        assert!(
            person.finds("3 of 3").is_some() && person.finds("the needle 30").is_some(),
            "it wraps around"
        );
        person.named(Named::Escape);
        assert!(person.finds("3 of 3").is_none() && person.finds("Older").is_none());
        person.writes("next");
        assert_eq!(person.draft(), "next");
        assert_eq!(person.asked(), []);
    }
}

#[test]
fn a_search_without_a_match_says_so_and_an_empty_one_is_not_sent() {
    let mut person = before(Size::new(1280.0, 800.0));
    person.control("f");
    person.writes("x");
    assert_eq!(person.asked(), []);
    person.writes("y");
    assert_eq!(person.asked(), [asks("xy")]);
    answers(&mut person, "xy", &[]);
    assert!(person.finds("no message has it").is_some());
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.named(Named::Backspace);
    assert!(person.finds("no message has it").is_none());
}

/// Without an open conversation, the key searches all conversations.
#[test]
fn control_f_without_a_conversation_searches_all_conversations() {
    let mut person = before(Size::new(1280.0, 800.0));
    person.control("n");
    person.control("f");
    person.writes("needle");
    assert_eq!(person.asked(), [request::search("ne".into())]);
}

/// A message of 300 paragraphs, or lines, three of which have the needle.
fn long(role: Role, between: &str) -> Said {
    let parts = (1..=300).map(|n| match n {
        20 | 150 | 290 => format!("here the needle {n} lies"),
        _ => format!("hay {n}"),
    });
    preset::said(2, role, &parts.collect::<Vec<_>>().join(between))
}

/// The search is there, and its match is marked in view.
fn is_seen(person: &mut Person, place: &str, name: &str) {
    let (top, foot) = (person.finds("Close").unwrap(), person.finds("Send").unwrap());
    let size = person.size;
    let room = Size::new(size.width, foot.y - top.y - top.height);
    let view = Rectangle::new(Point::new(0.0, top.y + top.height), room);
    let shown = person.finds(place).is_some();
    let at = drawn::found(person);
    let marks: Vec<_> = drawn::marks(person).into_iter().filter(|mark| mark.is_within(&view)).collect();
    assert!(shown, "{place}, {size:?}, {name}");
    assert!(!marks.is_empty(), "{place}, {size:?}, {name}: {:?}", drawn::marks(person));
    assert!(at.is_some_and(|at| at.is_within(&view)), "{place}, {size:?}, {name}: {at:?} in {view:?}");
}

#[test]
fn each_match_in_a_long_message_is_scrolled_into_view() {
    let sizes = [Size::new(1280.0, 800.0), Size::new(320.0, 210.0)];
    for (size, role) in sizes.into_iter().flat_map(|size| [(size, Role::Agent), (size, Role::User)]) {
        let between = if role == Role::Agent { "\n\n" } else { "\n" };
        let messages = vec![
            preset::said(1, Role::Agent, "the needle at the beginning"),
            long(role, between),
            preset::said(3, Role::Agent, "the end"),
        ];
        let mut person = of(messages, size);
        person.control("f");
        person.writes("needle");
        answers(&mut person, "ne", &[2, 1]);
        answers(&mut person, "needle", &[2, 1]);
        let of = format!("{role:?}");
        for place in ["1 of 2 · 1 of 3 in it", "1 of 2 · 2 of 3 in it", "1 of 2 · 3 of 3 in it", "2 of 2"]
        {
            is_seen(&mut person, place, &of);
            person.named(Named::Enter);
        }
        // It wraps around, in both directions.
        is_seen(&mut person, "1 of 2 · 1 of 3 in it", &of);
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        is_seen(&mut person, "2 of 2", &of);
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        is_seen(&mut person, "1 of 2 · 3 of 3 in it", &of);
        person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
        is_seen(&mut person, "1 of 2 · 2 of 3 in it", &of);
        // Also if the person has scrolled elsewhere.
        person.wheels(40.0);
        person.named(Named::Enter);
        is_seen(&mut person, "1 of 2 · 3 of 3 in it", &of);
    }
}

/// Only what is near the view is laid out.
#[test]
fn each_match_in_a_very_long_reply_is_scrolled_into_view() {
    // Each kind of text in one of the sizes: all of it is laid out anew for each match.
    let sizes = [Size::new(1280.0, 800.0), Size::new(320.0, 210.0)].into_iter().cycle();
    for ((name, text), size) in giant::with_needles().into_iter().zip(sizes) {
        let messages = vec![
            preset::said(1, Role::User, "Where is the needle?"),
            preset::said(2, Role::Agent, &text),
            preset::said(3, Role::User, "Thanks."),
        ];
        let mut person = of(messages, size);
        person.control("f");
        person.writes("needle");
        answers(&mut person, "ne", &[2, 1]);
        answers(&mut person, "needle", &[2, 1]);
        for place in ["1 of 2 · 1 of 3 in it", "1 of 2 · 2 of 3 in it", "1 of 2 · 3 of 3 in it", "2 of 2"]
        {
            is_seen(&mut person, place, name);
            person.named(Named::Enter);
        }
        // It wraps around, in both directions, also if the person has scrolled elsewhere.
        is_seen(&mut person, "1 of 2 · 1 of 3 in it", name);
        for place in ["2 of 2", "1 of 2 · 3 of 3 in it", "1 of 2 · 2 of 3 in it", "1 of 2 · 1 of 3 in it"]
        {
            person.wheels(40.0);
            person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
            is_seen(&mut person, place, name);
        }
    }
}

#[test]
fn all_words_of_a_search_are_marked() {
    let text = "The test of a login.\n\nThe **login** test fails, and the `LOGIN`\ntest too. A login.";
    for (query, marks) in [("login test", 2), ("login te", 2), ("login", 4), ("login the", 0)] {
        let mut person = of(vec![preset::said(1, Role::Agent, text)], Size::new(1280.0, 800.0));
        person.control("f");
        person.writes(query);
        answers(&mut person, "lo", &[1]);
        answers(&mut person, query, &[1]);
        assert_eq!(drawn::marks(&mut person).len(), marks, "{query}");
        person.named(Named::Escape);
        assert_eq!(drawn::marks(&mut person), [], "{query}");
    }
}

/// A mark would be useless if its line is wider than the view and the match is not visible.
#[test]
fn a_match_far_right_in_code_is_scrolled_into_view() {
    let text = format!("```\n{} needle\n```", "hay ".repeat(100));
    let mut person = of(vec![preset::said(1, Role::Agent, &text)], Size::new(1280.0, 800.0));
    person.control("f");
    person.writes("needle");
    answers(&mut person, "ne", &[1]);
    answers(&mut person, "needle", &[1]);
    let at = drawn::found(&mut person).unwrap();
    assert!(at.x + at.width <= 1280.0, "{at:?}");
}

#[test]
fn a_card_has_its_keys_back_when_the_search_is_closed() {
    let mut person = Person::opened(Status::WaitingApproval, &[preset::approval()], preset::history());
    person.control("f");
    person.named(Named::Escape);
    person.wait(1000);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowOnce, None, None)]);
}

/// One key allows a call of low risk, so a letter that the person writes must not reach the card.
#[test]
fn a_person_who_was_writing_goes_on_to_write_when_the_search_is_closed() {
    let mut person = Person::opened(Status::Thinking, &[], preset::history());
    person.control("l");
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    person.overview(overview);
    person.conversation(conversation);
    person.wait(1000);
    person.control("f");
    person.named(Named::Escape);
    person.wait(1000);
    person.writes("all");
    assert_eq!(person.draft(), "all");
    assert_eq!(person.asked(), []);
}
