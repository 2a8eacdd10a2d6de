//! What a task has changed in files is shown, and taken back after a question.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::{
    Update,
    protocol::{
        TaskId,
        checkpoint::{ChangeKind, ChangedFile, UndoFrom},
        method::task::TaskChangesReply,
        notification::{Notification, Snapshot, TaskUpdate},
        task::{AgentTask, Status},
    },
};
use abide_gui::{
    Message,
    request::{self, Reply, Request},
};
use iced_test::core::keyboard::key::Named;

fn file(path: &str, kept: bool) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        kind: ChangeKind::Modified,
        added: Some(2),
        removed: Some(1),
        kept,
        perhaps_yours: false,
    }
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
    assert!(person.sent().contains(&request::changes(TASK, UndoFrom::Start)));
    let diff = "diff --git a/src/a.rs b/src/a.rs\n+let a = 2;\n".to_owned();
    told(&mut person, UndoFrom::Start, TaskChangesReply { files, diff, ..reply() });
    person
}

fn reply() -> TaskChangesReply {
    TaskChangesReply {
        files: Vec::new(),
        diff: String::new(),
        cut: false,
        steps: vec![1, 3],
        can_redo: true,
        notes: Vec::new(),
    }
}

/// The daemon says what the task has changed from there on.
fn told(person: &mut Person, from: UndoFrom, reply: TaskChangesReply) {
    person.tell(Message::Answered(request::changes(TASK, from), Ok(Reply::TaskChanges(reply))));
}

#[test]
fn an_undo_names_what_it_keeps_and_asks() {
    for confirm in
        [|person: &mut Person| person.clicks("Undo"), |person: &mut Person| person.named(Named::Enter)]
    {
        let mut person =
            before(vec![file("src/a.rs", false), file("b\u{202e}.rs", true), file("c.rs", false)]);
        assert!(
            person.finds("3 files changed: src/a.rs (+2 −1), b\\u{202e}.rs (+2 −1), c.rs (+2 −1)").is_some()
        );
        person.clicks("Undo…");
        let asked =
            "Undo what the task changed in 2 files? b\\u{202e}.rs was changed since by somebody else: kept.";
        assert!(person.finds(asked).is_some());
        assert!(!person.sent().contains(&request::undo(TASK, UndoFrom::Start, false, None)), "it asks first");
        person.wait(1000);
        confirm(&mut person);
        assert!(person.sent().contains(&request::undo(TASK, UndoFrom::Start, false, None)));
        assert!(person.finds(asked).is_none());
    }
}

#[test]
fn the_keyboard_shows_asks_and_confirms() {
    let mut person = before(vec![file("a", false)]);
    person.named(Named::Escape);
    let changes = |person: &mut Person| person.control_shift("u");
    changes(&mut person);
    assert!(person.sent().contains(&request::changes(TASK, UndoFrom::Start)));
    changes(&mut person);
    assert!(!person.texts().iter().any(|text| text.starts_with("Undo what")), "nothing is shown yet");
    told(&mut person, UndoFrom::Start, TaskChangesReply { files: vec![file("a", false)], ..reply() });
    changes(&mut person);
    assert!(person.finds("Undo what the task changed in 1 file?").is_some());
    person.wait(1000);
    person.named(Named::Enter);
    assert!(person.sent().contains(&request::undo(TASK, UndoFrom::Start, false, None)));
}

#[test]
fn nothing_is_taken_back_that_was_not_confirmed_or_is_not_there() {
    let mut person = before(vec![file("a", false)]);
    person.clicks("Undo…");
    person.named(Named::Escape);
    assert!(!person.texts().iter().any(|text| text.starts_with("Undo what")));
    assert!(!person.sent().contains(&request::undo(TASK, UndoFrom::Start, false, None)));

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

#[test]
fn a_later_step_and_the_last_undo_are_taken_back_only_when_they_are_shown() {
    let step = UndoFrom::Step(3);
    let mut person = before(vec![file("a", false), file("b", false)]);
    person.clicks("step 3");
    assert!(person.sent().contains(&request::changes(TASK, step)));
    assert!(person.finds("Undo…").is_none(), "what is shown is of another beginning");
    // An answer that came late.
    told(&mut person, UndoFrom::Start, TaskChangesReply { files: vec![file("a", false)], ..reply() });
    assert!(person.finds("Undo…").is_none());
    told(&mut person, step, TaskChangesReply { files: vec![file("b", false)], ..reply() });
    person.clicks("Undo…");
    assert!(person.finds("Undo what the task changed from step 3 on, in 1 file?").is_some());
    person.wait(1000);
    person.clicks("Undo");
    assert!(person.sent().contains(&request::undo(TASK, step, false, None)));

    let mut person = before(vec![file("a", false)]);
    person.clicks("the last undo");
    told(&mut person, UndoFrom::LastUndo, TaskChangesReply { files: vec![file("b", false)], ..reply() });
    person.clicks("Redo…");
    assert!(person.finds("Redo what the last undo took from 1 file?").is_some());
    person.wait(1000);
    person.named(Named::Enter);
    assert!(person.sent().contains(&request::undo(TASK, UndoFrom::LastUndo, false, None)));
}

/// A person may look at what a task has changed while the next one begins.
#[test]
fn what_is_shown_stays_that_of_its_task_when_another_one_begins() {
    let mut person = before(vec![file("a", false)]);
    let next = AgentTask { id: TaskId(preset::id(77)), ..preset::task(Status::Completed) };
    let begun = Notification::TaskUpdate(TaskUpdate { task: next });
    person.tell(Message::Conversation(CONVERSATION, vec![Update::Notification(begun)]));
    person.clicks("the last undo");
    assert!(person.sent().contains(&request::changes(TASK, UndoFrom::LastUndo)));
}

#[test]
fn what_changed_while_a_command_ran_is_taken_back_by_a_button_of_its_own() {
    let perhaps = || ChangedFile { perhaps_yours: true, ..file("built.rs", true) };
    let mut person = before(vec![file("src/a.rs", false), perhaps()]);
    person.clicks("Undo…");
    let asked =
        "Undo what the task changed in 1 file? 1 more file changed while a command ran and is perhaps yours.";
    assert!(person.finds(asked).is_some());
    person.wait(1000);
    person.clicks("All of it");
    assert!(person.sent().contains(&request::undo(TASK, UndoFrom::Start, true, None)));

    // Enter takes back what is certain, and there is nothing of that.
    let mut person = before(vec![perhaps()]);
    person.clicks("Undo…");
    person.wait(1000);
    person.named(Named::Enter);
    assert!(!person.sent().iter().any(|request| matches!(request, Request::UndoTask(_))));
    person.clicks("Undo");
    assert!(person.sent().contains(&request::undo(TASK, UndoFrom::Start, true, None)));
}
