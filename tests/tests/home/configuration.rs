//! `config.toml` is read again when it changes. A file that is not understood is refused, and the
//! configuration before it stays in force.

use abide_client::protocol::task::{AgentTask, Status};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;
use std::fs;

/// Starts a task on the command line and waits for its end.
async fn run(world: &World, key: &str) -> AgentTask {
    world.model.script(key, [Turn::done("Done.")]);
    let prompt = format!("[k:{key}] Do what the script says.");
    world.daemon.cli().ok(&["run", "--detach", &prompt]).await;
    let task = world.begun(&prompt).await;
    world.wait_end(task).await
}

#[tokio::test]
async fn a_changed_configuration_applies_to_the_next_task_and_not_to_a_running_one() {
    let world = World::start().await;
    let gate = Gate::new("the middle of a reply");
    let running =
        world.run("running", [Turn::say("Half").gate(&gate).text(" and half."), Turn::done("Done.")]).await;
    gate.reached().await;

    let url = world.model.openai_url();
    world.daemon.configure(
        &Config::with(&world.model)
            .provider("second", "openai-chat", &url, "")
            .default_model("second/scripted-1")
            .task("max_steps = 7"),
    );
    let listed = world.daemon.cli().json(&["models"]).await;
    assert_eq!(listed["default"]["model"], "second/scripted-1", "{listed}");
    let next = run(&world, "next").await;
    assert_eq!((next.model.as_str(), next.limits.max_steps), ("second/scripted-1", 7));

    gate.open();
    let running = world.wait_end(running).await;
    assert_eq!(running.status, Status::Completed);
    assert_eq!((running.model.as_str(), running.limits.max_steps), ("test/scripted-1", 50));
}

#[tokio::test]
async fn an_invalid_file_is_refused_everywhere_and_the_configuration_in_force_stays() {
    let world = World::start().await;
    let file = world.daemon.home().config_file();
    let good = fs::read_to_string(&file).unwrap();
    let broken = good.replace("[task]\n", "[task]\nmax_stepps = 3\n");
    fs::write(&file, &broken).unwrap();
    let line = broken.lines().position(|line| line.starts_with("max_stepps")).unwrap() + 1;
    let is_said = |words: &str| {
        let says = |part: &str| words.contains(part);
        says(&file.display().to_string())
            && says(&format!("line {line}"))
            && says("task.max_stepps")
            && says("stays in force")
    };

    let cli = world.daemon.cli();
    let status = cli.json(&["daemon", "status"]).await;
    let refused = &status["config"]["refused"];
    assert_eq!((&refused["line"], &refused["key"]), (&line.into(), &"task.max_stepps".into()), "{status}");
    let said = cli.ok(&["daemon", "status"]).await;
    assert!(is_said(&said), "{said}");
    let doctor = cli.run(&["doctor"]).await;
    assert!(doctor.code == Some(1) && is_said(&doctor.stdout), "{doctor:?}");
    for command in [&["models"][..], &["run", "--detach", "[k:old] Do what the script says."]] {
        world.model.script("old", [Turn::done("Done.")]);
        let output = cli.run(command).await;
        assert!(output.code == Some(0) && is_said(&output.stderr), "{output:?}");
    }
    let task = world.begun("[k:old] Do what the script says.").await;
    assert_eq!(world.wait_end(task).await.model, "test/scripted-1");

    fs::write(&file, &good).unwrap();
    let status = cli.json(&["daemon", "status"]).await;
    assert_eq!(status["config"]["refused"], serde_json::Value::Null);
    let models = cli.run(&["models"]).await;
    assert!(!models.stderr.contains("config.toml"), "{models:?}");
}

/// A machine that restarts must not leave tasks dead because of a typo.
#[tokio::test]
async fn a_daemon_starts_with_the_configuration_that_was_in_force_before_a_typo() {
    let mut world = World::start().await;
    let gate = Gate::new("the middle of a reply");
    let task = world
        .run("typo", [Turn::say("Half").gate(&gate).call("task_complete", json!({ "summary": "Done." }))])
        .await;
    gate.reached().await;
    let file = world.daemon.home().config_file();
    let good = fs::read_to_string(&file).unwrap();
    // What is kept is the newest text that was understood.
    let newer = good.replace("[task]\n", "[task]\nmax_steps = 9\n");
    fs::write(&file, &newer).unwrap();
    world.daemon.cli().ok(&["daemon", "status"]).await;
    let broken = newer.replace("[task]\n", "[task\n");
    fs::write(&file, &broken).unwrap();
    world.crash_and_restart().await;
    gate.reached_times(2).await;
    gate.open();
    assert_eq!(world.wait_end(task).await.status, Status::Completed);

    let status = world.daemon.cli().json(&["daemon", "status"]).await;
    assert!(status["config"]["refused"]["line"].is_number(), "{status}");
    let said = world.daemon.cli().ok(&["daemon", "status"]).await;
    assert!(said.contains("is refused") && said.contains("stays in force"), "{said}");
    assert_eq!(run(&world, "next").await.limits.max_steps, 9);
    assert_eq!(fs::read_to_string(&file).unwrap(), broken, "the person's file is as it was");

    fs::write(&file, &good).unwrap();
    assert_eq!(run(&world, "corrected").await.limits.max_steps, 50);
}

#[tokio::test]
async fn a_restart_that_would_fail_does_not_stop_the_daemon() {
    let world = World::start().await;
    let file = world.daemon.home().config_file();
    fs::write(&file, "[task]\nmax_stepps = 3\n").unwrap();
    let cli = world.daemon.cli();
    let refused = cli.run(&["daemon", "restart"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("line 2: `task.max_stepps`"), "{refused:?}");
    assert!(refused.stderr.contains("left alone"), "{refused:?}");
    assert_eq!(cli.json(&["daemon", "status"]).await["pid"], world.daemon.pid());
    let checked = cli.run(&["config", "check"]).await;
    assert!(checked.code == Some(1) && checked.stderr.contains("line 2"), "{checked:?}");
    fs::remove_file(&file).unwrap();
    cli.ok(&["config", "check"]).await;
}

/// There is no configuration that could stay in force.
#[tokio::test]
async fn a_wrong_configuration_stops_the_first_daemon_and_names_the_line() {
    let mut daemon = TestDaemon::new(&Config::new());
    let file = daemon.home().config_file();
    fs::write(&file, "[model]\ndefault = \"test/scripted-1\"\nsurprise = true\n").unwrap();
    daemon.launch();
    assert!(!daemon.ended().await.success());
    let words = daemon.output();
    assert!(words.contains(&file.display().to_string()) && words.contains("line 3"), "{words}");
}
