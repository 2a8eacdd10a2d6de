//! What is deleted or forgotten is in no record of a task that had recalled it.

use super::recall::world;
use abide_client::{
    Update,
    protocol::{
        memory::Snippet,
        method::{self, memory::SearchMemoryParams, task::StartTaskParams},
        notification::Notification,
    },
};
use abide_tests::{
    model_server::{Gate, Turn},
    wait,
    world::World,
};
use std::fs;

pub(super) const SECRET: &str = "chartreuse-5433";

/// The files of the daemon, its database and its log among them, that hold this secret.
pub(super) fn files_with_it(world: &World, secret: impl AsRef<[u8]>) -> Vec<String> {
    let (secret, mut folders, mut files) =
        (secret.as_ref(), vec![world.daemon.root().to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let (path, kind) = entry.and_then(|it| Ok((it.path(), it.file_type()?))).expect("an entry");
            if kind.is_dir() {
                folders.push(path);
            // The model is large, and of no conversation. A log may go at any time.
            } else if kind.is_file()
                && path != world.daemon.home().embedding_model()
                && fs::read(&path).unwrap_or_default().windows(secret.len()).any(|window| window == secret)
            {
                files.push(path.display().to_string());
            }
        }
    }
    files
}

async fn search(world: &World) -> Vec<Snippet> {
    let params = SearchMemoryParams { query: "chartreuse".to_owned(), workspace: None, limit: None };
    world.client.call::<method::SearchMemory>(params).await.expect("the search").snippets
}

#[tokio::test]
async fn a_deleted_conversation_leaves_no_byte_in_those_that_recalled_it() {
    let mut world = world().await;
    world.model.script("first", [Turn::done(&format!("The password of staging is {SECRET}."))]);
    let params = |key: &str| StartTaskParams {
        message: format!("[k:{key}] Which password has staging?"),
        ..world.task(key)
    };
    let first = world.begin(params("first")).await;
    world.wait_end(first).await;
    let gate = Gate::new("the answer");
    world.model.script("second", [Turn::done("Done.").gate(&gate)]);
    let second = world.begin(params("second")).await;
    gate.reached().await;
    assert!(world.model.last_request("second").expect("a request").text().contains(SECRET));
    assert_ne!(files_with_it(&world, SECRET), [] as [String; 0]);

    // The task that has recalled it is at work.
    let first_id = first.conversation_id.to_string();
    world.daemon.cli().ok(&["conversations", "delete", "--yes", &first_id]).await;
    wait::wait_until("no byte to be left", async || files_with_it(&world, SECRET).is_empty()).await;
    gate.open();
    let ended = world.wait_end(second).await;
    assert_eq!(ended.summary.as_deref(), Some("Done."));
    assert_eq!(search(&world).await, []);
    let shown = world.daemon.cli().ok(&["show", "--history", &second.task_id.to_string()]).await;
    assert!(shown.contains("forgotten since"), "{shown}");
    world.model.assert_no_violations();

    // The records are sound, and say the same after a start.
    world.crash_and_restart().await;
    assert!(world.daemon.cli().ok(&["messages", &second.task_id.to_string()]).await.contains("Done."));
    assert_eq!(files_with_it(&world, SECRET), [] as [String; 0]);
}

#[tokio::test]
async fn a_passage_is_forgotten_for_good_and_its_record_stays() {
    let mut world = world().await;
    let first = world.run("first", [Turn::done(&format!("The colour is {SECRET}."))]).await;
    world.wait_end(first).await;
    let found = search(&world).await;
    assert_ne!(found, []);
    let mut window = world.watch(first).await;
    let cli = world.daemon.cli();
    // The end of the task says the same.
    cli.ok(&["memory", "forget", &found[0].seq.0.to_string()]).await;
    assert_eq!(search(&world).await, []);
    let told = loop {
        if let Update::Notification(Notification::MemoryForgotten(told)) = window.next().await {
            break told.seq;
        }
    };
    assert_eq!(told, found[0].seq, "who shows it is told");
    let again = cli.run(&["memory", "forget", &found[0].seq.0.to_string()]).await;
    assert_eq!(again.code, Some(1), "{again:?}");
    world.crash_and_restart().await;
    assert_eq!(search(&world).await, []);
    let cli = world.daemon.cli();
    assert!(cli.ok(&["search", "chartreuse"]).await.contains(SECRET), "the message itself stays");
}
