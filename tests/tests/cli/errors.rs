//! Errors, for people and for programs.

use abide_client::protocol::task::Status;
use abide_tests::{daemon::CliOutput, model_server::Turn, world::World};
use serde_json::{Value, json};

/// The one document on standard error.
fn error(output: &CliOutput) -> Value {
    assert_eq!(output.stdout, "", "{output:?}");
    let document: Value = serde_json::from_str(&output.stderr).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    document["error"].clone()
}

#[tokio::test]
async fn with_json_an_error_is_one_line_of_json_on_standard_error() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let missing = cli.run(&["show", "beef", "--json"]).await;
    assert_eq!(missing.code, Some(1), "{missing:?}");
    let told = error(&missing);
    assert_eq!(
        (&told["kind"], &told["exitCode"], &told["id"]),
        (&json!("not_found"), &json!(1), &json!("beef"))
    );
    assert!(told["message"].as_str().is_some_and(|words| words.contains("beef")), "{told}");

    let usage = cli.run(&["ps", "--json", "--no-such-flag"]).await;
    assert_eq!((usage.code, &error(&usage)["kind"]), (Some(2), &json!("usage")), "{usage:?}");
    let ours = cli.run(&["run", "--json"]).await;
    assert_eq!((ours.code, &error(&ours)["kind"]), (Some(2), &json!("usage")), "{ours:?}");
    // After `--` nothing is an option.
    let words = cli.run(&["show", "--", "--json"]).await;
    assert!(words.stderr.starts_with("error: "), "{words:?}");

    cli.ok(&["daemon", "stop"]).await;
    let down = cli.run(&["daemon", "status", "--json"]).await;
    assert_eq!((down.code, &error(&down)["kind"]), (Some(3), &json!("no_daemon")), "{down:?}");
}

#[tokio::test]
async fn an_ambiguous_id_lists_its_candidates() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let mut tasks = Vec::new();
    for key in ["one", "two"] {
        let task = world.run(key, [Turn::ask("Which one?"), Turn::done("Done.")]).await;
        world.wait_status(task, Status::WaitingUser).await;
        tasks.push(task);
    }
    // Ids made in one minute begin with the same digits.
    let start = |id: String| id[..4].to_owned();
    let task = start(tasks[0].task_id.to_string());
    let conversation = start(tasks[0].conversation_id.to_string());
    for arguments in [&["show", &task][..], &["messages", &conversation], &["answer", &task, "this"]] {
        let several = cli.run(arguments).await;
        assert_eq!(several.code, Some(1), "{several:?}");
        assert_eq!(several.stderr.matches("needs you").count(), 2, "{several:?}");
        let told = error(&cli.run(&[arguments, &["--json"]].concat()).await);
        assert_eq!(told["kind"], "ambiguous", "{told}");
        let candidates = told["candidates"].as_array().unwrap();
        assert_eq!(candidates.len(), 2, "{told}");
        assert!(candidates.iter().all(|c| c["id"].as_str().unwrap().len() == 36), "{told}");
    }
    let shown = cli.run(&["show", &task]).await.stderr;
    assert!(tasks.iter().all(|t| shown.contains(&t.task_id.short())) && shown.contains("[k:one]"), "{shown}");
}

#[tokio::test]
async fn a_cursor_beyond_the_newest_record_is_refused() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let task = world.run("done", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let id = task.task_id.short();
    let beyond = cli.run(&["watch", &id, "--since", "999999", "--json"]).await;
    assert_eq!(beyond.code, Some(2), "{beyond:?}");
    let told = error(&beyond);
    assert_eq!(told["kind"], "invalid_params", "{told}");
    let newest = told["id"].as_str().unwrap().to_owned();
    assert!(told["message"].as_str().unwrap().ends_with(&format!("the newest is {newest}")), "{told}");
    let at_the_end = cli.run(&["watch", &id, "--since", &newest]).await;
    assert_eq!(at_the_end.code, Some(0), "{at_the_end:?}");
}
