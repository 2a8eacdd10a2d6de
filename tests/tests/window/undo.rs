//! What a task did to files is shown and taken back, in a real window with real keys.

use crate::undo::repository::{Repository, later};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    screen::Screen,
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn a_task_s_changes_are_shown_and_taken_back() {
    let model = ModelServer::start().await;
    let config = Config::with(&model).policy("");
    let world = World::configured(model, &config).await;
    let Some(screen) = Screen::start("a_task_s_changes_are_shown_and_taken_back").await else {
        return;
    };
    let repository = Repository::new(&world.daemon);
    let script = [
        Turn::new().call("write", json!({ "path": "a.txt", "content": "by the agent\n" })),
        Turn::shell("echo more >> b.txt; echo new > new.txt"),
        Turn::done("All is written."),
    ];
    let task = world.run_asking("write", script).await;
    world.wait_end(task).await;
    later(&world, task).await;
    let window = screen.open(&world.daemon).await;
    window.press(&["ctrl+Down"]).await;
    window.reads("All is written.").await;
    window.press(&["ctrl+shift+u"]).await;
    window.keep_picture("changes").await;
    window.take_back().await;
    // What changed while the command ran is perhaps the person's.
    window.reads("you undid the task's changes: 1 file restored, 2 kept").await;
    assert_eq!(repository.text("a.txt").unwrap(), "a\n");
    assert_eq!(repository.text("b.txt").unwrap(), "b\nmore\n");
    window.keep_picture("undone").await;
}
