//! Desktop notifications, received by a real notification server on a private bus: the expected ones and no
//! others.

use abide_client::protocol::{inbox::Decision, task::Status};
use abide_tests::{
    bus::{ABLE, Bus},
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    skip::skip,
    world::World,
};

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
