//! A long text on a page of its own, over the conversation.

use crate::{
    person::Person,
    preset::{self, APPROVAL, CONVERSATION},
};
use abide_client::protocol::{
    inbox::Decision, message::Role, notification::Snapshot, task::Status, transcript::ToolResult,
};
use abide_gui::{Message, keymap::Command, request::Request, screen::conversation};
use iced_test::core::keyboard::key::Named;

fn before(history: Snapshot) -> Person {
    let (overview, conversation) = preset::waits(Status::Thinking, &[], history);
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person
}

fn counted(lines: usize) -> String {
    (1..=lines).map(|n| format!("number {n}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_of_a_long_output_can_be_reached() {
    let mut call = preset::call(10, "shell", "seq 5000");
    call.result = Some(ToolResult::success(counted(5000), None));
    let id = call.call_id;
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    person.tell(Message::Thread(conversation::Message::CallToggled(id, true)));
    person.clicks("Read all");
    assert!(person.finds("line 5000 of 5000").is_some(), "it opens at its end");
    person.control("f");
    person.writes("number 47");
    assert!(person.finds("1 of 111").is_some());
    person.named(Named::Enter);
    person.named(Named::Enter);
    assert!(person.finds("2 of 111").is_some(), "Enter goes to the next match");
    assert!(person.finds("line 470 of 5000").is_some());
    person.named(Named::Home);
    person.letter("x");
    assert!(person.finds("line 470 of 5000").is_some(), "the text cannot be edited");
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert!(person.finds("line 470 of 5000").is_none());
    assert_eq!(person.asked(), [], "Escape has stopped nothing");
}

#[test]
fn keys_do_not_reach_a_card_below_an_open_text() {
    let (overview, snapshot) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, snapshot);
    person.wait(1000);
    for over in [Command::Help, Command::AsText] {
        person.tell(Message::Key(over));
        person.wait(1000);
        if over == Command::AsText {
            person.named(Named::Escape);
        }
        person.letter("a");
        person.named(Named::Enter);
        assert_eq!(person.asked(), []);
        person.named(Named::Escape);
        assert!(person.finds("Allow once").is_some());
        person.letter("a");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "the card has just been uncovered");
    }
    person.wait(1000);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [Request::Decide(APPROVAL, Decision::AllowOnce, None)]);
}

#[test]
fn the_page_below_an_open_text_keeps_its_scroll_position() {
    let said = (1..=300).map(|n| preset::said(n, Role::User, &format!("words {n}")));
    let mut person = before(Snapshot { messages: said.collect(), ..preset::empty() });
    person.wheels(3.0);
    let place = person.finds("words 297");
    assert!(place.is_some());
    for over in [Command::Help, Command::AsText] {
        person.tell(Message::Key(over));
        person.tell(Message::Key(Command::Escape));
        assert_eq!(person.finds("words 297"), place, "{over:?}");
    }
}
