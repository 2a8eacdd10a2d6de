//! A tree of 64 tasks: while all work, and while all wait for a person.

use super::{IDLE, frames_since, pss, settled, ticks, trace};
use abide_client::protocol::method::{self, inbox::UserResponseParams, task::AgentTreeParams};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Gate, ModelServer, Turn},
    screen::{Screen, Window},
    wait::wait_until,
    world::World,
};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// The sub-tasks of the root, and those of each of these: with the root 64 in all.
const BELOW: [usize; 8] = [7, 7, 7, 7, 7, 7, 7, 6];

pub(super) async fn measure(screen: &Screen) {
    println!("== a tree of 64 tasks");
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    trace(&mut daemon);
    let world = World::of(model, daemon).await;
    let works = Gate::new("all work");
    let fork = |key: String, what: &str| json!({ "prompt": format!("{what} [k:{key}]") });
    let mut root = Turn::say("Eight parts.");
    for (part, leaves) in BELOW.into_iter().enumerate() {
        root = root.call("fork", fork(format!("part-{part}"), "Look at one part of the whole."));
        let mut turn = Turn::new();
        for leaf in 0..leaves {
            let key = format!("leaf-{part}-{leaf}");
            turn = turn.call("fork", fork(key.clone(), "Look at a detail of it, closely."));
            let question = json!({ "question": "Is that right?", "choices": ["yes", "no"] });
            let asks = Turn::say("I look.").gate(&works).call("ask_user", question);
            world.model.script(&key, [asks, Turn::done("Seen.")]);
        }
        let wait = Turn::new().call("wait", json!({}));
        world.model.script(&format!("part-{part}"), [turn, wait, Turn::done("Both seen.")]);
    }
    let task = world.run("whole", [root, Turn::new().call("wait", json!({})), Turn::done("Whole.")]).await;
    let live = async |count: usize| {
        let params =
            AgentTreeParams { task_id: Some(task.task_id.to_string()), ..AgentTreeParams::default() };
        world.client.call::<method::AgentTree>(params).await.expect("the tree").agents.len() == count
    };
    wait_until("64 tasks", async || live(64).await).await;
    let window = screen.open(&world.daemon).await;
    window.press(&["ctrl+Down"]).await;
    sleep(Duration::from_secs(2)).await;
    seconds(&window, "while 55 of them work").await;
    look(&window, "tree-64").await;
    works.open();
    wait_until("all leaves to ask", async || world.inbox().await.len() == 55).await;
    window.press(&["Escape"]).await;
    settled(&window).await;
    seconds(&window, "while 55 of them ask").await;
    look(&window, "tree-64-asks").await;
    let before = (window.log().len(), ticks(window.pid()));
    for item in world.inbox().await {
        let params = UserResponseParams {
            task_id: item.task_id.to_string(),
            question_id: None,
            response: Some("yes".to_owned()),
        };
        world.client.call::<method::UserResponse>(params).await.expect("an answer");
    }
    world.wait_end(task).await;
    settled(&window).await;
    let processor = ticks(window.pid()) - before.1;
    frames_since(&window, before.0, processor, "55 answers, one after the other");
    println!("  memory after that: {:.1} MiB PSS", pss(window.pid()));
}

/// Keeps pictures in two sizes and both themes.
async fn look(window: &Window<'_>, name: &str) {
    for (width, height) in [(800, 600), (1280, 800)] {
        window.resize(width, height).await;
        // The theme of the system, dark, light.
        for theme in ["system", "dark", "light"] {
            sleep(Duration::from_millis(500)).await;
            window.keep_picture(&format!("{name}-{theme}-{width}x{height}")).await;
            window.press(&["ctrl+shift+t"]).await;
        }
    }
}

/// Frames and processor of some seconds in which nobody does anything.
async fn seconds(window: &Window<'_>, what: &str) {
    let (frames, processor) = (window.logged("drawn"), ticks(window.pid()));
    sleep(IDLE).await;
    println!(
        "  {} seconds {what}: {} frames, {} ms of processor, {:.1} MiB PSS",
        IDLE.as_secs(),
        window.logged("drawn") - frames,
        ticks(window.pid()) - processor,
        pss(window.pid())
    );
}
