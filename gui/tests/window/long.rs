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
    effect::Effect,
    request::{Answer, LONG_PAGE, PAGE, Request},
    screen::conversation::{self, Conversation, Row},
    settings,
    widget::list::View,
};
use iced_test::{
    Simulator,
    core::keyboard::{Key, Modifiers, key::Named},
};
use std::time::Instant;

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
    let request = Request::Older(CONVERSATION, Seq(901), PAGE);
    assert_eq!(asked, [Effect::Ask(request.clone())]);
    assert_eq!(open.update(conversation::Message::Looked(view)), [], "the request is under way");
    let older = (801..=900).map(|n| preset::said(n, Role::User, "before"));
    let page =
        ListMessagesReply { messages: older.collect(), calls: Vec::new(), events: Vec::new(), before: None };
    open.answered(&request, &Answer::Page(CONVERSATION, page));
    assert_eq!(open.rows().len(), 200);
    assert_eq!(open.rows().first(), Some(&Row::Entry(Seq(801))));
}

/// A page of the messages `from` to `to`, as the daemon sends it.
fn page(from: u64, to: u64) -> ListMessagesReply {
    let messages = (from..=to).map(|n| preset::said(n, Role::Agent, &format!("message {n}"))).collect();
    let before = (from > 1).then_some(Seq(from));
    ListMessagesReply { messages, calls: Vec::new(), events: Vec::new(), before }
}

#[test]
fn control_home_goes_to_the_start_of_the_conversation_not_of_the_loaded_part() {
    let task = preset::task(Status::Completed);
    let about = vec![preset::conversation(&task)];
    let snapshot =
        Snapshot { messages: page(2901, 3000).messages, conversations: about.clone(), ..preset::empty() };
    let mut person = Person::before(Snapshot { conversations: about, ..preset::empty() });
    person.open(CONVERSATION, snapshot);
    person.press(Key::Named(Named::Home), Modifiers::CTRL);
    for (before, from) in [(2901, 1901), (1901, 901), (901, 1)] {
        assert!(person.finds("message 1").is_none());
        let request = Request::Older(CONVERSATION, Seq(before), LONG_PAGE);
        assert_eq!(person.sent().last(), Some(&request));
        person.tell(Message::Answered(request, Ok(Answer::Page(CONVERSATION, page(from, before - 1)))));
    }
    assert!(person.finds("message 1").is_some());
    person.press(Key::Named(Named::End), Modifiers::CTRL);
    assert!(person.finds("message 3000").is_some() && person.finds("message 1").is_none());
    person.press(Key::Named(Named::Home), Modifiers::CTRL);
    assert!(person.finds("message 1").is_some(), "though few of the rows between are built");
}

#[test]
fn a_page_that_failed_to_load_is_requested_again() {
    let (mut open, _) = with_history();
    let view = View { first: Row::Entry(Seq(905)), last: Row::Entry(Seq(915)), at_end: false };
    let asked = open.update(conversation::Message::Looked(view));
    open.failed(&Request::Older(CONVERSATION, Seq(901), PAGE));
    assert_eq!(open.update(conversation::Message::Looked(view)), asked);
}

#[test]
fn visible_messages_are_marked_as_read() {
    let (mut open, _) = with_history();
    let new = preset::message(preset::said(100_001, Role::Agent, "new"));
    let unseen = open.follow(vec![Update::Notification(new)], None);
    assert_eq!(unseen, []);
    assert_eq!(open.read(0), Some(Effect::Ask(Request::MarkRead(CONVERSATION, Seq(100_001)))));
    assert_eq!(open.read(0), None, "once");
    assert!(open.read(3).is_some(), "the daemon knows of more");
}

/// Prints measurements: `cargo test -p abide-gui --release --test window figures -- --ignored --nocapture`.
#[test]
#[ignore = "measures, and asserts nothing"]
fn figures() {
    for messages in [100, 1_000, 10_000, 100_000] {
        let begun = Instant::now();
        let window = preset::long(messages);
        let folded = begun.elapsed();
        let begun = Instant::now();
        let mut screen = Simulator::with_size(settings(), (1280.0, 800.0), window.app.view());
        let laid_out = begun.elapsed();
        let begun = Instant::now();
        drop(screen.snapshot(&window.app.theme()));
        println!(
            "{messages} messages: folded in {folded:?}, built and laid out in {laid_out:?}, drawn at scale 2 in {:?}",
            begun.elapsed()
        );
    }
    let mut window = preset::streaming();
    let begun = Instant::now();
    let mut offset = 23;
    for _ in 0..300 {
        let word = "words and `code`, ";
        window.notify(preset::delta(offset, word));
        offset += word.len() as u64;
        drop(Simulator::with_size(settings(), (1280.0, 800.0), window.app.view()));
    }
    println!("streaming: {:?} to fold, build and lay out a frame from nothing", begun.elapsed() / 300);
}
