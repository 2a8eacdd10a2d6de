//! Copying, and the notices about what was done.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{message::Role, notification::Snapshot, task::Status};
use abide_gui::{
    Message,
    keymap::Command,
    request::{Answer, Request},
};
use iced_tiny_skia::graphics::text::Text;

fn before(history: Snapshot) -> Person {
    Person::opened(Status::Thinking, &[], history)
}

#[test]
fn a_notice_confirms_copying_and_deleting() {
    let mut person = before(preset::history());
    person.tell(Message::Key(Command::CopyAll));
    assert!(person.finds("Copied.").is_some());
    person.wait(2000);
    assert!(person.finds("Copied.").is_none());
    person.tell(Message::Answered(Request::Delete(CONVERSATION), Ok(Answer::Done)));
    assert!(person.finds("Deleted.").is_some());
    person.wait(5000);
    assert!(person.finds("Deleted.").is_none());
}

#[test]
fn the_copy_button_covers_no_text() {
    let mut person = before(preset::empty());
    // At least one of these texts ends at the right edge of the column.
    for words in 12..36 {
        let said = vec![preset::said(1, Role::Agent, "words ".repeat(words).trim())];
        let (_, snapshot) =
            preset::waits(Status::Thinking, &[], Snapshot { messages: said, ..preset::empty() });
        person.conversation(snapshot);
        let button = person.finds("Copy").unwrap();
        let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
        let covered = texts.flat_map(|texts| texts.as_slice()).filter_map(Text::visible_bounds);
        assert_eq!(covered.filter(|text| text.intersects(&button)).count(), 0, "{words} words");
    }
}
