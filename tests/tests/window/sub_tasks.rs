//! A tree of tasks in a real window: one sub-task asks, one is corrected, one is deleted, by keys.

use abide_client::protocol::{
    TaskId,
    method::task::StartTaskReply,
    task::{AgentTask, EndReason},
};
use abide_tests::{
    model_server::{Gate, Turn},
    screen::{Screen, Window},
    world::World,
};
use serde_json::json;

/// The next task of the tree.
const NEXT: &str = "ctrl+shift+Down";

async fn sub_task(world: &World, root: StartTaskReply, id: TaskId) -> AgentTask {
    world.get(StartTaskReply { task_id: id, ..root }).await.task
}

/// From the root's timeline to that of its first live sub-task.
async fn to_first(window: &Window<'_>, words: &str) {
    window.press(&[NEXT]).await;
    window.reads(words).await;
}

/// From a sub-task's timeline to the root's.
async fn to_root(window: &Window<'_>) {
    window.press(&["Escape"]).await;
    window.reads("I split it in three.").await;
}

#[tokio::test]
async fn sub_tasks_are_answered_corrected_and_deleted_in_their_timelines() {
    let world = World::start().await;
    let Some(screen) = Screen::start("sub_tasks_are_answered_corrected_and_deleted_in_their_timelines").await
    else {
        return;
    };
    let fork = |key: &str, what: &str| json!({ "prompt": format!("{what} [k:part-{key}]") });
    let root = [
        Turn::say("I split it in three.")
            .call("fork", fork("walls", "Choose the colour of the walls."))
            .call("fork", fork("doors", "Write down how doors are hung."))
            .call("fork", fork("roof", "Count the tiles of the roof.")),
        Turn::new().call("wait", json!({})),
        Turn::done("The shed is planned."),
    ];
    world.model.script("shed", root);
    let question = json!({ "question": "Which colour?", "choices": ["red", "blue"] });
    world.model.script(
        "part-walls",
        [Turn::say("It is a shed.").call("ask_user", question), Turn::done("Blue walls.")],
    );
    let gates = ["the doors", "the new instructions", "the roof"].map(Gate::new);
    let doors = [
        Turn::say("I look at the hinges.").gate(&gates[0]).text("Never said."),
        Turn::say("Only the front door, then.")
            .gate(&gates[1])
            .call("task_complete", json!({ "summary": "One door." })),
    ];
    world.model.script("part-doors", doors);
    world.model.script("part-roof", [Turn::say("One tile, two tiles,").gate(&gates[2]).text("Never said.")]);

    let window = screen.open(&world.daemon).await;
    let prompt = "[k:shed] Plan the shed.";
    window.type_text(prompt).await;
    window.press(&["Return"]).await;
    let task = world.begun(prompt).await;
    gates[0].reached().await;
    gates[2].reached().await;
    let waiting = world
        .wait("a sub-task to ask", task, |task| task.tree.as_deref().is_some_and(|tree| tree.waiting == 1))
        .await;
    let [walls, doors, roof] = waiting.children[..] else { panic!("three sub-tasks: {waiting:?}") };
    window.wait_title("with what waits", |title| title.starts_with("(1) ")).await;
    let shown = window.asks("Question for you: Which colour?").await;
    assert!(shown.contains("“Choose the colour of the walls. [k:part-walls]”, a sub-task of"), "{shown}");
    assert_eq!(shown.matches("[sub-task]").count(), 3, "one line each: {shown}");
    assert!(!shown.contains("It is a shed."), "what a sub-task says is in its own timeline: {shown}");
    window.keep_picture("tree").await;

    window.leave_input().await;
    to_first(&window, "It is a shed.").await;
    window.asks("Question for you: Which colour?").await;
    window.keep_picture("tree-question").await;
    window.choose(2).await;
    window.reads("— completed").await;
    assert_eq!(sub_task(&world, task, walls).await.summary.as_deref(), Some("Blue walls."));
    to_root(&window).await;

    to_first(&window, "I look at the hinges.").await;
    window.press(&["ctrl+l"]).await;
    window.wait_caret(true).await;
    window.type_text("Only the front door.").await;
    window.keep_picture("tree-modify").await;
    window.press(&["ctrl+Return"]).await;
    gates[1].reached().await;
    let shown = window.reads("Only the front door, then.").await;
    assert!(!shown.contains("Never said."), "{shown}");
    assert!(
        world.model.last_request("part-doors").expect("a request").text().contains("Only the front door.")
    );
    gates[1].open();
    window.reads("— completed").await;
    assert_eq!(sub_task(&world, task, doors).await.summary.as_deref(), Some("One door."));
    window.press(&["Escape"]).await;
    window.wait_caret(false).await;
    to_root(&window).await;

    to_first(&window, "One tile, two tiles,").await;
    window.confirm("ctrl+Delete").await;
    assert_eq!(world.wait_end(task).await.end_reason, Some(EndReason::Completed));
    assert_eq!(sub_task(&world, task, roof).await.end_reason, Some(EndReason::Deleted));
    let shown = window.reads("— cancelled: deleted").await;
    assert!(!shown.contains("You:\ndelete"), "no word that the person did not write: {shown}");
    window.keep_picture("tree-deleted").await;
    to_root(&window).await;
    window.reads("Agent:\nThe shed is planned.").await;
    let shown = window.reads("— completed").await;
    assert_eq!(shown.matches("[sub-task]").count(), 3, "{shown}");
    let results = world.model.last_request("shed").expect("a request").text();
    assert!(
        results.contains("Blue walls.") && results.contains("One door.") && results.contains("deleted"),
        "{results}"
    );
    for gate in &gates {
        gate.open();
    }
    world.model.assert_no_violations();
}
