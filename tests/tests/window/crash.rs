//! kill -9 of the window, of the daemon, and of both: nothing is lost, nothing is shown twice.

use abide_client::protocol::{
    method::{self, daemon::StatusParams, task::StartTaskReply},
    task::Status,
};
use abide_tests::{
    model_server::{Gate, Turn},
    screen::{Screen, Window},
    wait,
    world::World,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const PROMPT: &str = "[k:cut] Tell me about winter.";

struct Begun {
    gate: Gate,
    task: StartTaskReply,
}

/// Types a task into the window and waits for the middle of its second reply.
async fn in_mid_stream(world: &World, window: &Window<'_>) -> Begun {
    let gate = Gate::new("the middle of the second reply");
    let script = [
        Turn::say("I look around first.").call("list", json!({})),
        Turn::say("Winter is cold, ").gate(&gate).text("and long.").call("list", json!({})),
        Turn::done("That was winter."),
    ];
    world.model.script("cut", script);
    window.type_text(PROMPT).await;
    window.press(&["Return"]).await;
    let task = world.begun(PROMPT).await;
    gate.reached().await;
    window.reads("Winter is cold,").await;
    Begun { gate, task }
}

async fn assert_shown_once(window: &Window<'_>) {
    let shown = window.reads("Winter is cold,").await;
    assert_eq!(shown.matches("Winter is cold,").count(), 1, "{shown}");
}

/// Waits for the end: every message of the daemon is in the window once, in order, and no other message.
async fn ends_well(world: &mut World, window: &Window<'_>, begun: Begun) {
    begun.gate.open();
    assert_eq!(world.wait_end(begun.task).await.status, Status::Completed);
    let shown = window.reads("— completed").await;
    let (messages, calls) = world.messages(begun.task.conversation_id).await;
    let mut from = 0;
    for message in &messages {
        assert_eq!(shown.matches(&*message.text).count(), 1, "{:?} once in\n{shown}", message.text);
        let at = shown.find(&*message.text).unwrap();
        assert!(at >= from, "{:?} at its place in\n{shown}", message.text);
        from = at;
    }
    let listed = calls.iter().filter(|call| call.tool == "list").count();
    assert_eq!((listed, shown.matches("[list]").count()), (2, 2), "{shown}");
    assert_eq!(shown.matches("— completed").count(), 1, "{shown}");
    let said = messages.len() - shown.matches("—:\n").count();
    assert_eq!(shown.matches("You:\n").count() + shown.matches("Agent:\n").count(), said, "{shown}");
}

/// Takes over the daemon that the window has started, which is no child of the test, and ends it.
async fn take_over(world: &mut World) {
    world.client =
        wait::wait_for("the window to start the daemon", async || world.daemon.try_client().await).await;
}

#[tokio::test]
async fn kills_of_the_window_of_the_daemon_and_of_both_in_mid_stream() {
    let mut world = World::start().await;
    let name = "kills_of_the_window_of_the_daemon_and_of_both_in_mid_stream";
    let Some(screen) = Screen::start(name).await else { return };
    let window = screen.open(&world.daemon).await;
    let begun = in_mid_stream(&world, &window).await;
    window.kill().await;
    let window = screen.open(&world.daemon).await;
    assert_shown_once(&window).await;

    world.daemon.kill();
    take_over(&mut world).await;
    begun.gate.reached_times(2).await;
    window.wait_connected().await;
    assert_shown_once(&window).await;

    window.kill().await;
    let daemon = world.client.call::<method::Status>(StatusParams::default()).await.unwrap().pid;
    kill_process(Pid::from_raw(daemon.cast_signed()).unwrap(), Signal::KILL).unwrap();
    wait::wait_until("the daemon to be gone", async || world.daemon.try_client().await.is_none()).await;
    let window = screen.open(&world.daemon).await;
    take_over(&mut world).await;
    begun.gate.reached_times(3).await;
    ends_well(&mut world, &window, begun).await;
    window.keep_picture("after-a-crash").await;
    world.daemon.cli().ok(&["daemon", "stop"]).await;
}

/// Otherwise what waits for the person would wait unseen: the window had given up for good.
#[tokio::test]
async fn a_daemon_that_the_window_could_not_start_is_shown_when_somebody_else_starts_it() {
    let mut world = World::start().await;
    let Some(screen) = Screen::start("could_not_start").await else { return };
    let window = screen.open(&world.daemon).await;
    let file = world.daemon.home().config_file();
    let valid = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{valid}\n[tsak]\n")).unwrap();
    // Without it the start would go on with the configuration before.
    std::fs::remove_file(world.daemon.home().last_good_config()).unwrap();
    world.daemon.kill();
    let log = world.daemon.home().state_dir.join("start.log");
    wait::wait_until("the window's start of a daemon to fail", async || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("tsak"))
    })
    .await;
    window.wait_disconnected().await;
    std::fs::write(&file, valid).unwrap();
    world.daemon.up().await;
    window.wait_connected().await;
    world.daemon.cli().ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn drafts_of_two_windows_survive_a_kill_of_both() {
    let world = World::start().await;
    let Some(screen) = Screen::start("drafts_of_two_windows_survive_a_kill_of_both").await else { return };
    let folder = world.daemon.home().state_dir.join("gui");
    let mut windows = Vec::new();
    for (text, draft) in [("[k:one] One", "drafts/new"), ("[k:two] Two", "window-2/drafts/new")] {
        let window = screen.open(&world.daemon).await;
        window.type_text(text).await;
        windows.push(window);
        wait::wait_until("the draft to be on disk", async || {
            std::fs::read_to_string(folder.join(draft)).is_ok_and(|kept| kept == text)
        })
        .await;
    }
    for window in windows {
        window.kill().await;
    }
    // One window finds both, one after the other.
    let window = screen.open(&world.daemon).await;
    for (name, text) in [("one", "[k:one] One"), ("two", "[k:two] Two")] {
        world.model.script(name, [Turn::done(&format!("This is {name}."))]);
        window.press(&["ctrl+End", "Return"]).await;
        let task = world.begun(text).await;
        world.wait_end(task).await;
        window.reads(&format!("This is {name}.")).await;
        window.press(&["ctrl+n"]).await;
    }
    wait::wait_until("the drafts to be gone", async || {
        ["drafts/new", "window-2/drafts/new"].iter().all(|draft| !folder.join(draft).exists())
    })
    .await;
}
