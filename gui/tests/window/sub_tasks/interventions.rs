//! What a person does to a task at work.

use super::{A, B, answers, before, three};
use crate::{
    person::Person,
    preset::{self, CONVERSATION},
    replies::is_done,
};
use abide_client::protocol::{ErrorKind, task::Status};
use abide_gui::{
    Message,
    daemon::Failure,
    request::{self, Request},
};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

const HINT: &str = "A comment, or new instructions";
const STOPS: &str = "Enter or another click stops it. Esc: not yet.";
const DELETES: &str = "Enter or another click deletes it. Esc: not yet.";

/// At the timeline of the sub-task that works.
fn at_b() -> Person {
    let mut person = before(&three());
    person.clicks("working");
    answers(&mut person, &three(), B, "A word of B.");
    person.wait(1000);
    person.asked();
    person
}

fn comment(words: &str) -> Request {
    request::note(B, words.into())
}

#[test]
fn words_are_sent_as_a_comment_or_as_new_instructions() {
    let mut person = at_b();
    person.control("l");
    person.writes("Mind the tests.");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [comment("Mind the tests.")]);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "they are under way");
    person.tell(is_done(comment("Mind the tests.")));
    assert!(person.finds(HINT).is_some(), "the field is free again");

    person.writes("Only the docs.");
    person.press(Key::Named(Named::Enter), Modifiers::CTRL);
    let modify = request::modify(B, "Only the docs.".into());
    assert_eq!(person.asked(), std::slice::from_ref(&modify));
    person.tell(is_done(modify));

    // By mouse, and by letters that no field takes.
    person.named(Named::Escape);
    person.wait(1000);
    person.writes("Go slow");
    person.clicks("Modify");
    assert_eq!(person.asked(), [request::modify(B, "Go slow".into())]);
}

#[test]
fn a_refusal_is_shown_in_words_and_the_words_stay() {
    let mut person = at_b();
    person.control("l");
    person.writes("Too late?");
    person.clicks("Comment");
    assert_eq!(person.asked(), [comment("Too late?")]);
    let message = "task 000003ea has ended already: completed";
    let failure = Failure { message: message.into(), kind: Some(ErrorKind::IllegalState) };
    person.tell(Message::Answered(comment("Too late?"), Err(failure)));
    assert!(person.finds(message).is_some());
    person.clicks("Close");
    person.control("l");
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [comment("Too late?")], "they can be sent again");
}

#[test]
fn stop_and_delete_take_two_keys_with_a_moment_between() {
    for (key, words, request) in [
        (Key::Character(".".into()), STOPS, Request::StopTask(B.into())),
        (Key::Named(Named::Delete), DELETES, request::delete_task(B)),
    ] {
        let mut person = at_b();
        person.press(key.clone(), Modifiers::CTRL);
        assert!(person.finds(words).is_some(), "{:?}", person.texts());
        person.press(key.clone(), Modifiers::CTRL);
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "too quick");
        person.wait(1000);
        person.press(key.clone(), Modifiers::CTRL);
        assert_eq!(person.asked(), [], "the same key only arms");
        person.wait(1000);
        person.named(Named::Escape);
        assert!(person.finds(words).is_none());
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "it was taken back");
        assert!(person.finds("A word of B.").is_some(), "and that Escape went nowhere");
        person.wait(1000);
        person.press(key.clone(), Modifiers::CTRL);
        person.wait(1000);
        person.named(Named::Enter);
        assert_eq!(person.asked(), [request]);
    }
}

#[test]
fn in_a_narrow_window_it_is_said_what_is_armed_and_no_button_moves() {
    let mut person = at_b();
    person.resizes(800.0, 600.0);
    person.wait(1000);
    let before = person.finds("Stop").unwrap();
    person.clicks("Stop");
    let (stop, words) = (person.finds("Stop").unwrap(), person.finds(STOPS).unwrap());
    assert_eq!((stop.x, stop.y), (before.x, before.y));
    assert!(words.width > 300.0, "{words:?}");
}

/// Nothing would be drawn that says so: a root is stopped by Escape.
#[test]
fn the_key_that_stops_a_sub_task_stops_no_root() {
    let mut person = before(&[super::Node::root(Status::Thinking)]);
    person.named(Named::Escape);
    person.wait(1000);
    person.control(".");
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
}

#[test]
fn a_double_click_stops_and_deletes_nothing() {
    for (label, request) in [("Stop", Request::StopTask(B.into())), ("Delete", request::delete_task(B))] {
        let mut person = at_b();
        person.clicks(label);
        person.clicks(label);
        assert_eq!(person.asked(), [], "{label}");
        person.wait(1000);
        person.clicks(label);
        assert_eq!(person.asked(), [request]);
    }
}

#[test]
fn an_armed_end_is_forgotten_after_a_while_and_with_the_timeline() {
    let mut person = at_b();
    person.control(".");
    person.wait(6000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.control(".");
    person.wait(1000);
    person.press(Key::Named(Named::ArrowUp), Modifiers::CTRL | Modifiers::SHIFT);
    answers(&mut person, &three(), A, "A word of A.");
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "it was about another task");
}

#[test]
fn no_key_ends_a_task_while_a_caret_is_drawn() {
    let mut person = at_b();
    person.control("l");
    person.wait(1000);
    person.control(".");
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    person.wait(1000);
    assert!(person.finds(STOPS).is_none() && person.finds(DELETES).is_none());
    person.named(Named::Enter);
    person.wait(1000);
    assert_eq!(person.asked(), []);
}

#[test]
fn a_sub_task_is_paused_and_goes_on() {
    let mut person = at_b();
    person.control("p");
    assert_eq!(person.asked(), [Request::PauseTask(B.into())]);
    person.wait(1000);
    person.clicks("Pause");
    assert_eq!(person.asked(), [Request::PauseTask(B.into())]);
    let mut nodes = three();
    nodes[2].status = Status::Paused;
    answers(&mut person, &nodes, B, "A word of B.");
    person.wait(1000);
    person.clicks("Go on");
    assert_eq!(person.asked(), [Request::ResumeTask(B.into())]);
}

#[test]
fn in_the_timeline_of_a_sub_task_nothing_is_done_to_the_conversation() {
    let mut person = at_b();
    for letter in ["e", "r"] {
        person.control(letter);
    }
    person.named(Named::F2);
    person.wait(1000);
    assert_eq!(person.asked(), []);
    assert_eq!(person.app.conversation().unwrap().id(), CONVERSATION);
    assert!(person.finds("Rename").is_none());
}

#[test]
fn an_ended_sub_task_takes_no_words() {
    let mut person = before(&three());
    person.clicks("1 ended sub-task +");
    person.clicks("completed");
    answers(&mut person, &three(), super::C, "A word of C.");
    assert!(person.finds(HINT).is_none() && person.finds("Stop").is_none());
    person.writes("Hello?");
    person.control(".");
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
}

#[test]
fn unsent_words_for_a_task_survive() {
    let mut person = at_b();
    person.control("l");
    person.writes("Half a remark");
    person.tell(Message::DraftDue);
    person.named(Named::Escape);
    person.named(Named::Escape);
    person.wait(1000);
    person.clicks("working");
    answers(&mut person, &three(), B, "A word of B.");
    person.clicks("Comment");
    assert_eq!(person.asked(), [comment("Half a remark")]);
}

#[test]
fn an_approval_of_a_sub_task_is_decided_in_its_timeline() {
    let mut nodes = three();
    nodes[1].status = Status::WaitingApproval;
    let mut person = before(&nodes);
    person.clicks("waits for your approval");
    answers(&mut person, &nodes, A, "A word of A.");
    person.wait(1000);
    person.letter("a");
    assert_eq!(person.asked(), [], "it is of high risk");
    person.named(Named::Enter);
    let allowed = abide_client::protocol::inbox::Decision::AllowOnce;
    assert_eq!(person.asked(), [request::decide(preset::APPROVAL, allowed, None, None)]);
}
