//! A long text on a page of its own, over the conversation.

use crate::{
    drawn,
    person::Person,
    preset::{self, APPROVAL},
};
use abide_client::protocol::{
    inbox::Decision, message::Role, notification::Snapshot, task::Status, transcript::ToolResult,
};
use abide_gui::{
    Message,
    effect::{Form, Reading},
    keymap::Command,
    request::{self},
    screen::{conversation, pending},
    theme,
};
use iced_test::core::keyboard::key::Named;

fn before(history: Snapshot) -> Person {
    Person::opened(Status::Thinking, &[], history)
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

/// The daemon keeps both ends of a long output.
#[test]
fn what_was_left_out_of_an_output_is_said_where_it_is_read() {
    let mut call = preset::call(10, "shell", "seq 5000");
    let text = format!("{}\n[… 88922 characters cut …]\n{}", counted(40), counted(30));
    call.result = Some(ToolResult::success(text, None));
    let id = call.call_id;
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    person.tell(Message::Thread(conversation::Message::CallToggled(id, true)));
    assert!(person.finds("Read all").is_none(), "not all of it is there");
    person.clicks("Read what was kept");
    assert!(person.finds("line 71 of 71").is_some());
    person.clicks("88,922 characters were not kept");
    assert!(person.finds("line 41 of 71").is_some(), "there it is");
    person.control("f");
    person.writes("number 47");
    assert!(person.finds("not found in what was kept").is_some());
}

#[test]
fn the_lines_of_a_diff_that_is_read_are_coloured() {
    let tokens = theme::tokens(&before(preset::empty()).app.theme());
    for (form, inks) in [
        (Form::Diff, vec![Some(tokens.muted), Some(tokens.bad), Some(tokens.ok), None]),
        (Form::Plain, vec![None; 4]),
    ] {
        let mut person = before(preset::empty());
        let text = "@@ -1,2 +1,2 @@\n-old\n+new\n same".to_owned();
        person.tell(Message::Thread(conversation::Message::Card(pending::Message::DiffRead(Box::new(
            Reading { title: "src/main.rs 🎉".into(), text, form },
        )))));
        assert_eq!(drawn::inks_of_editor(&mut person, "same"), inks, "{form:?}");
    }
}

/// Opens the help, or a text on its own.
fn opens(person: &mut Person, help: bool) {
    let reading = Reading { title: "A text".into(), text: "words\n".into(), form: Form::Plain };
    let read = conversation::Message::Card(pending::Message::DiffRead(Box::new(reading)));
    person.tell(if help { Message::Key(Command::Help) } else { Message::Thread(read) });
}

#[test]
fn keys_do_not_reach_a_card_below_an_open_text() {
    let mut person = Person::opened(Status::WaitingApproval, &[preset::approval()], preset::history());
    person.wait(1000);
    for help in [true, false] {
        opens(&mut person, help);
        person.wait(1000);
        if !help {
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
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowOnce, None, None)]);
}

#[test]
fn the_page_below_an_open_text_keeps_its_scroll_position() {
    let said = (1..=300).map(|n| preset::said(n, Role::User, &format!("words {n}")));
    let mut person = before(Snapshot { messages: said.collect(), ..preset::empty() });
    person.wheels(3.0);
    let place = person.finds("words 297");
    assert!(place.is_some());
    for help in [true, false] {
        opens(&mut person, help);
        person.tell(Message::Key(Command::Escape));
        assert_eq!(person.finds("words 297"), place, "help: {help}");
    }
}
