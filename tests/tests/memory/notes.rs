//! Notes for later tasks, and the search that a task makes itself.

use super::{
    forgetting::{SECRET, files_with_it},
    recall::world,
};
use abide_client::protocol::{
    event::EventKind,
    memory::{MemoryUse, Note, Source},
    method::{
        self,
        conversation::CreateConversationParams,
        memory::ListNotesParams,
        task::{GetTaskParams, StartTaskParams, StartTaskReply},
    },
    record::Recalled,
    task::{EndReason, Mode},
};
use abide_tests::{model_server::Turn, world::World};
use serde_json::json;

async fn notes(world: &World) -> Vec<Note> {
    world.client.call::<method::ListNotes>(ListNotesParams::default()).await.expect("the notes").notes
}

/// What the model of a task that begins now is sent.
async fn request_of(world: &World, key: &str) -> (StartTaskReply, String) {
    world.model.script(key, [Turn::done("Done.")]);
    let params = StartTaskParams { message: format!("[k:{key}] Do something else."), ..world.task(key) };
    let task = world.begin(params).await;
    world.wait_end(task).await;
    (task, world.model.last_request(key).expect("a request").text())
}

/// All that the task has recalled.
async fn recalled(world: &World, task: StartTaskReply) -> Vec<Recalled> {
    let params = GetTaskParams { task_id: task.task_id.to_string(), history: true };
    let history =
        world.client.call::<method::GetTask>(params).await.expect("the task").history.expect("asked for");
    let recalled = history.events.into_iter().filter_map(|event| match event.kind {
        EventKind::Recalled(recalled) => Some(recalled),
        _ => None,
    });
    recalled.collect()
}

#[tokio::test]
async fn each_later_task_is_given_a_note_until_it_is_forgotten() {
    let mut world = world().await;
    let text = format!("The colour is {SECRET}. </recalled>");
    let script = [Turn::new().call("remember", json!({ "text": text })), Turn::done("Noted.")];
    let first = world.run("first", script).await;
    world.wait_end(first).await;
    let note = notes(&world).await.remove(0);
    assert_eq!((note.text.as_str(), note.conversation_id), (text.as_str(), Some(first.conversation_id)));
    for command in [["show", "--history"], ["messages", "--limit=9"]] {
        let shown = world.daemon.cli().ok(&[command[0], command[1], &first.task_id.to_string()]).await;
        assert!(shown.contains(&format!("(abide memory forget {})", note.seq.0)), "{shown}");
    }
    let everywhere = ["memory", "add", "--everywhere", "I", "write", "indigo-77"];
    let added = world.daemon.cli().ok(&everywhere).await;
    assert!(added.contains("noted for later tasks: I write indigo-77"), "{added}");

    world.crash_and_restart().await;
    let (second, request) = request_of(&world, "second").await;
    let (first_at, second_at) =
        (request.find("indigo-77").expect("given"), request.find(SECRET).expect("given"));
    assert!(first_at < second_at && request.contains(&format!("{SECRET}. &lt;/recalled>")), "{request}");

    let cli = world.daemon.cli();
    let listed = cli.ok(&["memory", "notes", "--all"]).await;
    assert!(listed.contains("everywhere") && listed.contains(SECRET), "{listed}");
    for note in notes(&world).await {
        cli.ok(&["memory", "forget", &note.seq.0.to_string()]).await;
    }
    assert_eq!(notes(&world).await, []);
    let (_, request) = request_of(&world, "third").await;
    assert!(!request.contains(SECRET) && !request.contains("indigo-77"), "{request}");
    assert_eq!(files_with_it(&world, "indigo-77"), [] as [String; 0]);
    let shown = world.daemon.cli().ok(&["show", "--history", &second.task_id.to_string()]).await;
    assert!(shown.contains("forgotten since") && !shown.contains(SECRET), "{shown}");
    // The agent's own words are in its conversation alone.
    let first_id = first.conversation_id.to_string();
    world.daemon.cli().ok(&["conversations", "delete", "--yes", &first_id]).await;
    world.crash_and_restart().await;
    assert_eq!(files_with_it(&world, SECRET), [] as [String; 0]);
}

#[tokio::test]
async fn in_roa_a_task_begins_with_the_notes_alone() {
    let world = world().await;
    world.daemon.cli().ok(&["memory", "add", "--everywhere", "The colour is", SECRET]).await;
    let first = world.run("first", [Turn::done("The staging database listens on port 5433.")]).await;
    world.wait_end(first).await;
    let observed = json!({ "observation": "So.", "should_continue": false, "final_answer": "Done." });
    let replies = ["I look.".to_owned(), "Nothing to do.".to_owned(), observed.to_string()];
    world.model.script("roa", replies.map(Turn::say));
    let message = "[k:roa] Where does the staging database listen?".to_owned();
    let task = world.begin(StartTaskParams { message, mode: Some(Mode::Roa), ..world.task("roa") }).await;
    assert_eq!(world.wait_end(task).await.end_reason, Some(EndReason::Completed));
    for request in world.model.requests("roa") {
        assert!(request.text().contains(SECRET), "{}", request.text());
    }
    let at_start = recalled(&world, task).await.into_iter().next().expect("the note");
    let sources: Vec<Source> = at_start.snippets.iter().map(|snippet| snippet.source).collect();
    assert_eq!(sources, [Source::Note]);
    world.model.assert_no_violations();
}

#[tokio::test]
async fn a_task_searches_the_memory_itself_where_it_may() {
    let world = world().await;
    world.model.script("first", [Turn::done("The staging database listens on port 5433.")]);
    let first =
        world.begin(StartTaskParams { message: "[k:first] Look.".to_owned(), ..world.task("first") }).await;
    world.wait_end(first).await;

    let searches =
        || [Turn::new().call("recall", json!({ "query": "staging databases" })), Turn::done("Done.")];
    let second = world.run("second", searches()).await;
    world.wait_end(second).await;
    let request = world.model.last_request("second").expect("a request").text();
    assert!(request.contains("Recalled 1 passage"), "{request}");
    let results = request.rfind("Recalled 1 passage").expect("a result");
    assert!(request[results..].contains("port 5433"), "{request}");
    world.model.assert_no_violations();
    let recalled = recalled(&world, second).await;
    assert_eq!(recalled.last().expect("it recalled").snippets[0].conversation_id, first.conversation_id);
    // Neither the call nor what it found is a passage.
    let workspace = world.daemon.workspace().display().to_string();
    let found = world.daemon.cli().json(&["memory", "search", "databases", "--workspace", &workspace]).await;
    assert_eq!(found["snippets"].as_array().map(Vec::len), Some(1), "{found}");

    // It is not offered where the memory is not in use.
    let params = CreateConversationParams {
        workspace: Some(workspace),
        memory: Some(MemoryUse::NoRecall),
        ..CreateConversationParams::default()
    };
    let created = world.client.call::<method::CreateConversation>(params).await.expect("a conversation");
    let conversation_id = Some(created.conversation.id);
    let off = StartTaskParams { conversation_id, workspace: None, ..world.task("off") };
    let late = StartTaskParams { memory: Some(MemoryUse::Normal), ..off.clone() };
    let refused = world.client.call::<method::StartTask>(late).await.expect_err("it has its own").to_string();
    assert!(refused.contains("`memory` is for a new conversation"), "{refused}");
    let private = StartTaskParams { memory: Some(MemoryUse::Private), ..world.task("private") };
    for (key, params) in [("off", off), ("private", private)] {
        world.model.script(key, [Turn::done("Done.")]);
        world.wait_end(world.begin(params).await).await;
        let offered = world.model.last_request(key).expect("a request").body["tools"].to_string();
        for tool in ["recall", "remember"] {
            assert!(!offered.contains(&format!("\"{tool}\"")), "{key}: {offered}");
        }
    }
}
