//! The files that a task has changed, with their line counts and diffs.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::protocol::method::task::TaskChangesReply;
use abide_client::protocol::{
    TaskId,
    checkpoint::UndoFrom,
    inbox::Preview,
    message::{CallOutcome, CallView, Message as Said, Role},
    notification::Snapshot,
    task::{AgentTask, EndReason, Status, Tree},
    transcript::Usage,
};
use abide_gui::{
    Message,
    request::{self, Reply},
};

fn edit(seq: u64, path: &str, diff: &str) -> CallView {
    let mut call = preset::call(seq, "patch", "an edit");
    call.preview = Some(Box::new(Preview { path: path.into(), diff: diff.into(), changed: None }));
    call
}

fn before(calls: Vec<CallView>) -> Person {
    Person::opened(Status::Thinking, &[], Snapshot { calls, ..preset::empty() })
}

/// The `words` that are shown on the same line as `text`.
fn beside<'a>(person: &mut Person, text: &str, words: &[&'a str]) -> Vec<&'a str> {
    let lines = person.finds_all(text);
    assert!(!lines.is_empty(), "{text:?} is not shown");
    let mut is_beside = |words: &str| {
        let found = person.finds_all(words);
        found.iter().any(|at| lines.iter().any(|line| (line.center_y() - at.center_y()).abs() < 6.0))
    };
    words.iter().copied().filter(|words| is_beside(words)).collect()
}

/// What a command has done to files is not in its record.
#[test]
fn a_task_that_ran_commands_says_that_the_edits_are_not_all() {
    const REST: &str = "commands may have changed more";
    let file = || edit(2, "src/a.rs", "@@ -0,0 +1 @@\n+mod b;");
    let mut person = before(vec![file()]);
    assert!(person.finds("1 file edited").is_some() && person.finds(REST).is_none());
    let command = CallView { tool: "shell".to_owned(), preview: None, ..edit(3, "", "") };
    let mut person = before(vec![file(), command]);
    assert!(person.finds(REST).is_some());
    person.clicks("Review");
    assert_eq!(person.sent().last(), Some(&request::changes(TASK, UndoFrom::Start)));
}

/// Commands and sub-tasks may have changed files although no edit is recorded. The tokens are those of all of
/// them.
#[test]
fn the_end_of_a_task_without_edits_leads_to_all_changes() {
    let command = CallView { tool: "shell".to_owned(), preview: None, ..edit(3, "", "") };
    let read = CallView { tool: "read".to_owned(), ..command.clone() };
    let usage = Usage { input: 9_000, ..Usage::default() };
    let below = Some(Box::new(Tree { ended: 2, usage, ..Tree::default() }));
    for (call, tree, tokens, leads) in [
        (read.clone(), None, "22k tokens", false),
        (command, None, "22k tokens", true),
        (read, below, "31k tokens", true),
    ] {
        let (overview, mut conversation) =
            preset::waits(Status::Completed, &[], Snapshot { calls: vec![call], ..preset::empty() });
        let task = &mut conversation.tasks[0];
        (task.end_reason, task.ended_at, task.tree) = (Some(EndReason::Completed), Some(preset::NOW), tree);
        let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
        person.open(CONVERSATION, conversation);
        assert_eq!(person.finds("Review").is_some(), leads);
        let texts = person.texts();
        assert!(texts.iter().any(|text| text.contains(tokens)), "{texts:?}");
        if leads {
            person.clicks("Review");
            assert_eq!(person.sent().last(), Some(&request::changes(TASK, UndoFrom::Start)));
        }
    }
}

#[test]
fn the_changes_of_an_earlier_task_can_be_shown_and_are_named_so() {
    let command = CallView { tool: "shell".to_owned(), preview: None, ..edit(3, "", "") };
    let prompts = [TASK, TaskId(preset::id(777))]
        .into_iter()
        .zip([1, 95])
        .map(|(task, seq)| Said { task_id: Some(task), ..preset::said(seq, Role::User, "Go.") });
    let history = Snapshot { calls: vec![command], messages: prompts.collect(), ..preset::empty() };
    let (overview, mut conversation) = preset::waits(Status::Completed, &[], history);
    let task = &mut conversation.tasks[0];
    (task.end_reason, task.ended_at) = (Some(EndReason::Completed), Some(preset::NOW));
    let later = AgentTask { id: TaskId(preset::id(777)), started_at: preset::NOW, ..task.clone() };
    conversation.tasks.push(later);
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.open(CONVERSATION, conversation);
    person.clicks("Review");
    let sent = person.sent();
    let asked = request::changes(TASK, UndoFrom::Start);
    assert_eq!(sent.last(), Some(&asked));
    let none = Reply::TaskChanges(TaskChangesReply::default());
    person.tell(Message::Answered(asked, Ok(none)));
    let said = "No file is changed by that earlier task, or all are what they were.";
    assert!(person.finds(said).is_some());
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
    assert!(person.finds("2 files edited").is_some(), "a rejected edit is not counted");
    // A line that one edit adds and a later one removes counts for neither.
    assert_eq!(beside(&mut person, "2 files edited", &["+3", "−1", "+4", "−2"]), ["+3", "−1"]);
    person.clicks("Show");
    assert_eq!(beside(&mut person, "src/a.rs", &["+3", "+2", "−1", "−2", "2 edits"]), ["+2", "−1"]);
    assert!(person.finds("Diff").is_some());
    person.clicks("Diff");
    assert!(person.finds("Hide diff").is_some());
    assert!(person.finds("edit 1 of 2").is_some() && person.finds("edit 2 of 2").is_some());
    person.clicks("Hide");
    assert!(person.finds("Hide diff").is_none());
}

#[test]
fn a_file_whose_edits_cancel_out_has_no_line_counts() {
    let mut person = before(vec![
        edit(2, "a.rs", "@@ -3 +3 @@\n-let a = 1;\n+let a = 2;"),
        edit(3, "a.rs", "@@ -3 +3 @@\n-let a = 2;\n+let a = 1;"),
        edit(4, "b.rs", "@@ -0,0 +1 @@\n+mod b;"),
    ]);
    assert_eq!(beside(&mut person, "2 files edited", &["+1", "−1", "+3", "−2"]), ["+1"]);
    person.clicks("Show");
    assert_eq!(beside(&mut person, "a.rs", &["+1", "−1", "as it was"]), ["as it was"]);
}

#[test]
fn no_sum_is_shown_if_the_difference_of_a_file_is_unknown() {
    for last in [
        // The diff was cut.
        "@@ -1,9 +1,9 @@\n-let a = 2;\n+let a = 3;\n[… 900 characters cut …]\n+x",
        // Another program has changed the file between the edits.
        "@@ -1 +1 @@\n-let a = 7;\n+let a = 3;",
    ] {
        let mut person = before(vec![
            edit(2, "a.rs", "@@ -1 +1,3 @@\n-let a = 1;\n+let a = 2;\n+b\n+c"),
            edit(3, "a.rs", last),
        ]);
        assert_eq!(beside(&mut person, "1 file edited", &["+3", "+4", "−1", "−2", "≥ +5"]), [""; 0]);
        person.clicks("Show");
        assert_eq!(beside(&mut person, "a.rs", &["+3", "+4", "−1", "−2", "2 edits"]), ["2 edits"]);
        person.clicks("Diff");
        assert_eq!(beside(&mut person, "edit 1 of 2", &["+3", "+4", "−1"]), ["+3", "−1"]);
    }
}

#[test]
fn a_task_without_edits_lists_no_files() {
    let mut person = before(vec![preset::call(2, "read", "a")]);
    assert!(person.finds("1 file edited").is_none() && person.finds("Show").is_none());
}
