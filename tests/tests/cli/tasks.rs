//! Lists of tasks, filtered and formatted; waiting for tasks to end.

use abide_client::protocol::task::Status;
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

#[tokio::test]
async fn a_list_can_be_filtered_by_status_and_formatted() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let done = world.run("done", [Turn::done("Done.")]).await;
    world.wait_end(done).await;
    let asks = world.run("asks", [Turn::ask("Which?"), Turn::done("Done.")]).await;
    world.wait_status(asks, Status::WaitingUser).await;

    let format = "{id} {status} {usage.modelCalls}{{}}";
    let line = |id: String, status: &str| format!("{id} {status} 1{{}}\n");
    let asking = line(asks.task_id.to_string(), "waiting_user");
    let ended = line(done.task_id.to_string(), "completed");
    assert_eq!(cli.ok(&["ps", "--format", format]).await, asking);
    assert_eq!(cli.ok(&["ps", "--status", "completed,error", "--format", format]).await, ended);
    assert_eq!(cli.ok(&["ps", "--all", "--format", format]).await, format!("{asking}{ended}"));
    assert_eq!(cli.json(&["ps", "--status", "paused"]).await, json!([]));

    for (arguments, words) in [
        (&["ps", "--format", "{colour}"][..], "activeCalls, "),
        (&["ps", "--status", "done"], "waiting_user"),
        (&["ps", "--watch"], "needs a terminal"),
    ] {
        let wrong = cli.run(arguments).await;
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
        assert!(wrong.stderr.contains(words), "{wrong:?}");
    }
}

#[tokio::test]
async fn the_newest_tasks_have_short_names_and_several_are_stopped_at_once() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let mut tasks = Vec::new();
    for key in ["first", "second", "third"] {
        tasks.push(world.run(key, [Turn::ask("Which?"), Turn::done("Done.")]).await);
        world.wait_status(*tasks.last().unwrap(), Status::WaitingUser).await;
    }
    assert_eq!(cli.json(&["show", "last"]).await["task"]["id"], json!(tasks[2].task_id));
    // The task in between is not there; the others are stopped nevertheless.
    let stopped = cli.run(&["kill", "@1", "nobody", "@2"]).await;
    let line = |n: usize| format!("{} cancelled: stopped\n", tasks[n].task_id.short());
    assert_eq!((stopped.code, stopped.stdout), (Some(1), line(2) + &line(1)));
    assert!(stopped.stderr.contains("there is no task \"nobody\""), "{}", stopped.stderr);
    assert_eq!(cli.json(&["show", "@3"]).await["task"]["status"], "waiting_user");
    // A client's own name for a task must not be taken for these.
    let named = cli.run(&["run", "--detach", "--id", "@1", "x"]).await;
    assert!(named.stderr.contains("names the newest tasks by their age"), "{named:?}");
    for (word, hint) in [("logs", "abide daemon logs"), ("status", "abide ps")] {
        let wrong = cli.run(&[word]).await;
        assert!(wrong.code == Some(2) && wrong.stderr.contains(hint), "{wrong:?}");
    }

    let usage = cli.json(&["usage", "--since", "1h"]).await;
    assert_eq!(usage["rows"].as_array().map(Vec::len), Some(3), "a row for each conversation: {usage}");
    assert_eq!(usage["rows"][0]["usage"]["modelCalls"], 1, "{usage}");
    assert!(cli.ok(&["usage"]).await.contains("in all "));
    let wrong = cli.run(&["usage", "--since", "2026-13-01"]).await;
    assert!(wrong.code == Some(2) && wrong.stderr.contains("is not a day"), "{wrong:?}");
}

#[tokio::test]
async fn limits_of_tokens_and_time_are_flags() {
    let world = World::start().await;
    world.model.script("limited", [Turn::say("One."), Turn::done("Done.")]);
    let cli = world.daemon.cli();
    let flags = ["--max-tokens", "1", "--max-cost", "0.50", "--max-duration", "10m"];
    let run = cli.run(&[&["run", "--mode", "agent"][..], &flags, &["[k:limited] go"]].concat()).await;
    assert_eq!(run.code, Some(4), "it asks whether to go on: {run:?}");
    let limits = &cli.json(&["show", "last"]).await["task"]["limits"];
    assert_eq!(
        (&limits["maxTokens"], &limits["maxCostMicros"], &limits["maxDurationSecs"]),
        (&json!(1), &json!(500_000), &json!(600))
    );
}

#[tokio::test]
async fn wait_ends_with_the_last_task_and_the_worst_code() {
    let mut world = World::start().await;
    let gate = Gate::new("the long task");
    let long = world.run("long", [Turn::say("Working").gate(&gate), Turn::done("Done.")]).await;
    let done = world.run("done", [Turn::done("Done.")]).await;
    let (long_id, done_id) = (long.task_id.short(), done.task_id.short());
    let cli = world.daemon.cli();
    let mut wait = cli.start(&["wait", &long_id, &done_id, &long.task_id.to_string()]);
    assert_eq!(wait.line().await, Some(format!("{done_id} completed")));
    gate.reached().await;

    let late = cli.run(&["wait", "--timeout", "0s", &long_id]).await;
    assert_eq!(late.code, Some(124), "{late:?}");
    assert!(late.stderr.contains(&long_id), "{late:?}");

    // It was killed, not told to stop, so `wait` starts it again.
    world.daemon.kill();
    gate.open();
    assert_eq!(wait.line().await, Some(format!("{long_id} completed")));
    assert_eq!(wait.line().await, None, "each task is waited for once");
    assert_eq!(wait.code().await, Some(0));
    cli.ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn wait_prints_how_tasks_ended_and_with_or_waiting_that_they_wait() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let done = world.run("done", [Turn::done("Done.")]).await;
    let asks = world.run("asks", [Turn::ask("Which?")]).await;
    world.wait_end(done).await;
    let (done_id, asks_id) = (done.task_id.short(), asks.task_id.short());
    let waits = cli.run(&["wait", "--or-waiting", &done_id, &asks_id]).await;
    assert_eq!(waits.code, Some(4), "{waits:?}");
    assert_eq!(waits.stdout, format!("{done_id} completed\n{asks_id} needs you: answer\n"));

    let wait = cli.start(&["wait", &asks_id, "--json"]);
    cli.ok(&["stop", &asks_id]).await;
    assert_eq!(wait.code().await, Some(130));
    let all = cli.run(&["wait", &done_id, &asks_id, "--json"]).await;
    let ended: serde_json::Value = serde_json::from_str(&all.stdout).unwrap();
    assert_eq!((&ended[0]["status"], &ended[1]["endReason"]), (&json!("completed"), &json!("stopped")));
}
