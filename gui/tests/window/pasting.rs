//! A long paste is one mark in the field, and is sent whole.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
    replies::done,
};
use abide_client::protocol::{inbox::Pending, method::task::StartTaskReply, task::Status};
use abide_gui::{
    Message,
    request::{Reply, Request},
};
use iced_test::core::keyboard::key::Named;

const CHIP: &str = "■ Pasted text · 240 lines";

fn log() -> String {
    (1..=240).map(|n| format!("line {n} of the log\n")).collect()
}

/// What the field has as a draft, without what only the window reads.
fn draft(person: &Person) -> String {
    let page = person.app.conversation().map(|open| open.composer.draft());
    page.unwrap_or_default().replace(['\u{fdd0}', '\u{fdd1}'], "")
}

/// A person at a field for this.
fn before(status: Status, pending: &[Pending]) -> Person {
    let mut person = Person::reading(status, pending);
    person.control("l");
    person
}

#[test]
fn a_long_paste_is_folded_and_sent_whole_where_it_was_pasted() {
    let question = [Pending::Question(preset::question())];
    let fields = [before(Status::Thinking, &[]), before(Status::WaitingUser, &question), {
        let mut fresh = Person::before(preset::empty());
        fresh.control("n");
        fresh
    }];
    for (n, mut person) in fields.into_iter().enumerate() {
        person.writes("Why ");
        person.pastes(&log());
        assert!(person.finds(CHIP).is_some(), "{n}");
        person.writes("is that");
        person.wait(1000);
        person.named(Named::Enter);
        let mut asked = person.asked();
        // Nothing is sent twice, whatever is pressed before the daemon has taken it.
        person.clicks("Unfold");
        person.clicks("×");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "{n}");
        let said = match &asked[..] {
            [Request::Intervene(params)] if n == 0 => params.comment.clone(),
            [Request::UserResponse(params)] if n == 1 => params.response.clone().unwrap(),
            [Request::StartTask(params)] if n == 2 => params.message.clone(),
            other => unreachable!("{n}: {other:?}"),
        };
        assert_eq!(said, format!("Why {}is that", log()));
        let reply = match n {
            2 => Reply::StartTask(StartTaskReply {
                task_id: TASK,
                conversation_id: CONVERSATION,
                beside: None,
            }),
            _ => done(&asked[0]),
        };
        person.tell(Message::Answered(asked.remove(0), Ok(reply)));
        if n == 2 {
            person.control("n");
        }
        assert!(person.finds(CHIP).is_none(), "{n}: it was sent");
        assert_eq!(draft(&person), "");
    }
}

#[test]
fn it_is_still_folded_in_the_next_window() {
    let mut person = Person::before(preset::empty());
    person.control("n");
    person.writes("Why ");
    person.pastes(&log());
    person.tell(Message::DraftDue);
    person.opens_again(preset::empty());
    assert!(person.finds(CHIP).is_some());
    person.named(Named::Enter);
    match &person.asked()[..] {
        [Request::StartTask(params)] => assert_eq!(params.message, format!("Why {}", log()).trim_end()),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn it_is_shown_removed_and_comes_back() {
    let mut person = before(Status::Thinking, &[]);
    person.writes("Why ");
    person.pastes(&log());
    let whole = format!("Why {}", log());
    person.clicks("×");
    assert_eq!((person.finds(CHIP), draft(&person)), (None, "Why".to_owned()));
    person.control("l");
    person.control("z");
    assert!(person.finds(CHIP).is_some());
    assert_eq!(draft(&person), whole);
    person.clicks("Unfold");
    assert!(person.finds(CHIP).is_none(), "it is in the text");
    assert_eq!(draft(&person), whole.trim_end());
    person.control("l");
    person.named(Named::End);
    person.named(Named::Backspace);
    assert_eq!(draft(&person), whole.trim_end(), "its last line break is gone");
    person.control("z");
    person.control("z");
    assert!(person.finds(CHIP).is_some(), "folded again");
    person.named(Named::Backspace);
    assert_eq!((person.finds(CHIP), draft(&person)), (None, "Why".to_owned()));
}

#[test]
fn it_is_cut_and_copied_whole() {
    for cuts in [false, true] {
        let mut person = before(Status::Thinking, &[]);
        person.writes("Why ");
        person.pastes(&log());
        person.control("a");
        person.control(if cuts { "x" } else { "c" });
        let whole = format!("Why {}", log()).trim_end().to_owned();
        assert_eq!(person.copied.as_deref(), Some(&*whole));
        assert_eq!(draft(&person).trim_end(), if cuts { "" } else { &*whole });
        person.pastes(&whole);
        assert_eq!(draft(&person), whole, "in place of what was selected");
    }
}
