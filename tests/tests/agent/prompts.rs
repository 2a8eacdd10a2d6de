//! A person's own prompts of a step's phases: read when a task starts, and kept for all of it.

use abide_client::protocol::{
    method::{StartTask, task::StartTaskParams},
    task::{EndReason, Mode},
};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};
use std::{fs, os::unix::fs::symlink, path::PathBuf};

const OBSERVED: &str = r#"{"observation": "Seen.", "should_continue": false, "final_answer": "Done."}"#;

fn roa(world: &World, key: &str) -> StartTaskParams {
    StartTaskParams { mode: Some(Mode::Roa), ..world.task(key) }
}

fn prompts(world: &World) -> PathBuf {
    world.daemon.home().prompts_dir()
}

#[tokio::test]
async fn a_task_keeps_the_prompts_that_it_started_with_over_a_crash() {
    let mut world = World::start().await;
    let cli = world.daemon.cli();
    assert!(cli.ok(&["prompts"]).await.contains("reason    built in"));
    cli.ok(&["prompts", "--write"]).await;
    let (reason, observe) =
        (prompts(&world).join("agent_reason_prompt.md"), prompts(&world).join("agent_observe_prompt.md"));
    fs::write(&reason, "Mine: {user_question} {unknown} {\"plan\": \"\"}").unwrap();
    fs::write(&observe, "My step {step}: {tool_summaries}").unwrap();
    let listed = cli.json(&["prompts"]).await;
    assert_eq!(listed[0]["file"], reason.display().to_string(), "{listed}");
    assert_eq!(listed[0]["unknownPlaceholders"], serde_json::json!(["unknown"]), "{listed}");
    assert!(cli.ok(&["prompts", "--write"]).await.contains("exists already"));

    let gate = Gate::new("the reply in act");
    world
        .model
        .script("mine", [Turn::say("I look."), Turn::shell("echo here").gate(&gate), Turn::say(OBSERVED)]);
    let task = world.begin(roa(&world, "mine")).await;
    gate.reached().await;
    fs::write(&observe, "Changed {step}").unwrap();
    world.crash_and_restart().await;
    gate.open();
    let ended = world.wait_end(task).await;
    assert_eq!(
        (ended.end_reason, ended.summary.as_deref()),
        (Some(EndReason::Completed), Some("Done.")),
        "{ended:?}"
    );
    let last = world.model.last_request("mine").expect("a request").text();
    let noted = "Mine: [k:mine] Do what the script says. {unknown} {";
    assert!(last.contains(noted) && last.contains("My step 1: Tool shell: exit code 0"), "{last}");
    assert!(!last.contains("Changed"), "{last}");
    world.model.assert_no_violations();
}

#[tokio::test]
async fn a_prompt_file_that_cannot_be_used_keeps_tasks_that_need_it_from_starting() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    fs::create_dir_all(prompts(&world)).unwrap();
    let observe = prompts(&world).join("agent_observe_prompt.md");
    let secret = world.daemon.home().config_dir.join("secret.md");
    fs::write(&secret, "secret").unwrap();
    let config = world.daemon.home().config_file();
    let good = fs::read_to_string(&config).unwrap();

    let refused = async |says: &str| {
        let error =
            world.client.call::<StartTask>(roa(&world, "none")).await.expect_err("a refusal").to_string();
        assert!(error.contains(says) && !error.contains("secret."), "{error}");
        let listed = cli.run(&["prompts"]).await;
        assert!(listed.code == Some(1) && listed.stdout.contains(says), "{listed:?}");
        let doctor = cli.run(&["doctor"]).await;
        assert!(doctor.code == Some(1) && doctor.stdout.contains(says), "{doctor:?}");
    };
    fs::File::create(&observe).unwrap().set_len(1 << 30).unwrap();
    refused("agent_observe_prompt.md has 1073741824 bytes, over the limit of 16384").await;
    fs::write(&observe, b"\xff").unwrap();
    refused("agent_observe_prompt.md is not valid UTF-8").await;
    fs::remove_file(&observe).unwrap();
    symlink(&secret, &observe).unwrap();
    refused("agent_observe_prompt.md is outside of").await;
    fs::remove_file(&observe).unwrap();
    fs::write(&config, format!("{good}\n[prompts]\nagent_observe_prompt_filename = \"gone.md\"\n")).unwrap();
    refused("gone.md is not there; correct it, or remove `agent_observe_prompt_filename`").await;
    let listed = world.client.call::<abide_client::protocol::method::ListTasks>(
        abide_client::protocol::method::task::ListTasksParams { all: true, ..Default::default() },
    );
    assert!(listed.await.unwrap().tasks.is_empty(), "no task has started");

    let other = world.run("agent", [Turn::done("Done.")]).await;
    assert_eq!(world.wait_end(other).await.end_reason, Some(EndReason::Completed), "an agent has no phases");
}
