//! What a task is given of earlier conversations.

use super::forgetting::files_with_it;
use crate::undo::repository::Repository;
use abide_client::protocol::{
    event::EventKind,
    memory::{MemoryUse, Snippet, Source},
    method::{
        self,
        conversation::{ConversationParams, UpdateConversationParams},
        task::{GetTaskParams, OwnWorktree, StartTaskParams, StartTaskReply},
    },
    record::Recalled,
    task::Mode,
};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Gate, ModelServer, Turn},
    skip::skip,
    world::World,
};

pub(super) async fn world() -> World {
    let model = ModelServer::start().await;
    let config = Config::with(&model).memory();
    World::configured(model, &config).await
}

/// A world in which it is five weeks ago until the daemon's next start; `None`: the test is noted as skipped.
pub(super) async fn weeks_ago(test: &str) -> Option<World> {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model).memory());
    if !daemon.set_back_once(5) {
        skip(test, "there is no C compiler");
        return None;
    }
    Some(World::of(model, daemon).await)
}

/// Begins a task that asks this; the model answers by the script of `key`.
pub(super) async fn ask(world: &World, key: &str, asks: &str, params: StartTaskParams) -> StartTaskReply {
    world.begin(StartTaskParams { message: format!("[k:{key}] {asks}"), ..params }).await
}

pub(super) async fn recalled(world: &World, task: StartTaskReply) -> Option<Recalled> {
    let params = GetTaskParams { task_id: task.task_id.to_string(), history: true };
    let reply = world.client.call::<method::GetTask>(params).await.expect("the task is there");
    let events = reply.history.expect("it was asked for").events;
    let mut recalled = events.into_iter().filter_map(|event| match event.kind {
        EventKind::Recalled(recalled) => Some(recalled),
        _ => None,
    });
    let first = recalled.next();
    assert_eq!(recalled.next(), None, "a task recalls once");
    first
}

#[tokio::test]
async fn a_task_is_given_what_was_said_in_its_workspace_weeks_ago_until_that_is_forgotten() {
    let Some(mut world) = weeks_ago("recall after weeks").await else { return };
    world.model.script("first", [Turn::done("The staging database listens on port 5433.")]);
    let first = ask(&world, "first", "Look it up.", world.task("first")).await;
    world.wait_end(first).await;
    assert_eq!(recalled(&world, first).await, None, "there was nothing to recall");
    world.crash_and_restart().await;

    let gate = Gate::new("the answer");
    world.model.script("second", [Turn::say("I look."), Turn::done("Done.").gate(&gate)]);
    let question = "Where does the staging database listen?";
    let second = ask(&world, "second", question, world.task("second")).await;
    gate.reached().await;
    // The requests are the same after a crash.
    world.crash_and_restart().await;
    gate.open();
    world.wait_end(second).await;
    for request in world.model.requests("second") {
        let text = request.text();
        let (recalled, asked) =
            (text.find("port 5433").expect("recalled"), text.find(question).expect("asked"));
        assert!(recalled < asked && text.contains("<recalled>"), "{text}");
    }
    world.model.assert_no_violations();
    let record = recalled(&world, second).await.expect("it recalled");
    let Snippet { conversation_id, title, at, source, .. } = &record.snippets[0];
    assert_eq!((*conversation_id, *source), (first.conversation_id, Source::Summary));
    let weeks = (world.get(second).await.task.started_at.0 - at.0) / (7 * 24 * 60 * 60 * 1000);
    assert_eq!(weeks, 5);
    let request = world.model.last_request("second").expect("a request").text();
    assert!(request.contains(&format!(r#"\"{title}\", {}"#, source.words())), "{request}");

    let cli = world.daemon.cli();
    for command in [["show", "--history"], ["messages", "--limit=9"]] {
        let shown = cli.ok(&[command[0], command[1], &second.task_id.to_string()]).await;
        assert!(shown.contains(&record.words()) && shown.contains("port 5433"), "{shown}");
        assert!(shown.contains("last here"), "{shown}");
    }
    // It never recalls what was recalled.
    let workspace = world.daemon.workspace().display().to_string();
    let found = cli.json(&["memory", "search", "port", "--workspace", &workspace]).await;
    assert_eq!(found["snippets"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["snippets"][0]["text"], "The staging database listens on port 5433.");

    // Forgotten, no task is given it again. With its conversation the last of its bytes goes.
    cli.ok(&["memory", "forget", &record.snippets[0].seq.0.to_string()]).await;
    world.crash_and_restart().await;
    world.model.script("third", [Turn::done("Done.")]);
    world.wait_end(ask(&world, "third", question, world.task("third")).await).await;
    assert!(!world.model.last_request("third").expect("a request").text().contains("port 5433"));
    assert_ne!(files_with_it(&world, "port 5433"), [] as [String; 0], "the message itself stays");
    let first_id = first.conversation_id.to_string();
    world.daemon.cli().ok(&["conversations", "delete", "--yes", &first_id]).await;
    assert_eq!(files_with_it(&world, "port 5433"), [] as [String; 0]);
}

#[tokio::test]
async fn a_worktree_has_the_memory_of_its_repository() {
    let world = world().await;
    Repository::new(&world.daemon);
    let said = async |key: &str, worktree, asks: &str, answer: &str| {
        world.model.script(key, [Turn::done(answer)]);
        let task = ask(&world, key, asks, StartTaskParams { worktree, ..world.task(key) }).await;
        world.wait_end(task).await;
        let sources = recalled(&world, task).await.map(|recalled| recalled.snippets).unwrap_or_default();
        (task.conversation_id, sources.into_iter().map(|it| it.conversation_id).collect::<Vec<_>>())
    };
    let (main, _) = said("main", None, "Look it up.", "The database listens on port 5433.").await;
    let own = Some(OwnWorktree::default());
    let (worktree, sources) = said("own", own, "Where is the database?", "The cache is on port 6379.").await;
    assert!(sources.contains(&main), "{sources:?}");
    let (_, sources) = said("again", None, "Where is the cache?", "There.").await;
    assert!(sources.contains(&worktree), "{sources:?}");

    // A person's note belongs to the work tree that stays.
    let folder = world
        .client
        .call::<method::GetConversation>(ConversationParams { conversation_id: worktree.to_string() });
    let folder = folder.await.expect("it is there").conversation.workspace;
    let cli = world.daemon.cli();
    cli.ok(&["memory", "add", "--workspace", &folder, "Tests need a display"]).await;
    let workspace = world.daemon.workspace().display().to_string();
    let notes = cli.json(&["memory", "notes", "--workspace", &folder]).await;
    assert_eq!(notes["notes"][0]["workspace"], workspace, "{notes}");
}

#[tokio::test]
async fn recalling_can_be_turned_off_and_a_conversation_kept_private() {
    let world = world().await;
    let cli = world.daemon.cli();
    world.model.script("first", [Turn::done("The staging database listens on port 5433.")]);
    let first = ask(&world, "first", "Look it up.", world.task("first")).await;
    world.wait_end(first).await;
    let mut round = 0;
    let mut recalls = async |mode: Mode| {
        round += 1;
        let key = format!("round-{round}");
        world.model.script(&key, [Turn::say("Yes."), Turn::say("Yes.")]);
        let params = StartTaskParams { mode: Some(mode), ..world.task(&key) };
        let task = ask(&world, &key, "Where does the staging database listen?", params).await;
        world.wait_end(task).await;
        let found = recalled(&world, task).await.map(|recalled| recalled.snippets).unwrap_or_default();
        let is_of_first = |snippet: &Snippet| snippet.conversation_id == first.conversation_id;
        (found.iter().any(is_of_first), task.conversation_id)
    };
    assert!(recalls(Mode::Auto).await.0);
    cli.ok(&["memory", "off"]).await;
    assert!(cli.ok(&["memory"]).await.contains("off"));
    assert!(!recalls(Mode::Auto).await.0);
    cli.ok(&["memory", "on"]).await;
    let first_id = first.conversation_id.to_string();
    cli.ok(&["memory", "private", &first_id]).await;
    assert!(!recalls(Mode::Auto).await.0, "it is private");
    cli.ok(&["memory", "on", "--conversation", &first_id]).await;
    let (is_given, other) = recalls(Mode::Chat).await;
    assert!(is_given);

    // A conversation that recalls nothing.
    let params = UpdateConversationParams {
        conversation_id: other.to_string(),
        memory: Some(MemoryUse::NoRecall),
        ..UpdateConversationParams::default()
    };
    world.client.call::<method::UpdateConversation>(params).await.unwrap();
    let params = StartTaskParams {
        conversation_id: Some(other),
        workspace: None,
        mode: Some(Mode::Chat),
        ..world.task("round-4")
    };
    let task = ask(&world, "round-4", "And where does the staging database listen now?", params).await;
    world.wait_end(task).await;
    assert_eq!(recalled(&world, task).await, None);
}

#[tokio::test]
async fn a_conversation_can_begin_as_private_or_without_recall() {
    let world = world().await;
    let cli = world.daemon.cli();
    for (key, memory, is_given) in [
        ("first", "private", false),
        ("second", "on", false),
        ("third", "off", false),
        ("fourth", "private", true),
    ] {
        world.model.script(key, [Turn::say("The staging database listens on port 5433.")]);
        let prompt = format!("[k:{key}] Where does the staging database listen?");
        cli.ok(&["run", "--result", "--memory", memory, &prompt]).await;
        let request = world.model.last_request(key).expect("a request").text();
        assert_eq!(request.contains("port 5433"), is_given, "{key}: {request}");
    }
    let found = cli.json(&["memory", "search", "--all", "staging"]).await["snippets"].to_string();
    assert!(found.contains("[k:second]") && found.contains("[k:third]"), "{found}");
    assert!(!found.contains("[k:first]") && !found.contains("[k:fourth]"), "{found}");
}
