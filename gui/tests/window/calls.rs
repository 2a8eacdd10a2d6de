//! The card of a call.

use crate::{
    drawn,
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    JsonText,
    inbox::{Changed, Preview},
    message::{CallOutcome, CallView},
    notification::Snapshot,
    record::Permission,
    task::{ActiveCall, CallState, Status},
    transcript::ToolResult,
};
use abide_gui::{Message, screen::conversation, theme::style};
use iced::{Theme, widget::container};
use iced_test::core::keyboard::key::Named;
use std::time::Duration;

fn before(history: Snapshot) -> Person {
    Person::opened(Status::Thinking, &[], history)
}

/// A conversation with this call alone, opened.
fn before_open(call: CallView) -> Person {
    let id = call.call_id;
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    person.tell(Message::Thread(conversation::Message::CallToggled(id, true)));
    person
}

#[test]
fn the_reason_of_a_rejection_stays_visible() {
    let mut call = preset::call(10, "shell", "rm -rf build");
    call.outcome = Some(CallOutcome::Rejected);
    call.result = Some(ToolResult::failure("The user rejected this call and says: not on a Friday"));
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    assert!(person.finds("The user rejected this call and says: not on a Friday").is_some());
}

#[test]
fn the_head_of_a_refused_call_says_why() {
    let mut call = preset::call(10, "read", "/etc/shadow");
    call.outcome = Some(CallOutcome::Refused);
    call.result = Some(ToolResult::failure("/etc/shadow is outside the workspace\nmore words"));
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    let texts = person.texts();
    let why = "refused: /etc/shadow is outside the workspace";
    assert!(texts.iter().any(|text| text.starts_with(why)), "{texts:?}");
}

#[test]
fn the_lines_of_a_rewrite_are_all_counted_and_readable() {
    let mut call = preset::call(10, "write", "notes.txt");
    let diff: Vec<String> = (0..450).map(|n| format!("+line {n}")).collect();
    let diff = format!("--- a/notes.txt\n+++ b/notes.txt\n@@ -1,600 +1,600 @@\n{}", diff.join("\n"));
    let changed = Some(Changed { added: 600, removed: 600 });
    call.preview = Some(Box::new(Preview { path: "notes.txt".into(), diff, changed }));
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    assert!(person.finds("+600").is_some() && person.finds("−600").is_some());
    assert!(person.finds("+line 12").is_some() && person.finds("+line 13").is_none());
    person.clicks("… 437 more lines");
    assert!(person.finds("… 51 more lines").is_none(), "that line is below the visible part of the card");
    person.wheels(-300.0);
    person.clicks("… 51 more lines");
    assert!(person.finds("line 1 of 453").is_some(), "all of it is read on a page of its own");
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert!(person.finds("line 1 of 453").is_none());
}

#[test]
fn of_a_diff_that_was_cut_the_least_number_of_more_lines_is_shown() {
    let mut call = preset::call(10, "write", "notes.txt");
    let mut diff: Vec<String> = (0..60).map(|n| format!("+line {n}")).collect();
    diff[40] = "[… 5000 characters cut …]".into();
    let diff = format!("--- a/notes.txt\n+++ b/notes.txt\n@@ -0,0 +1,600 @@\n{}", diff.join("\n"));
    call.preview = Some(Box::new(Preview { path: "notes.txt".into(), diff, changed: None }));
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    assert!(person.finds("… at least 45 more lines").is_some(), "{:?}", person.texts());
}

#[test]
fn an_edit_that_changes_nothing_says_so() {
    let mut call = preset::call(10, "write", "notes.txt");
    let changed = Some(Changed { added: 0, removed: 0 });
    call.preview = Some(Box::new(Preview { path: "notes.txt".into(), diff: String::new(), changed }));
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    assert!(person.finds("It changes nothing.").is_some());
}

#[test]
fn stdout_is_shown_before_stderr_and_the_exit_code_once() {
    let mut call = preset::call(10, "shell", "make");
    let data =
        r#"{"exit_code":2,"duration_ms":40,"stderr":"no rule\n","stdout":"10 %\r\u001b[1m100 %\u001b[0m\n"}"#;
    let data = JsonText::parse(data).unwrap();
    call.result = Some(ToolResult { ok: false, ..ToolResult::success("exit code 2", Some(data)) });
    let mut person = before_open(call);
    assert!(person.finds("100 %\nstderr:\nno rule").is_some());
    assert!(person.finds("exit code 2 · 41.0 s").is_some());
}

#[test]
fn a_program_without_output_is_described_as_such() {
    let mut call = preset::call(10, "shell", "true");
    let data = JsonText::parse(r#"{"exit_code":0,"duration_ms":4,"stderr":"","stdout":""}"#).unwrap();
    call.result = Some(ToolResult::success("exit code 0", Some(data)));
    assert!(before_open(call).finds("no output").is_some());
}

#[test]
fn a_waiting_edit_names_its_file_beside_its_buttons() {
    let wanted = preset::approval_with(|approval| {
        let path = "services/ledger/src/postings/balances/mod.rs".into();
        let diff = "@@ -7,2 +7,2 @@\n same\n-old\n+new".into();
        approval.preview =
            Some(Box::new(Preview { path, diff, changed: Some(Changed { added: 1, removed: 1 }) }));
    });
    let mut person = Person::opened(Status::WaitingApproval, &[wanted], preset::history());
    let allow = person.finds("Allow once").unwrap();
    let path = person.finds("…/ledger/src/postings/balances/mod.rs").unwrap();
    // In a narrow column the file is on the next line.
    assert!((path.y - allow.y).abs() < 48.0, "{allow:?} {path:?}");
    assert!(person.finds("8").is_some(), "lines are numbered");
}

/// Also where the colours of the language are not known.
#[test]
fn the_lines_of_a_diff_stand_on_their_grounds() {
    for name in ["main.rs", "README.md"] {
        let mut call = preset::call(10, "patch", name);
        let diff = "@@ -1,2 +1,2 @@\n same\n-old line\n+new line".into();
        call.preview = Some(Box::new(Preview { path: name.into(), diff, changed: None }));
        let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
        let theme = person.app.theme();
        for (line, style) in
            [("+new line", style::added as fn(&Theme) -> container::Style), ("-old line", style::removed)]
        {
            let place = person.finds(line).unwrap().center();
            let mut grounds = drawn::boxes_around(&mut person, place).into_iter().map(|(_, ground)| ground);
            assert!(grounds.any(|ground| Some(ground) == style(&theme).background), "{name}: {line}");
        }
    }
}

#[test]
fn a_queued_call_says_what_it_waits_for() {
    let mut call = preset::call(10, "shell", "make");
    (call.state, call.outcome, call.result) = (CallState::Queued, None, None);
    (call.started_at, call.ended_at) = (None, None);
    let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
    assert!(person.finds("waits for its turn").is_some());
}

#[test]
fn an_edit_without_line_counts_shows_its_time_without_a_dot() {
    let mut call = preset::call(3, "write", "write empty.txt");
    call.preview = Some(Box::new(Preview { path: "empty.txt".into(), diff: String::new(), changed: None }));
    let mut person = Person::opened(Status::Thinking, &[], Snapshot { calls: vec![call], ..preset::empty() });
    assert!(person.finds("41.0 s").is_some());
    assert!(person.finds("·").is_none());
}

/// A diff shows more lines in a large window than in a small one.
#[test]
fn a_diff_takes_up_to_half_of_the_window() {
    for (size, least) in [((2560.0, 1440.0), 600.0), ((1280.0, 800.0), 300.0)] {
        let mut call = preset::call(10, "write", "notes.txt");
        let diff: Vec<String> = (0..61).map(|n| format!("+line {n}")).collect();
        let diff = format!("--- a/notes.txt\n+++ b/notes.txt\n@@ -0,0 +1,61 @@\n{}", diff.join("\n"));
        call.preview = Some(Box::new(Preview { path: "notes.txt".into(), diff, changed: None }));
        let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
        person.resizes(size.0, size.1);
        person.clicks("… 48 more lines");
        let seen: Vec<_> = (0..61).filter_map(|n| person.finds(&format!("+line {n}"))).collect();
        let height = seen.last().unwrap().y - seen[0].y;
        assert!((least..size.1 / 2.0).contains(&height), "{height} of {size:?}");
    }
}

#[test]
fn seconds_are_counted_for_a_call_that_runs_beside_an_approval() {
    let (mut overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::before(overview.clone());
    assert_eq!(person.app.beat(), Some(Duration::from_secs(20)), "waiting times are shown in minutes");
    overview.tasks[0].active_calls = vec![ActiveCall {
        call_id: preset::call(8, "shell", "sleep 60").call_id,
        tool: "shell".into(),
        summary: "sleep 60".into(),
        state: CallState::Running,
        started_at: Some(preset::NOW),
        attempt: 1,
    }];
    person.overview(overview);
    person.open(CONVERSATION, conversation);
    assert_eq!(person.app.beat(), Some(Duration::from_secs(1)));
}

/// Otherwise the lines that somebody was reading would vanish when the call is cut off.
#[test]
fn the_last_lines_of_a_call_that_was_cut_off_stay_in_view() {
    for outcome in [CallOutcome::Cancelled, CallOutcome::Interrupted] {
        let mut call = preset::call(3, "shell", "make");
        let lines: Vec<String> = (0..40).map(|n| format!("building part {n}")).collect();
        let data = serde_json::json!({"exit_code": null, "stdout": lines.join("\n"), "stderr": ""});
        let data = Some(JsonText::parse(data.to_string()).unwrap());
        call.outcome = Some(outcome);
        call.result = Some(ToolResult { data, ..ToolResult::failure("It was killed.") });
        let snapshot = Snapshot { calls: vec![call.clone()], ..preset::empty() };
        let mut person = Person::opened(Status::Thinking, &[], snapshot);
        let texts = person.texts().join("\n");
        assert!(
            texts.contains("building part 39") && texts.contains("building part 30"),
            "{outcome:?}: {texts}"
        );
        assert!(!texts.contains("building part 3\n"), "{outcome:?}: only the last ones");
        // A call that never ran has no lines.
        call.started_at = None;
        let snapshot = Snapshot { calls: vec![call], ..preset::empty() };
        let mut person = Person::opened(Status::Thinking, &[], snapshot);
        assert!(!person.texts().join("\n").contains("building part 39"), "{outcome:?}");
    }
}

/// What became of the program is no line of its output.
#[test]
fn no_line_is_missing_where_all_lines_are_shown() {
    for count in [12, 13] {
        let mut call = preset::call(3, "shell", "make");
        let lines: Vec<String> = (1..=count).map(|n| format!("line {n}")).collect();
        let data = serde_json::json!({"exit_code": null, "stdout": lines.join("\n"), "stderr": ""});
        let data = Some(JsonText::parse(data.to_string()).unwrap());
        call.outcome = Some(CallOutcome::Cancelled);
        call.result = Some(ToolResult { data, ..ToolResult::failure("It was killed.") });
        let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
        assert!(person.finds("It was killed.").is_some(), "{:?}", person.texts());
        assert_eq!(person.finds("… 1 line before").is_some(), count == 13, "{:?}", person.texts());
    }
}

/// Otherwise nobody would know why nothing was asked.
#[test]
fn a_call_that_a_remembered_rule_allowed_says_so() {
    for (permission, is_said) in
        [(Permission::Rule, true), (Permission::Ask, false), (Permission::Tier, false)]
    {
        let call = CallView { permission, ..preset::call(3, "shell", "make") };
        let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
        let texts = person.texts();
        assert_eq!(texts.contains(&"exit 0 · allowed by a rule · 41.0 s".to_owned()), is_said, "{texts:?}");
    }
}

/// Its own form is for the model.
#[test]
fn the_result_of_waiting_for_sub_tasks_is_told_in_words() {
    let one = r#"{"handle":"a","status":"completed","endReason":"completed","result":"x"}"#;
    let two = format!(r#"[{one},{{"handle":"b","status":"running"}}]"#);
    for (result, told) in [
        (one, "1 sub-task ended"),
        (&*format!("[{one},{one}]"), "2 sub-tasks ended"),
        (&*two, "1 of 2 sub-tasks ended"),
        ("There is none.", "There is none."),
    ] {
        let mut call = preset::call(10, "wait", "wait");
        (call.started_at, call.result) = (None, Some(ToolResult::success(result, None)));
        let mut person = before(Snapshot { calls: vec![call], ..preset::empty() });
        assert!(person.finds(told).is_some(), "{told}: {:?}", person.texts());
    }
}
