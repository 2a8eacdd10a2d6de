//! Notification servers that start again, hang, die, flood, or are two. Nothing is decided that nobody decided, and nothing is lost.

use super::notifications::start_with;
use abide_client::protocol::task::Status;
use abide_tests::{
    bus::{ABLE, Bus, PLASMA, Popup},
    model_server::Turn,
    skip::skip,
    vitals::Vitals,
    world::World,
};
use serde_json::json;

async fn asks(world: &World, key: &str) -> abide_client::protocol::method::task::StartTaskReply {
    let ask = Turn::new()
        .call("ask_user", json!({ "question": format!("Is {key} right?"), "choices": ["yes", "no"] }));
    let task = world.run(key, [ask, Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingUser).await;
    task
}

async fn question(bus: &Bus, key: &str) -> Popup {
    bus.popup(key, |p| p.summary.starts_with("Question") && p.body.contains(key)).await
}

#[tokio::test]
async fn an_action_of_an_earlier_server_is_never_taken_for_one_of_a_later() {
    let name = "an_action_of_an_earlier_server_is_never_taken_for_one_of_a_later";
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let first = asks(&world, "first").await;
    let old = question(&bus, "first").await;
    // It stays; another one has the name, as when two desktops share a session. Its ids begin with 1 again.
    bus.start_server(ABLE).await;
    world.answer(first, Some("yes")).await;
    world.wait_end(first).await;
    let end = bus.popup("the end", |p| p.summary.starts_with("Completed")).await;
    assert_eq!((old.server, old.id, end.server, end.id), (0, 1, 1, 1));
    bus.dismiss(&end).await;
    bus.wait("the old server to be told that it is over", |p| p[0].is_closed).await;
    let second = asks(&world, "second").await;
    let new = question(&bus, "second").await;
    assert_eq!((new.server, new.id), (1, 2));
    // The old server has a notification 2 of somebody else's.
    bus.press(&Popup { server: 0, ..new.clone() }, "choice-1").await;
    bus.press(&old, "choice-2").await;
    bus.popup("what the old one hears", |p| p.summary == "Already answered").await;
    assert_eq!(world.get(second).await.task.status, Status::WaitingUser);
    bus.press(&new, "choice-2").await;
    world.wait_end(second).await;
    assert!(world.model.requests("second")[1].text().contains("no"));
}

#[tokio::test]
async fn a_server_that_dies_loses_nothing_and_the_next_one_goes_on() {
    let name = "a_server_that_dies_loses_nothing_and_the_next_one_goes_on";
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let first = asks(&world, "first").await;
    question(&bus, "first").await;
    bus.end_server().await;
    bus.start_server(PLASMA).await;
    let second = asks(&world, "second").await;
    let both = bus.popup("both", |p| p.summary == "2 tasks need you").await;
    assert_eq!((both.server, both.id), (1, 1));
    world.answer(first, Some("yes")).await;
    let popup = question(&bus, "second").await;
    bus.press(&popup, "choice-1").await;
    world.wait_end(second).await;
    world.wait_end(first).await;
}

#[tokio::test]
async fn a_server_that_hangs_holds_up_nothing() {
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip("a_server_that_hangs_holds_up_nothing", "dbus-daemon is not installed");
    };
    bus.hang(true);
    for n in 0..80 {
        let task = asks(&world, &format!("hangs-{n}")).await;
        world.answer(task, Some("yes")).await;
        world.wait_end(task).await;
    }
    assert_eq!(bus.popups(), []);
    bus.hang(false);
}

#[tokio::test]
async fn ten_thousand_unknown_actions_cost_nothing() {
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip("ten_thousand_unknown_actions_cost_nothing", "dbus-daemon is not installed");
    };
    let task = asks(&world, "flooded").await;
    let popup = question(&bus, "flooded").await;
    let before = Vitals::of(world.daemon.pid());
    bus.flood(10_000).await;
    // After them on the same connection: when it is heard, they all are.
    bus.press(&popup, "choice-1").await;
    world.wait_end(task).await;
    let after = Vitals::of(world.daemon.pid());
    println!("before: {before:?}\nafter: {after:?}");
    assert!(after.heap_kib < before.heap_kib + 2048, "{before:?} {after:?}");
    assert_eq!(bus.popups().iter().filter(|p| p.summary.starts_with("Already")).count(), 0);
}
