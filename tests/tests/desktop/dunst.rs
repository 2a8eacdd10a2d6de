//! The same with dunst, a notification server that many people use.

use super::notifications::world_with;
use abide_client::protocol::{
    record::{By, RecordBody, Via},
    task::Status,
};
use abide_tests::{
    bus::{Bus, Dunst},
    daemon::{Config, TestDaemon},
    ledger,
    model_server::{ModelServer, Turn},
    screen::Screen,
    skip::skip,
};
use serde_json::json;

#[tokio::test]
async fn dunst_shows_closes_opens_and_decides() {
    let name = "dunst_shows_closes_opens_and_decides";
    let Some(screen) = Screen::start(name).await else { return };
    let model = ModelServer::start().await;
    let daemon = TestDaemon::new(&Config::with(&model).notify());
    let Some(bus) = Bus::start_bare(daemon.root()).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let Some(dunst) = Dunst::start(&bus, &screen, daemon.root()).await else {
        return skip(name, "dunst is not installed");
    };
    let window = bus.application(&daemon.home()).await;
    let (world, bus) = (world_with(model, daemon, &bus).await, bus);
    let ask = Turn::new().call("ask_user", json!({ "question": "Which?", "choices": ["red", "blue"] }));
    let write = Turn::new().call("write", json!({ "path": "made.txt", "content": "new\n" }));
    let script = [Turn::ask("What colour?"), ask, write, Turn::done("Done.")];
    let task = world.run_asking("dunst", script).await;

    dunst.has(1, 0).await;
    dunst.click().await;
    let asked = window.activation(0).await;
    assert_eq!((asked.action.as_str(), asked.parameters), ("show", vec![task.conversation_id.to_string()]));
    world.answer(task, Some("green")).await;

    dunst.has(1, 1).await;
    dunst.pick("blue").await;
    world.wait_status(task, Status::WaitingApproval).await;
    dunst.has(1, 2).await;
    dunst.pick("Allow once").await;
    world.wait_end(task).await;
    assert!(world.daemon.workspace().join("made.txt").exists());
    assert!(world.model.requests("dunst")[2].text().contains("blue"));
    let decided = ledger::of(&world.daemon.home(), task.conversation_id).into_iter().find_map(|line| {
        let RecordBody::ApprovalDecided(decided) = line.record() else { return None };
        Some(decided.by)
    });
    let Some(By { via: Via::Notification, name }) = decided else { panic!("{decided:?}") };
    assert!(name.starts_with("dunst "), "{name}");
    // The end.
    dunst.has(1, 3).await;
    drop(bus);
}
