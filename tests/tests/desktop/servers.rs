//! Notification servers that start again, hang, die, flood, or are two. Nothing is decided that nobody
//! decided, and nothing is lost.

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
    bus.wait("the old server to be asked to close it", |p| p[0].is_closed).await;
    let again = bus.popup("it at the new server", |p| p.server == 1 && p.body.contains("first")).await;
    assert_eq!((old.server, old.id, again.server, again.id), (0, 1, 1, 1));
    // A late click at the old one.
    bus.press(&old, "choice-2").await;
    let second = asks(&world, "second").await;
    let both = bus.popup("both", |p| p.summary == "2 tasks need you").await;
    assert_eq!(both.server, 1);
    assert_eq!(world.get(first).await.task.status, Status::WaitingUser);
    world.answer(first, Some("yes")).await;
    let new = question(&bus, "second").await;
    // The old server has a notification with its id, of somebody else's.
    bus.press(&Popup { server: 0, ..new.clone() }, "choice-1").await;
    bus.press(&new, "choice-2").await;
    world.wait_end(first).await;
    world.wait_end(second).await;
    assert!(world.model.requests("first")[1].text().contains("yes"));
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
    // Without anything new.
    let again = bus.popup("it at the new server", |p| p.server == 1).await;
    assert!(again.id == 1 && again.body.contains("first"), "{again:?}");
    let second = asks(&world, "second").await;
    bus.popup("both", |p| p.summary == "2 tasks need you").await;
    world.answer(first, Some("yes")).await;
    let popup = question(&bus, "second").await;
    bus.press(&popup, "choice-1").await;
    world.wait_end(second).await;
    world.wait_end(first).await;
}

/// It shows late what is over by then.
#[tokio::test]
async fn a_server_that_was_slow_keeps_no_notification_with_dead_actions() {
    let name = "a_server_that_was_slow_keeps_no_notification_with_dead_actions";
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let earlier = asks(&world, "earlier").await;
    question(&bus, "earlier").await;
    bus.hang(true);
    let late = asks(&world, "late").await;
    bus.wait("the first one to be closed for both", |p| p[0].is_closed).await;
    world.answer(late, Some("yes")).await;
    world.answer(earlier, Some("yes")).await;
    world.wait_end(late).await;
    world.wait_end(earlier).await;
    assert_eq!(bus.popups().len(), 1, "nothing more is shown so far");
    bus.hang(false);
    bus.popup("the ends", |p| p.summary == "2 tasks have ended").await;
    bus.wait("what is over to be closed", |p| p.iter().all(|p| p.is_closed || p.summary.contains("ended")))
        .await;
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
