//! The end of a task: its answer, its steps behind one line, and what it changed.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::{
    Update,
    protocol::{
        ErrorKind, Seq,
        checkpoint::{ChangeKind, ChangedFile, UndoFrom},
        inbox::Preview,
        message::{CallView, Message as Said, MessageKind, Role},
        method::task::TaskChangesReply,
        notification::{Notification, Snapshot, TaskUpdate},
        task::{AgentTask, EndReason, Status},
    },
};
use abide_gui::{
    Message,
    daemon::Failure,
    request::{self, Part, Reply, Request},
    screen::conversation::Row,
};
use iced_test::core::keyboard::key::Named;

fn edit(seq: u64, path: &str) -> CallView {
    let preview = Preview { path: path.into(), diff: "@@ -1 +1 @@\n-a\n+b".into(), changed: None };
    CallView { preview: Some(Box::new(preview)), ..preset::call(seq, "patch", path) }
}

/// A task with three calls, a comment of the person, and an answer.
fn history() -> Snapshot {
    let messages = vec![
        preset::said(1, Role::User, "Mend it."),
        preset::said(2, Role::Agent, "I look first."),
        Said { kind: MessageKind::Intervention, ..preset::said(4, Role::User, "Mind the clock.") },
        preset::said(7, Role::Agent, "It is mended."),
    ];
    let calls = vec![preset::call(3, "read", "a"), edit(5, "src/a.rs"), edit(6, "src/b.rs")];
    Snapshot { messages, calls, ..preset::empty() }
}

fn ended(reason: EndReason, history: Snapshot) -> Person {
    let (overview, mut conversation) = preset::waits(reason.status(), &[], history);
    let task = &mut conversation.tasks[0];
    (task.end_reason, task.ended_at) = (Some(reason), Some(preset::NOW));
    if reason == EndReason::Error {
        task.error_message = Some("The provider refused the key.".to_owned());
    }
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person
}

fn rows(person: &Person) -> Vec<Row> {
    person.app.conversation().unwrap().rows().to_vec()
}

fn entries(seqs: &[u64]) -> Vec<Row> {
    seqs.iter().map(|seq| Row::Entry(Seq(*seq))).collect()
}

#[test]
fn the_steps_of_an_ended_task_are_one_line_above_its_answer() {
    let folded = [entries(&[1]), vec![Row::Worked(TASK)], entries(&[4, 7]), vec![Row::End(TASK)]].concat();
    let unfolded =
        [entries(&[1]), vec![Row::Worked(TASK)], entries(&[2, 3, 4, 5, 6, 7]), vec![Row::End(TASK)]].concat();
    for (reason, said) in [
        (EndReason::Completed, &["2 files edited"][..]),
        (EndReason::Stopped, &["Cancelled: stopped"]),
        (EndReason::StepLimit, &["Step limit reached"]),
        (EndReason::Error, &["Error", "The provider refused the key."]),
    ] {
        let mut person = ended(reason, history());
        assert_eq!(rows(&person), folded, "{reason:?}");
        for words in said {
            assert!(person.finds(words).is_some(), "{reason:?}: {words}: {:?}", person.texts());
        }
        assert!(person.finds("Completed").is_none());
        person.clicks("Worked 1 min 33 s · 5 steps · 22k tokens · $0.09 +");
        assert_eq!(rows(&person), unfolded, "{reason:?}");
        person.clicks("Worked 1 min 33 s · 5 steps · 22k tokens · $0.09 −");
        assert_eq!(rows(&person), folded, "{reason:?}");
        person.control("o");
        assert_eq!(rows(&person), unfolded, "with all details");
    }
}

#[test]
fn enter_unfolds_the_steps() {
    let is_reached = |tabs: &usize| {
        let mut person = ended(EndReason::Completed, history());
        for _ in 0..*tabs {
            person.named(Named::Tab);
        }
        person.named(Named::Enter);
        person.app.conversation().is_some_and(|open| open.rows().contains(&Row::Entry(Seq(2))))
    };
    assert!((1..20).find(is_reached).is_some(), "Tab does not reach the line");
}

#[test]
fn what_only_replied_or_still_works_has_nothing_folded() {
    let talk = || Snapshot { calls: Vec::new(), ..history() };
    for (status, history) in [(Status::Completed, talk()), (Status::Thinking, history())] {
        let mut person = Person::opened(status, &[], history);
        assert!(!rows(&person).contains(&Row::Worked(TASK)) && person.finds("I look first.").is_some());
    }
}

/// The steps fold when the task ends, unless the person reads them.
#[test]
fn steps_that_are_read_stay_when_the_task_ends() {
    for scrolled in [false, true] {
        let mut long = history();
        long.messages[1].text = vec!["A line of it."; 120].join("\n\n");
        let mut person = Person::opened(Status::Thinking, &[], long);
        if scrolled {
            person.wheels(20.0);
        }
        let task = AgentTask {
            end_reason: Some(EndReason::Completed),
            ended_at: Some(preset::NOW),
            ..preset::task(Status::Completed)
        };
        let ended = Notification::TaskUpdate(TaskUpdate { task });
        person.tell(Message::Conversation(CONVERSATION, vec![Update::Notification(ended)]));
        assert!(rows(&person).contains(&Row::Worked(TASK)));
        assert_eq!(rows(&person).contains(&Row::Entry(Seq(2))), scrolled);
    }
}

#[test]
fn the_whole_text_has_the_steps_too() {
    let person = ended(EndReason::Completed, history());
    assert!(person.app.conversation().unwrap().as_text().contains("I look first."));
}

fn file(path: &str, added: u64, kept: bool) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        kind: ChangeKind::Modified,
        added: Some(added),
        removed: Some(1),
        kept,
        perhaps_yours: false,
    }
}

fn reply(files: Vec<ChangedFile>) -> TaskChangesReply {
    TaskChangesReply { files, diff: "+the whole diff\n".to_owned(), ..TaskChangesReply::default() }
}

fn told(person: &mut Person, from: UndoFrom, reply: TaskChangesReply) {
    let asked = request::changes(TASK, from);
    person.tell(Message::Answered(asked, Ok(Reply::TaskChanges(reply))));
}

#[test]
fn the_bar_shows_all_that_git_finds_and_undoes_it_or_a_file_of_it() {
    for (only, asked) in [
        (None, "Undo what the task changed in 2 files? c.rs was changed since by somebody else: kept."),
        (Some("src/b.rs"), "Undo what the task changed in src/b.rs?"),
    ] {
        let mut person = ended(EndReason::Completed, history());
        assert_eq!(person.sent().iter().filter(|sent| matches!(sent, Request::TaskChanges(_))).count(), 1);
        let files = || vec![file("src/a.rs", 4, false), file("src/b.rs", 5, false), file("c.rs", 7, true)];
        told(&mut person, UndoFrom::Start, reply(files()));
        for words in ["3 files changed", "+16", "−3", "Review", "Undo"] {
            assert!(person.finds(words).is_some(), "{words}: {:?}", person.texts());
        }
        person.clicks("Review");
        assert!(person.finds("Changed: 3 files").is_some());
        person.named(Named::Escape);
        match only {
            None => person.clicks("Undo"),
            Some(path) => {
                person.clicks("Show");
                assert!(person.finds("changed since by somebody else").is_some());
                let line = person.finds(path).unwrap();
                let undo = person.finds_all("Undo");
                let beside = undo.iter().find(|undo| (undo.center_y() - line.center_y()).abs() < 6.0);
                person.clicks_at(beside.unwrap().center());
            }
        }
        assert!(person.sent().contains(&request::changes(TASK, UndoFrom::Start)), "as it is now");
        told(&mut person, UndoFrom::Start, reply(files()));
        assert!(person.finds(asked).is_some(), "{:?}", person.texts());
        person.wait(1000);
        person.named(Named::Enter);
        let part = only.map(|path| Part { file: path.to_owned(), hunk: None });
        assert!(person.sent().contains(&request::undo(TASK, UndoFrom::Start, false, part)));
    }
}

#[test]
fn one_part_of_a_file_is_undone() {
    let hunks = ["@@ -1 +1 @@\n-a\n+b\n", "@@ -30 +30 @@\n-c\n+d\n"];
    let head = "diff --git a/src/b.rs b/src/b.rs\n--- a/src/b.rs\n+++ b/src/b.rs\n";
    let changed = || TaskChangesReply {
        files: vec![file("src/b.rs", 2, false)],
        diff: format!("{head}{}", hunks.concat()),
        ..TaskChangesReply::default()
    };
    let mut person = ended(EndReason::Completed, history());
    told(&mut person, UndoFrom::Start, changed());
    person.clicks("Show");
    person.clicks("Diff");
    let parts = person.finds_all("Undo this part");
    assert_eq!(parts.len(), 2);
    person.clicks_at(parts[1].center());
    told(&mut person, UndoFrom::Start, changed());
    assert!(person.finds("Undo what the task changed in this part of src/b.rs?").is_some());
    person.wait(1000);
    person.named(Named::Enter);
    let part = Part { file: "src/b.rs".to_owned(), hunk: Some(hunks[1].to_owned()) };
    assert!(person.sent().contains(&request::undo(TASK, UndoFrom::Start, false, Some(part))));
}

#[test]
fn after_an_undo_the_bar_offers_its_reverse() {
    let mut person = ended(EndReason::Completed, history());
    assert!(person.sent().contains(&request::changes(TASK, UndoFrom::Start)));
    told(&mut person, UndoFrom::Start, TaskChangesReply { can_redo: true, ..reply(Vec::new()) });
    assert!(person.finds("Undone").is_some() && person.finds("Undo").is_none());
    person.clicks("Redo");
    assert!(person.sent().contains(&request::changes(TASK, UndoFrom::LastUndo)));
}

#[test]
fn a_folder_without_an_undo_says_so_once_and_nowhere_else() {
    let mut person = ended(EndReason::Completed, history());
    let message = "task ab12: no checkpoint of its files could be made: its files are more than 200 MiB";
    let failure = Failure { message: message.to_owned(), kind: Some(ErrorKind::IllegalState) };
    person.tell(Message::Answered(request::changes(TASK, UndoFrom::Start), Err(failure)));
    let texts = person.texts();
    let said = texts.iter().filter(|text| text.contains("200 MiB")).collect::<Vec<_>>();
    assert_eq!(said, ["No undo here: its files are more than 200 MiB"]);
    assert!(person.finds("2 files edited").is_some() && person.finds("Undo").is_none());
}
