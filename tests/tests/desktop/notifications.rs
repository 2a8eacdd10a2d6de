//! Desktop notifications, received by a real notification server on a private bus: the expected ones and no others.

use abide_client::protocol::{
    inbox::Decision,
    method::{self, conversation::FocusParams},
    task::Status,
};
use abide_tests::{
    bus::{ABLE, Bus},
    daemon::{Config, TestDaemon},
    model_server::{Gate, ModelServer, Turn},
    skip::skip,
    world::World,
};
use serde_json::json;
use std::{fs, time::UNIX_EPOCH};

/// With a notification server that has these capabilities.
pub(super) async fn start_with(capabilities: &'static [&'static str]) -> Option<(World, Bus)> {
    let model = ModelServer::start().await;
    let daemon = TestDaemon::new(&Config::with(&model).notify());
    let bus = Bus::start_bare(daemon.root()).await?;
    bus.start_server(capabilities).await;
    Some((world_with(model, daemon, &bus).await, bus))
}

pub(super) async fn world_with(model: ModelServer, mut daemon: TestDaemon, bus: &Bus) -> World {
    daemon.set_env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    World::of(model, daemon).await
}

async fn start() -> Option<(World, Bus)> {
    start_with(ABLE).await
}

#[tokio::test]
async fn a_question_an_approval_and_an_end_each_once() {
    let Some((world, bus)) = start().await else {
        return skip("a_question_an_approval_and_an_end_each_once", "dbus-daemon is not installed");
    };
    let script = [Turn::ask("Red <b>or</b> blue?"), Turn::shell("true"), Turn::done("Painted it blue.")];
    let task = world.run_asking("popups", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    let popups = bus.wait("the question", |p| !p.is_empty()).await;
    let text = format!("{} {}", popups[0].summary, popups[0].body);
    assert!(
        text.contains("Do what the script says") && text.contains("Red") && !text.contains("<b>"),
        "{text}"
    );
    world.answer(task, Some("blue")).await;
    bus.wait("the question to be taken back", |p| p[0].is_closed).await;
    world.wait_status(task, Status::WaitingApproval).await;
    bus.wait("the approval", |p| p.len() == 2).await;
    world.decide(task, Decision::AllowOnce).await;
    world.wait_end(task).await;
    let popups = bus.wait("the end", |p| p.len() == 3).await;
    assert!(popups[2].body.contains("Painted it blue."), "{popups:?}");
    bus.dismiss(&popups[2]).await;
    // Notifications come in order: a surplus one would have come before this.
    let last = world.run("last", [Turn::done("Last.")]).await;
    world.wait_end(last).await;
    let popups = bus.wait("the last one", |p| p.iter().any(|p| p.body.contains("Last."))).await;
    assert_eq!(popups.len(), 4, "{popups:#?}");
}

#[tokio::test]
async fn no_notification_for_a_focused_conversation_or_a_stop() {
    let Some((world, bus)) = start().await else {
        return skip("no_notification_for_a_focused_conversation", "dbus-daemon is not installed");
    };
    let gate = Gate::new("the conversation is looked at");
    let ask = Turn::new().gate(&gate).call("ask_user", json!({ "question": "Seen?" }));
    let task = world.run("looked-at", [ask, Turn::done("Done.")]).await;
    let looked_at = FocusParams { conversation_id: Some(task.conversation_id), inbox: false };
    world.client.call::<method::Focus>(looked_at).await.unwrap();
    gate.open();
    world.wait_status(task, Status::WaitingUser).await;
    world.answer(task, Some("yes")).await;
    world.wait_end(task).await;
    let stopped = world.run("stopped", [Turn::ask("Never mind?")]).await;
    bus.wait("the other question", |p| p.iter().any(|p| p.body.contains("Never mind?"))).await;
    world.stop(stopped).await;
    bus.wait("it to be taken back", |p| p.iter().all(|p| !p.body.contains("Never mind?") || p.is_closed))
        .await;
    // One that is looked at later, and goes on to wait.
    let seen = world.run("seen", [Turn::ask("Seen later?"), Turn::done("Done.")]).await;
    bus.wait("the question", |p| p.iter().any(|p| p.body.contains("Seen later?"))).await;
    let looked_at = FocusParams { conversation_id: Some(seen.conversation_id), inbox: false };
    world.client.call::<method::Focus>(looked_at).await.unwrap();
    bus.wait("it to be taken back", |p| p.iter().all(|p| !p.body.contains("Seen later?") || p.is_closed))
        .await;
    world.wait_status(seen, Status::WaitingUser).await;
    // And one that comes into an inbox that is looked at.
    let inbox = FocusParams { conversation_id: None, inbox: true };
    world.client.call::<method::Focus>(inbox).await.unwrap();
    let listed = world.run("listed", [Turn::ask("Seen in the inbox?"), Turn::done("Done.")]).await;
    world.wait_status(listed, Status::WaitingUser).await;
    let last = world.run("last", [Turn::done("Last.")]).await;
    world.wait_end(last).await;
    let popups = bus.wait("the last one", |p| p.iter().any(|p| p.body.contains("Last."))).await;
    assert_eq!(popups.len(), 3, "{popups:#?}");
}

#[tokio::test]
async fn what_a_window_showed_is_notified_when_the_window_is_gone() {
    let Some((world, bus)) = start().await else {
        return skip("what_a_window_showed_is_notified", "dbus-daemon is not installed");
    };
    let gate = Gate::new("the conversation is looked at");
    let ask = Turn::new().gate(&gate).call("ask_user", json!({ "question": "Seen?" }));
    let task = world.run("window", [ask, Turn::done("Done.")]).await;
    let window = world.daemon.client().await;
    let looked_at = FocusParams { conversation_id: Some(task.conversation_id), inbox: false };
    window.call::<method::Focus>(looked_at).await.unwrap();
    gate.open();
    world.wait_status(task, Status::WaitingUser).await;
    // It would have come before this one.
    let other = world.run("other", [Turn::done("Other.")]).await;
    world.wait_end(other).await;
    let popups = bus.wait("the end of another", |p| p.iter().any(|p| p.body.contains("Other."))).await;
    assert_eq!(popups.len(), 1, "{popups:#?}");
    drop(window);
    bus.wait("the question", |p| p.iter().any(|p| p.body.contains("Seen?") && !p.is_closed)).await;
}

#[tokio::test]
async fn no_notification_in_quiet_hours() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model).notify());
    let Some(bus) = Bus::start(daemon.root()).await else {
        return skip("no_notification_in_quiet_hours", "dbus-daemon is not installed");
    };
    daemon.set_env("TZ", "UTC");
    let (world, bus) = (world_with(model, daemon, &bus).await, bus);
    let evening = world.run("evening", [Turn::ask("Good evening?")]).await;
    bus.wait("the first question", |p| p.len() == 1).await;
    let path = world.daemon.home().config_file();
    // An hour before and after now.
    let now = fs::metadata(&path).unwrap().modified().unwrap();
    let minute = now.duration_since(UNIX_EPOCH).unwrap().as_secs() / 60;
    let time = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    let usual = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{usual}quiet = \"{}-{}\"\n", time(minute - 60), time(minute + 60))).unwrap();
    let task = world.run("quiet", [Turn::ask("Awake?"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    let end = world.run("ends", [Turn::done("At night.")]).await;
    world.wait_end(end).await;
    // News is taken in order: when this one is taken back, theirs was held.
    world.stop(evening).await;
    bus.wait("the first question to be taken back", |p| p[0].is_closed).await;
    // Notifications come in order: theirs would have come before this.
    fs::write(&path, usual).unwrap();
    let task = world.run("day", [Turn::ask("Good morning?"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    let popups = bus.wait("the other question", |p| p.len() > 1).await;
    assert!(popups.len() == 2 && popups[1].body == "Good morning?", "{popups:#?}");
}

/// Its notification went with the daemon that showed it.
#[tokio::test]
async fn what_waits_is_shown_again_after_a_restart() {
    let Some((mut world, bus)) = start().await else {
        return skip("what_waits_is_shown_again_after_a_restart", "dbus-daemon is not installed");
    };
    let task = world.run_asking("waits", [Turn::ask("Red or blue?"), Turn::done("Painted.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    bus.wait("the question", |p| p.iter().any(|p| p.body.contains("Red"))).await;
    assert!(world.daemon.stop().await.success());
    bus.wait("it to be taken back", |p| p.iter().all(|p| p.is_closed)).await;
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    bus.wait("the question again", |p| p.iter().any(|p| p.body.contains("Red") && !p.is_closed)).await;
    world.answer(task, Some("blue")).await;
    bus.wait("it to be taken back again", |p| p.iter().all(|p| !p.body.contains("Red") || p.is_closed)).await;
}
