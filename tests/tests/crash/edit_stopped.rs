//! kill -9 right after a stop that came while a file was being written: nothing is left of the write.

use abide_client::protocol::task::EndReason;
use abide_fail_point::{Point, SLOW_VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    wait,
    world::World,
};
use serde_json::json;
use std::fs;

/// The temporary files of edits in the workspace.
fn half_made(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.daemon.workspace()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".abide-")).collect()
}

#[tokio::test]
async fn an_end_is_recorded_only_once_the_write_under_way_is_over() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    // The new content is on disk and takes this long to get the file's name: longer than a stop takes.
    daemon.set_env_once(SLOW_VARIABLE, &format!("{}:5000", Point::EditWritten.name()));
    let mut world = World::of(model, daemon).await;
    let write = json!({ "path": "note.txt", "content": "new" });
    let task = world.run("slow", [Turn::new().call("write", write), Turn::done("Done.")]).await;
    wait::wait_until("the new content to be written", async || !half_made(&world).is_empty()).await;
    let stopped = world.stop(task).await;
    world.daemon.kill();
    assert_eq!(stopped.end_reason, Some(EndReason::Stopped));

    world.daemon.up().await;
    world.client = world.daemon.client().await;
    assert_eq!(world.get(task).await.task.end_reason, Some(EndReason::Stopped));
    assert_eq!(half_made(&world), Vec::<String>::new());
}
