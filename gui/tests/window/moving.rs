//! What a person opens comes into view.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::protocol::{
    Seq,
    event::{EndedEvent, Event, EventKind},
    inbox::Preview,
    message::{CallView, Role},
    notification::Snapshot,
    task::{EndReason, Status},
    transcript::ToolResult,
};

fn edit(seq: u64, path: &str) -> CallView {
    let mut call = preset::call(seq, "patch", "an edit");
    let lines: Vec<String> = (1..=40).map(|n| format!("+line {n}")).collect();
    let diff = format!("@@ -0,0 +1,40 @@\n{}", lines.join("\n"));
    call.preview = Some(Box::new(Preview { path: path.into(), diff, changed: None }));
    call
}

fn ended(calls: Vec<CallView>) -> Person {
    let messages = (1..=8).map(|n| preset::said(n, Role::Agent, "Said before.")).collect();
    let kind = EventKind::TaskEnded(EndedEvent {
        reason: EndReason::Completed,
        summary: Some("Done.".into()),
        error: None,
    });
    let end = Event { seq: Seq(900), task_id: Some(TASK), at: preset::NOW, kind };
    let history = Snapshot { messages, calls, events: vec![end], ..preset::empty() };
    let (overview, mut conversation) = preset::waits(Status::Completed, &[], history);
    let task = &mut conversation.tasks[0];
    task.end_reason = Some(EndReason::Completed);
    task.ended_at = Some(preset::NOW);
    task.summary = Some("Done.".into());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person
}

#[test]
fn the_list_of_changed_files_opens_at_its_first_file() {
    let calls = (0..40).map(|n| edit(100 + n, &format!("src/file_{n:02}.rs"))).collect();
    let mut person = ended(calls);
    assert!(person.finds("40 files edited").is_some());
    person.clicks("Show");
    assert!(person.finds("40 files edited").is_some());
    assert!(person.finds("src/file_00.rs").is_some() && person.finds("src/file_09.rs").is_some());
    person.clicks("Hide");
    assert!(person.finds("40 files edited").is_some() && person.finds("Show").is_some());
}

#[test]
fn a_diff_opens_below_its_file() {
    let calls = (0..6).map(|n| edit(100 + n, &format!("src/file_{n}.rs"))).collect();
    let mut person = ended(calls);
    person.clicks("Show");
    person.clicks("Diff");
    let file = person.finds("src/file_0.rs");
    assert!(file.is_some() && person.finds("Hide diff").is_some());
    let lines = person.finds_all("+line 3");
    assert!(lines.iter().any(|line| line.y > file.unwrap().y), "{file:?} {lines:?}");
}

#[test]
fn a_short_list_of_files_leaves_the_end_in_view() {
    let mut person = ended(vec![edit(100, "src/a.rs"), edit(101, "src/b.rs")]);
    person.clicks("Show");
    assert!(person.finds("src/a.rs").is_some() && person.finds("src/b.rs").is_some());
    assert!(person.finds("Jump to latest").is_none());
}

#[test]
fn the_head_of_a_call_that_is_opened_stays_in_view() {
    let mut call = preset::call(100, "shell", "seq 300");
    let lines: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    call.result = Some(ToolResult::success(lines.join("\n"), None));
    let later = (101..=106).map(|n| preset::call(n, "read", &format!("file {n}")));
    let mut person = ended(std::iter::once(call).chain(later).collect());
    person.unfolds();
    let before = person.finds("seq 300").unwrap();
    person.clicks("seq 300");
    assert!(person.finds("Read all").is_some(), "it is open");
    let after = person.finds("seq 300").unwrap();
    assert!(after.y <= before.y + 1.0, "{before:?} {after:?}");
    person.clicks("seq 300");
    assert!(person.finds("Read all").is_none() && person.finds("seq 300").is_some());
}
