//! Personas, templates and chosen tools: what a task starts with, and what is refused.

use abide_client::protocol::{
    method::{StartTask, task::StartTaskParams},
    task::{EndReason, Mode},
};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};
use std::fs;

/// Adds lines to the configuration.
fn configure(world: &World, lines: &str) {
    let file = world.daemon.home().config_file();
    let before = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{before}\n{lines}\n")).unwrap();
}

#[tokio::test]
async fn a_persona_of_a_file_gives_prompt_mode_tools_and_limit_to_the_task_and_its_conversation() {
    let world = World::start().await;
    let home = world.daemon.home();
    fs::create_dir_all(home.personas_dir()).unwrap();
    let file = home.personas_dir().join("poet.md");
    fs::write(
        &file,
        "---\ndescription: Writes verse\nmode: agent\ntools: [read]\nmax_steps: 7\ncontext: [style.md]\n---\nYou are a poet.",
    )
    .unwrap();
    fs::write(home.config_dir.join("style.md"), "No rhymes.").unwrap();
    let cli = world.daemon.cli();
    let listed = cli.ok(&["personas"]).await;
    assert!(listed.contains("Writes verse") && listed.contains("reviewer"), "{listed}");

    world.model.script("poet", [Turn::done("Done."), Turn::done("Again.")]);
    let prompt = "[k:poet] Do what the script says.";
    cli.ok(&["run", "--persona", "poet", prompt]).await;
    let task = world.begun(prompt).await;
    let ended = world.wait_end(task).await;
    assert_eq!((ended.mode, ended.limits.max_steps), (Mode::Agent, 7));
    let request = world.model.last_request("poet").expect("a request").text();
    assert!(request.contains("You are a poet.") && request.contains("No rhymes."), "{request}");
    assert!(!request.contains("\"shell\""), "{request}");

    let next = StartTaskParams {
        conversation_id: Some(task.conversation_id),
        mode: None,
        workspace: None,
        ..world.task("poet")
    };
    let ended = world.wait_end(world.begin(next).await).await;
    assert_eq!((ended.mode, ended.limits.max_steps), (Mode::Agent, 7), "its conversation keeps the persona");

    fs::write(&file, "---\nmode: agent\ntools: []\n---\nYou are a poet.").unwrap();
    world.model.script("none", [Turn::done("Done.")]);
    let task = StartTaskParams { persona: Some("poet".to_owned()), mode: None, ..world.task("none") };
    let ended = world.wait_end(world.begin(task).await).await;
    assert_eq!(ended.limits.max_steps, 50, "the file is read for each task");
    let request = world.model.last_request("none").expect("a request").text();
    assert!(!request.contains("\"read\"") && request.contains("task_complete"), "{request}");
}

#[tokio::test]
async fn a_template_puts_the_message_into_its_prompt_and_the_request_comes_first() {
    let world = World::start().await;
    configure(
        &world,
        "[templates.house]\nprompt = \"Paint: {input}.\"\npersona = \"coder\"\nmode = \"roa\"\ntools = [\"read\"]\nlimits.max_steps = 3",
    );
    world.model.script("t", [Turn::done("Done.")]);
    let params =
        StartTaskParams { template: Some("house".to_owned()), mode: Some(Mode::Agent), ..world.task("t") };
    let task = world.begin(params.clone()).await;
    let ended = world.wait_end(task).await;
    assert_eq!(
        (ended.mode, ended.limits.max_steps, ended.end_reason),
        (Mode::Agent, 3, Some(EndReason::Completed))
    );
    let prompt = world.get(task).await.task.original_prompt;
    assert_eq!(prompt, "Paint: [k:t] Do what the script says..");

    for (change, says) in [
        (
            StartTaskParams { template: Some("hut".to_owned()), ..params.clone() },
            "there is no template \"hut\"; there are house",
        ),
        (
            StartTaskParams { persona: Some("nobody".to_owned()), ..params.clone() },
            "there is no persona \"nobody\"; there are coder",
        ),
        (
            StartTaskParams { tools: Some(vec!["saw".to_owned()]), ..params.clone() },
            "there is no tool \"saw\"",
        ),
        (
            StartTaskParams { message: "x".repeat(1024 * 1024 - 3), ..params.clone() },
            "with its template, over the limit",
        ),
    ] {
        let error = world.client.call::<StartTask>(change).await.expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_refused_with_the_place_that_names_it() {
    let world = World::start().await;
    configure(
        &world,
        "[templates.house]\nprompt = \"Paint: {input}.\"\ntools = [\"brush\"]\n[personas.painter]\nprompt = \"You.\"\ntools = [\"ladder\"]",
    );
    let home = world.daemon.home();
    fs::create_dir_all(home.personas_dir()).unwrap();
    fs::write(home.personas_dir().join("poet.md"), "---\ntools: [read, rhyme]\n---\nYou.").unwrap();
    let name = |name: &str| Some(name.to_owned());
    let params = world.task("none");
    for (params, says) in [
        (
            StartTaskParams { template: name("house"), ..params.clone() },
            "there is no tool \"brush\", which `tools` under [templates.house] in config.toml names; there are".to_owned(),
        ),
        (
            StartTaskParams { persona: name("painter"), ..params.clone() },
            "there is no tool \"ladder\", which the persona \"painter\" names: `tools` under [personas.painter] in config.toml;".to_owned(),
        ),
        (
            StartTaskParams { persona: name("poet"), ..params.clone() },
            format!("\"rhyme\", which the persona \"poet\" names: `tools` in {}", home.personas_dir().join("poet.md").display()),
        ),
        (
            StartTaskParams { tools: Some(vec!["saw".to_owned()]), ..params.clone() },
            "there is no tool \"saw\"; there are".to_owned(),
        ),
    ] {
        let error = world.client.call::<StartTask>(params).await.expect_err(&says).to_string();
        assert!(error.contains(&says), "{error}");
    }
    let cli = world.daemon.cli();
    let listed = cli.ok(&["personas"]).await;
    assert!(listed.contains("poet.md") && listed.contains("[personas.painter]"), "{listed}");
    assert!(cli.ok(&["templates"]).await.contains("Paint: {input}."));
    assert!(world.model.requests("none").is_empty(), "nothing has started");
}

#[tokio::test]
async fn the_mode_is_that_of_the_first_that_names_one() {
    let world = World::start().await;
    configure(&world, "[personas.x]\nprompt = \"You.\"\nmode = \"plan\"");
    let params = StartTaskParams { mode: None, ..StartTaskParams::default() };
    let persona = Some("x".to_owned());
    let cases = [
        (params.clone(), Mode::Auto),
        (StartTaskParams { persona: persona.clone(), ..params.clone() }, Mode::Plan),
        (
            StartTaskParams {
                persona: persona.clone(),
                message_mode: Some("Task".to_owned()),
                ..params.clone()
            },
            Mode::Agent,
        ),
        (StartTaskParams { message_mode: Some("Chat".to_owned()), ..params.clone() }, Mode::Auto),
        (
            StartTaskParams {
                mode: Some(Mode::Roa),
                message_mode: Some("Task".to_owned()),
                persona,
                ..params
            },
            Mode::Roa,
        ),
    ];
    for (at, (params, mode)) in cases.into_iter().enumerate() {
        let (key, gate) = (format!("mode{at}"), Gate::new("the first reply"));
        world.model.script(&key, [Turn::say("Well.").gate(&gate)]);
        let StartTaskParams { message, workspace, .. } = world.task(&key);
        let task = world.begin(StartTaskParams { message, workspace, ..params }).await;
        gate.reached().await;
        assert_eq!(world.get(task).await.task.mode, mode, "{key}");
        world.stop(task).await;
    }
}
