//! The question before a conversation is deleted.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{notification::Snapshot, task::Status};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

fn before(status: Status) -> Person {
    let (overview, conversation) = preset::waits(status, &[], preset::history());
    let live = |tasks: Vec<_>| if status.has_ended() { Vec::new() } else { tasks };
    let mut person = Person::before(Snapshot { tasks: live(overview.tasks), ..overview });
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    person
}

#[test]
fn deleting_mentions_a_running_task_only_if_there_is_one() {
    let on_page = "Delete this conversation and all its records for good?";
    let in_list = "Delete it and all its records for good?";
    for (status, more) in [(Status::Thinking, " A running task is stopped."), (Status::Completed, "")] {
        let mut person = before(status);
        person.named(Named::Escape);
        person.press(Key::Named(Named::Delete), Modifiers::CTRL);
        assert!(person.finds(&format!("{on_page}{more}")).is_some(), "{status:?}: on the page");
        let mut person = before(status);
        person.control("n");
        person.clicks_right("Fix flaky login test");
        person.clicks("Delete…");
        assert!(person.finds(&format!("{in_list}{more}")).is_some(), "{status:?}: in the list");
    }
}
