//! Lists, for people and for programs.

use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn lists_are_one_document_in_json_and_plain_text_in_a_pipe() {
    let world = World::start().await;
    let task = world.run("lists", [Turn::say("A word to remember."), Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let cli = world.daemon.cli();
    let conversation = task.conversation_id.short();
    for arguments in [
        &["ps", "--all"][..],
        &["show", &task.task_id.short()],
        &["messages", &conversation],
        &["conversations"],
        &["inbox"],
        &["models"],
        &["daemon", "status"],
    ] {
        cli.json(arguments).await;
        let text = cli.ok(arguments).await;
        assert!(!text.contains('\u{1b}'), "`abide {}` colours a pipe: {text:?}", arguments.join(" "));
    }
    assert!(cli.ok(&["messages", &conversation]).await.contains("A word to remember."));
    assert!(cli.ok(&["models"]).await.contains("test"), "the configured provider is listed");
    assert!(cli.ok(&["completions", "bash"]).await.contains("abide"));
}

#[tokio::test]
async fn the_daemon_starts_when_needed_and_stops_on_command() {
    let model = abide_tests::model_server::ModelServer::start().await;
    let daemon = abide_tests::daemon::TestDaemon::new(&abide_tests::daemon::Config::with(&model));
    let cli = daemon.cli();
    let down = cli.run(&["daemon", "status"]).await;
    assert_eq!(down.code, Some(3), "{down:?}");
    assert_eq!(cli.json(&["ps"]).await, serde_json::json!([]), "it is started by whoever needs it");
    assert_eq!(cli.run(&["daemon", "status"]).await.code, Some(0));
    cli.ok(&["daemon", "restart"]).await;
    cli.ok(&["daemon", "stop"]).await;
    assert_eq!(cli.run(&["daemon", "status"]).await.code, Some(3));
}
