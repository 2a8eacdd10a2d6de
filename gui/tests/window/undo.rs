//! What a task has changed in files is shown, and taken back after a question.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::protocol::{
    checkpoint::{ChangeKind, ChangedFile},
    method::task::TaskChangesReply,
    notification::Snapshot,
    task::Status,
};
use abide_gui::{
    Message,
    request::{Answer, Request},
};
use iced_test::core::keyboard::key::Named;

fn file(path: &str, kept: bool) -> ChangedFile {
    ChangedFile { path: path.to_owned(), kind: ChangeKind::Modified, added: Some(2), removed: Some(1), kept }
}

/// The menu shows what the task has changed.
fn before(files: Vec<ChangedFile>) -> Person {
    let (overview, conversation) = preset::waits(Status::Completed, &[], preset::history());
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    person.clicks("⋯");
    person.clicks("File changes");
    assert!(person.sent().contains(&Request::Changes(TASK)));
    let diff = "diff --git a/src/a.rs b/src/a.rs\n+let a = 2;\n".to_owned();
    let reply = TaskChangesReply { files, diff, cut: false, steps: vec![1] };
    person.tell(Message::Answered(Request::Changes(TASK), Ok(Answer::Changes(Box::new(reply)))));
    person
}

#[test]
fn an_undo_names_what_it_keeps_and_asks() {
    for confirm in
        [|person: &mut Person| person.clicks("Take back"), |person: &mut Person| person.named(Named::Enter)]
    {
        let mut person =
            before(vec![file("src/a.rs", false), file("b\u{202e}.rs", true), file("c.rs", false)]);
        assert!(
            person.finds("3 files changed: src/a.rs (+2 −1), b\\u{202e}.rs (+2 −1), c.rs (+2 −1)").is_some()
        );
        person.clicks("Undo…");
        let asked = "Take back what the task changed in 2 files? b\\u{202e}.rs was changed since by somebody else: kept.";
        assert!(person.finds(asked).is_some());
        assert!(!person.sent().contains(&Request::Undo(TASK)), "it asks first");
        person.wait(1000);
        confirm(&mut person);
        assert!(person.sent().contains(&Request::Undo(TASK)));
        assert!(person.finds(asked).is_none());
    }
}

#[test]
fn nothing_is_taken_back_that_was_not_confirmed_or_is_not_there() {
    let mut person = before(vec![file("a", false)]);
    person.clicks("Undo…");
    person.named(Named::Escape);
    assert!(person.finds("Take back").is_none());
    assert!(!person.sent().contains(&Request::Undo(TASK)));

    let mut person = before(vec![file("a", true)]);
    assert!(
        person.finds("Show diff").is_some() && person.finds("Undo…").is_none(),
        "all of it is somebody else's"
    );

    let mut person = before(Vec::new());
    assert!(person.finds("No file is changed, or all are what they were.").is_some());
    assert!(person.finds("Show diff").is_none() && person.finds("Undo…").is_none());
}

#[test]
fn the_diff_can_be_read_as_a_whole() {
    let mut person = before(vec![file("src/a.rs", false)]);
    person.clicks("Show diff");
    assert!(person.finds("Changed: 1 file").is_some());
}
