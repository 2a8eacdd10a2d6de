//! Copying, and the notices about what was done.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
    replies::is_done,
};
use abide_client::{
    Update,
    protocol::{message::Role, notification::Snapshot, task::Status},
};
use abide_gui::{Message, keymap::Command, request::Request};
use iced_tiny_skia::graphics::text::Text;

fn before(history: Snapshot) -> Person {
    let (overview, conversation) = preset::waits(Status::Thinking, &[], history);
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person
}

#[test]
fn a_notice_confirms_copying_and_deleting() {
    let mut person = before(preset::history());
    person.tell(Message::Key(Command::CopyAll));
    assert!(person.finds("Copied.").is_some());
    person.wait(2000);
    assert!(person.finds("Copied.").is_none());
    person.tell(is_done(Request::DeleteConversation(CONVERSATION.into())));
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
        person.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot))]));
        let button = person.finds("Copy").unwrap();
        let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
        let covered = texts.flat_map(|texts| texts.as_slice()).filter_map(Text::visible_bounds);
        assert_eq!(covered.filter(|text| text.intersects(&button)).count(), 0, "{words} words");
    }
}
