//! Answers from desktop notifications, with a strict notification server on a private bus.

use super::notifications::start_with;
use abide_client::protocol::{
    inbox::Decision,
    method::task::StartTaskReply,
    record::{By, RecordBody, Via},
    task::Status,
};
use abide_tests::{
    bus::{ABLE, PLASMA, Popup},
    ledger,
    model_server::Turn,
    skip::skip,
    world::World,
};
use serde_json::json;

/// A file tool's call, which asks without any sandbox, and may be decided in passing.
fn write(path: &str) -> Turn {
    Turn::new().call("write", json!({ "path": path, "content": "new\n" }))
}

fn asks_with(choices: &[&str]) -> Turn {
    Turn::new().call("ask_user", json!({ "question": "Which one?", "choices": choices }))
}

fn is_approval(popup: &Popup) -> bool {
    popup.summary.starts_with("Approval needed: ")
}

fn is_question(popup: &Popup) -> bool {
    popup.summary.starts_with("Question: ")
}

/// Who decided and answered in the task's conversation, in order.
fn deciders(world: &World, task: StartTaskReply) -> Vec<By> {
    let lines = ledger::of(&world.daemon.home(), task.conversation_id);
    let by = lines.iter().filter_map(|line| match line.record() {
        RecordBody::ApprovalDecided(decided) => Some(decided.by),
        RecordBody::QuestionAnswered(answered) => answered.by,
        _ => None,
    });
    by.collect()
}

fn by_notification() -> By {
    By { via: Via::Notification, name: "abide-tests 1".to_owned() }
}

#[tokio::test]
async fn a_question_is_answered_and_calls_are_decided_from_notifications_and_recorded_so() {
    let name = "a_question_is_answered_and_calls_are_decided_from_notifications_and_recorded_so";
    let Some((world, bus)) = start_with(PLASMA).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let script = [Turn::ask("What colour?"), write("yes.txt"), write("no.txt"), Turn::done("Done.")];
    let task = world.run_asking("decides", script).await;
    let popup = bus.popup("the question", is_question).await;
    assert_eq!(popup.keys(), ["open", "default", "inline-reply"]);
    bus.reply(&popup, "a <b>warm</b> grey").await;
    let popup = bus.popup("the approval", |p| is_approval(p) && p.body.contains("yes.txt")).await;
    assert_eq!(popup.keys(), ["allow", "reject", "open", "default"]);
    assert_eq!(popup.actions[1..4], ["Allow once", "reject", "Reject"]);
    assert_eq!((popup.desktop_entry.as_str(), popup.icon.as_str()), ("dev.abide.Abide", "dev.abide.Abide"));
    bus.press(&popup, "allow").await;
    let popup = bus.popup("the next approval", |p| is_approval(p) && p.body.contains("no.txt")).await;
    bus.press(&popup, "reject").await;
    world.wait_end(task).await;
    let made = |path: &str| world.daemon.workspace().join(path).exists();
    assert!(made("yes.txt") && !made("no.txt"));
    assert_eq!(deciders(&world, task), [by_notification(), by_notification(), by_notification()]);
    assert!(world.model.requests("decides")[1].text().contains("a <b>warm</b> grey"));
}

#[tokio::test]
async fn what_leaves_the_sandbox_or_is_risky_can_only_be_opened_and_says_why() {
    let name = "what_leaves_the_sandbox_or_is_risky_can_only_be_opened_and_says_why";
    let Some((world, bus)) = start_with(PLASMA).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let python = Turn::new().call("python", json!({ "code": "print(1)" }));
    let hook = Turn::new().call("write", json!({ "path": ".envrc", "content": "true\n" }));
    let calls = [
        (Turn::outside("true"), "it leaves the sandbox; the agent says: “The test wants it so.”"),
        (Turn::shell("git push --force"), "it must leave the sandbox: `git push` reaches another machine"),
        (Turn::shell("git reset --hard"), "its risk is high"),
        (Turn::shell(&format!("true {}", "and more ".repeat(20))), "To decide, open it: "),
        (hook, "other programs take from this file what they run"),
        (python, "To decide, open it: "),
    ];
    for (n, (call, why)) in calls.into_iter().enumerate() {
        let task = world.run_asking(&format!("risky-{n}"), [call, Turn::done("Done.")]).await;
        let popup = bus.popup(why, |p| is_approval(p) && p.body.contains(why)).await;
        assert_eq!(popup.keys(), ["open", "default"], "{popup:?}");
        assert!(popup.body.contains("To decide, open it: "), "{popup:?}");
        // As if a server had it anyway.
        bus.press(&popup, "allow").await;
        assert_eq!(world.get(task).await.task.status, Status::WaitingApproval, "{why}");
        world.decide(task, Decision::RejectOnce).await;
        world.wait_end(task).await;
        assert_eq!(deciders(&world, task).len(), 1);
        let end = bus.popup("the end", |p| p.summary.starts_with("Completed")).await;
        bus.dismiss(&end).await;
    }
}

#[tokio::test]
async fn an_action_that_comes_too_late_decides_nothing_and_says_so() {
    let name = "an_action_that_comes_too_late_decides_nothing_and_says_so";
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let script = [write("no.txt"), asks_with(&["red", "blue"]), Turn::done("Done.")];
    let task = world.run_asking("late", script).await;
    let approval = bus.popup("the approval", is_approval).await;
    world.decide(task, Decision::RejectOnce).await;
    bus.wait("the approval to be taken back", |p| p.iter().all(|p| !is_approval(p) || p.is_closed)).await;
    bus.press(&approval, "allow").await;
    let note = bus.popup("the note", |p| p.summary == "Already decided").await;
    assert_eq!((note.body.as_str(), note.keys().len()), ("It was rejected before.", 0));
    assert!(!world.daemon.workspace().join("no.txt").exists());
    let question = bus.popup("the question", is_question).await;
    bus.press(&question, "choice-2").await;
    world.wait_end(task).await;
    bus.press(&question, "choice-1").await;
    let note = bus.popup("the note", |p| p.summary == "Already answered").await;
    assert_eq!(note.body, "The answer was: blue");
    assert_eq!(deciders(&world, task).len(), 2, "the first ones");
}
