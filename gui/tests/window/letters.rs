//! Ctrl with a letter, while a caret is drawn and on a keyboard of another script.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, QUESTION, TASK},
};
use abide_client::protocol::{inbox::Pending, task::Status, transcript::Risk};
use abide_gui::{
    app::Page,
    request::{self, Request},
};
use iced_test::core::keyboard::{
    Modifiers,
    key::{Code, Named},
};

fn before(status: Status, waiting: &[Pending]) -> Person {
    let (overview, conversation) = preset::waits(status, waiting, preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.wait(60_000);
    person.asked();
    person
}

fn question() -> Vec<Pending> {
    vec![Pending::Question(preset::question())]
}

/// Letters that move the caret or edit in some field: of a terminal, of Emacs, of another system.
const OF_FIELDS: &str = "bdefhknptuwy";

#[test]
fn a_field_with_text_keeps_the_letters_that_edit_text_somewhere() {
    type Begin = fn() -> Person;
    let fields: [(&str, Begin); 5] = [
        ("the composer of a task at work", || before(Status::Thinking, &[])),
        ("the composer of a task that is over", || before(Status::Completed, &[])),
        ("the answer", || {
            let mut person = before(Status::WaitingUser, &question());
            person.control("l");
            person
        }),
        ("the answer in the inbox", || {
            let mut person = before(Status::WaitingUser, &question());
            person.control("i");
            person.wait(1000);
            person.clicks("Your answer");
            person
        }),
        ("the search", || {
            let mut person = before(Status::Completed, &[]);
            person.control("k");
            person
        }),
    ];
    for (field, begin) in fields {
        let mut person = begin();
        person.writes("some words");
        person.asked();
        person.wait(1000);
        let (page, texts) = (person.app.page(), person.texts());
        for letter in OF_FIELDS.chars() {
            person.control(&letter.to_string());
            assert_eq!(person.asked(), [], "{field}: Ctrl {letter}");
            assert_eq!(person.app.page(), page, "{field}: Ctrl {letter}");
            let shown = person.texts();
            let other = shown.iter().zip(&texts).find(|(shown, before)| shown != before);
            assert!(other.is_none() && shown.len() == texts.len(), "{field}: Ctrl {letter}: {other:?}");
            assert_eq!(person.focused(), 1, "{field}: Ctrl {letter} leaves the caret there");
        }
    }
}

#[test]
fn in_an_empty_field_they_show_something_and_change_nothing() {
    for status in [Status::Thinking, Status::Completed] {
        let mut person = before(status, &[]);
        for letter in OF_FIELDS.chars() {
            person.control("l");
            person.wait(1000);
            person.control(&letter.to_string());
            person.wait(1000);
            assert_eq!(person.asked(), [], "{status:?}: Ctrl {letter}");
            let (_, conversation) = preset::waits(status, &[], preset::history());
            person.open(CONVERSATION, conversation);
            person.asked();
        }
        person.control("n");
        assert_eq!(person.app.page(), Page::NewConversation, "{status:?}");
    }
    // Without a caret they do.
    let mut person = before(Status::Completed, &[]);
    person.named(Named::Escape);
    person.control("e");
    assert_eq!(person.asked(), [request::archive(CONVERSATION, true)]);
}

#[test]
fn a_question_is_declined_by_the_same_key_twice_with_a_pause() {
    let declined = [request::answer(TASK, QUESTION, None)];
    for has_caret in [true, false] {
        for in_inbox in [false, true] {
            let mut person = before(Status::WaitingUser, &question());
            if in_inbox {
                person.control("i");
                person.wait(1000);
            }
            match (has_caret, in_inbox) {
                (true, true) => person.clicks("Your answer"),
                (true, false) => person.control("l"),
                (false, _) => person.tell(abide_gui::Message::CaretMoved(false)),
            }
            person.wait(1000);
            let what = format!("caret {has_caret}, inbox {in_inbox}");
            for _ in 0..4 {
                person.control("d");
                person.wait(500);
                assert_eq!(person.asked(), [], "{what}: quickly");
            }
            assert!(person.finds("Ctrl D again: no answer from you. Esc: not yet.").is_some(), "{what}");
            person.wait(600);
            person.control("d");
            assert_eq!(person.asked(), declined, "{what}");
        }
    }
    let mut person = before(Status::WaitingUser, &question());
    person.control("d");
    person.wait(5000);
    person.control("d");
    assert_eq!(person.asked(), [], "the first one has expired");
    person.writes("well");
    person.named(Named::Escape);
    for _ in 0..3 {
        person.wait(1000);
        person.control("d");
    }
    assert_eq!(person.asked(), [], "an answer is begun");
}

#[test]
fn quick_escapes_stop_nothing() {
    for has_caret in [true, false] {
        let mut person = before(Status::Thinking, &[]);
        if has_caret {
            person.control("l");
            person.writes("a draft");
        } else {
            person.named(Named::Escape);
            person.wait(1000);
        }
        for _ in 0..12 {
            person.named(Named::Escape);
            person.wait(300);
            assert_eq!(person.asked(), [], "a caret was drawn: {has_caret}");
        }
        person.wait(600);
        person.named(Named::Escape);
        assert_eq!(person.asked(), [Request::StopTask(TASK.into())], "with a pause: {has_caret}");
    }
}

#[test]
fn keys_work_on_a_keyboard_of_another_script() {
    for (letter, a, z) in [("т", "ф", "я"), ("ν", "α", "ζ"), ("מ", "ש", "ז")] {
        let mut person = before(Status::Completed, &[]);
        person.writes("one two");
        person.press_at(z, Code::KeyZ, Modifiers::CTRL);
        assert_eq!(person.app.conversation().unwrap().composer.draft(), "one", "{z}");
        for _ in 0..2 {
            person.press_at(z, Code::KeyZ, Modifiers::CTRL);
        }
        person.press_at(letter, Code::KeyN, Modifiers::CTRL);
        assert_eq!(person.app.page(), Page::NewConversation, "{letter}");
        let mut wanted = preset::approval();
        if let Pending::Approval(approval) = &mut wanted {
            approval.risk = Risk::Low;
        }
        let mut person = before(Status::WaitingApproval, &[wanted]);
        person.press_at(a, Code::KeyA, Modifiers::empty());
        assert!(matches!(&person.asked()[..], [Request::DecideApproval(_)]), "{a}");
        // What it writes in a field is its own letter.
        let mut person = before(Status::Completed, &[]);
        person.press_at(a, Code::KeyA, Modifiers::empty());
        assert_eq!(person.app.conversation().unwrap().composer.draft(), a);
    }
}
