//! An open question calls for attention only if the person is looking elsewhere.

use abide_client::protocol::task::Status;
use abide_tests::{
    bus::Bus,
    daemon::{Config, TestDaemon},
    model_server::{Gate, ModelServer, Turn},
    screen::Screen,
    skip::skip,
    wait,
    world::World,
};
use serde_json::json;

async fn start() -> Option<(World, Bus)> {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model).notify());
    let bus = Bus::start(daemon.root()).await?;
    daemon.set_env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    Some((World::of(model, daemon).await, bus))
}

#[tokio::test]
async fn a_question_calls_for_attention_only_if_the_window_has_no_focus() {
    let name = "a_question_calls_for_attention_only_if_the_window_has_no_focus";
    let Some((world, bus)) = start().await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let Some(screen) = Screen::start(name).await else { return };
    let (first, second) = (Gate::new("before the first question"), Gate::new("before the second question"));
    let ask = |question: &str| json!({ "question": question });
    let script = [
        Turn::say("Looking. ").gate(&first).call("ask_user", ask("Seen at once?")),
        Turn::say("Looking again. ").gate(&second).call("ask_user", ask("Seen later?")),
        Turn::done("Done."),
    ];
    world.model.script("looks", script);
    let window = screen.open(&world.daemon).await;
    let prompt = "[k:looks] Ask me twice.";
    window.type_text(prompt).await;
    window.press(&["Return"]).await;
    let task = world.begun(prompt).await;
    window.reads("Looking.").await;

    first.open();
    world.wait_status(task, Status::WaitingUser).await;
    window.asks("Question for you: Seen at once?").await;
    assert!(!window.is_urgent().await, "the window has the keyboard");
    window.reply("yes").await;
    second.reached().await;

    let nobody = "the daemon knows that nobody looks";
    let before = window.logged(nobody);
    let other = screen.distract().await;
    wait::wait_until(nobody, async || window.logged(nobody) > before).await;
    second.open();
    world.wait_status(task, Status::WaitingUser).await;
    let popups = bus.wait("the question", |p| p.iter().any(|p| p.body.contains("Seen later?"))).await;
    assert_eq!(popups.len(), 1, "none for what is looked at: {popups:#?}");
    window.wait_title("with what waits", |title| title.starts_with("(1) ")).await;
    wait::wait_until("the urgency hint", async || window.is_urgent().await).await;

    drop(other);
    window.activate().await;
    wait::wait_until("the urgency hint to be gone", async || !window.is_urgent().await).await;
    window.decline().await;
    world.wait_end(task).await;
    window.wait_title("with nothing that waits", |title| !title.starts_with('(')).await;
}
