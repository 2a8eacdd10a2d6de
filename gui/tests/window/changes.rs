//! What a task has changed: its files, with their lines, and each of its diffs.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    inbox::Preview,
    message::{CallOutcome, CallView},
    notification::Snapshot,
    task::Status,
};

fn edit(seq: u64, path: &str, diff: &str) -> CallView {
    let mut call = preset::call(seq, "patch", path);
    call.preview = Some(Box::new(Preview { path: path.into(), diff: diff.into(), changed: None }));
    call
}

fn before(calls: Vec<CallView>) -> Person {
    let (overview, conversation) =
        preset::waits(Status::Thinking, &[], Snapshot { calls, ..preset::empty() });
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person
}

#[test]
fn each_file_is_listed_once_with_its_lines_and_its_diffs() {
    let mut refused = edit(5, "secret.rs", "@@ -1 +1 @@\n-a\n+b");
    refused.outcome = Some(CallOutcome::Rejected);
    let mut person = before(vec![
        edit(2, "src/a.rs", "@@ -1 +1,2 @@\n-let a = 1;\n+let a = 2;\n+let first = 3;"),
        edit(3, "src/b.rs", "@@ -0,0 +1 @@\n+mod b;"),
        edit(4, "src/a.rs", "@@ -2 +2 @@\n-let first = 3;\n+let second = 4;"),
        refused,
    ]);
    assert!(person.finds("2 files changed").is_some(), "what was rejected is not counted");
    assert!(person.finds("+4").is_some() && person.finds("−2").is_some());
    person.clicks("Show");
    assert!(person.finds("Diff").is_some());
    person.clicks("Diff");
    assert!(person.finds("Hide diff").is_some());
    person.clicks("Hide");
    assert!(person.finds("Hide diff").is_none());
}

#[test]
fn a_task_that_changed_nothing_says_nothing() {
    let mut person = before(vec![preset::call(2, "read", "a")]);
    assert!(person.finds("1 file changed").is_none() && person.finds("Show").is_none());
}
