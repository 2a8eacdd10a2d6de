//! What tools do to a real folder, and what they may not do.

use abide_client::protocol::{message::CallOutcome, task::Status};
use abide_tests::{model_server::Turn, world::World};
use serde_json::json;

#[tokio::test]
async fn an_unknown_tool_and_wrong_arguments_are_failed_results() {
    let world = World::start().await;
    let script = [
        Turn::new().call("fly", json!({ "to": "the moon" })),
        Turn::new().raw_call("shell", "{\"command\": \"echo"),
        Turn::new().call("shell", json!({ "cmd": "echo" })),
        Turn::done("Gave up."),
    ];
    let task = world.run("wrong", script).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let calls = world.get(task).await.calls;
    for call in &calls[..3] {
        assert_eq!(call.outcome, Some(CallOutcome::Refused), "{call:?}");
        assert!(!call.result.as_ref().unwrap().ok);
    }
}

#[tokio::test]
async fn a_file_is_made_changed_and_read() {
    let world = World::start().await;
    let script = [
        Turn::new().call("create_dir", json!({ "path": "src" })),
        Turn::new().call("write", json!({ "path": "src/a.txt", "content": "one\ntwo\n" })),
        Turn::new().call("read", json!({ "path": "src/a.txt" })),
        Turn::new().call("list", json!({ "path": "src" })),
        Turn::done("Done."),
    ];
    let task = world.run("files", script).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    for call in world.get(task).await.calls {
        assert!(call.result.as_ref().is_some_and(|r| r.ok), "{call:?}");
    }
    assert_eq!(std::fs::read_to_string(world.daemon.workspace().join("src/a.txt")).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn nothing_is_touched_outside_the_workspace() {
    let world = World::start().await;
    let outside = world.daemon.root().join("outside.txt");
    std::fs::write(&outside, "untouched").unwrap();
    std::os::unix::fs::symlink(&outside, world.daemon.workspace().join("link.txt")).unwrap();
    let script = [
        Turn::new().call("write", json!({ "path": "../outside.txt", "content": "x" })),
        Turn::new().call("write", json!({ "path": outside.display().to_string(), "content": "x" })),
        Turn::new().call("read", json!({ "path": "link.txt" })),
        Turn::new().call("read", json!({ "path": "/etc/passwd" })),
        Turn::done("Could not."),
    ];
    let task = world.run("outside", script).await;
    world.wait_end(task).await;
    for call in &world.get(task).await.calls[..4] {
        assert!(!call.result.as_ref().unwrap().ok, "{call:?}");
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched");
    let told = world.model.requests("outside").pop().unwrap().text();
    assert!(!told.contains("untouched") && !told.contains("root:x:"), "{told}");
}

#[tokio::test]
async fn a_childs_environment_has_no_keys_and_no_descriptors() {
    let mut world = World::start().await;
    world.daemon.stop().await;
    world.daemon.set_env("OPENAI_API_KEY", "sk-canary-1234");
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    let command = "env > env.txt; ls -l /proc/self/fd > fd.txt; cat /proc/$PPID/environ > parent.txt; true";
    let task = world.run("clean", [Turn::shell(command), Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let read = |name: &str| std::fs::read_to_string(world.daemon.workspace().join(name)).unwrap();
    assert!(!read("env.txt").contains("canary") && read("env.txt").contains("PATH="), "{}", read("env.txt"));
    assert!(!read("parent.txt").contains("canary"), "the helper has it: {}", read("parent.txt"));
    let descriptors: Vec<_> =
        read("fd.txt").lines().filter_map(|l| l.split(" -> ").nth(1).map(str::to_owned)).collect();
    assert!(descriptors.len() <= 4, "0 to 2, and the folder that ls reads: {descriptors:?}");
}

#[tokio::test]
async fn live_output_arrives_while_the_tool_runs() {
    let world = World::start().await;
    let fifo = world.daemon.workspace().join("go");
    let command = "mkfifo go; echo working on it; read _ < go";
    let task = world.run("live", [Turn::shell(command), Turn::done("Done.")]).await;
    let mut watcher = world.watch(task).await;
    watcher.wait_output("working on it").await;
    assert_eq!(world.get(task).await.task.status, Status::ToolExecuting);
    std::fs::write(&fifo, "go\n").unwrap();
    world.wait_end(task).await;
}
