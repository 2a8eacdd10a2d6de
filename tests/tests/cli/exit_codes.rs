//! The output and exit codes of `abide run`.

use abide_client::protocol::limits::MAX_PROMPT;
use abide_tests::{
    model_server::{Fault, Gate, Script, Turn},
    world::World,
};

#[tokio::test]
async fn the_agents_text_goes_to_stdout_and_the_exit_code_is_that_of_the_end() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    world.model.script(
        "good",
        [Turn::say("Hello from the agent."), Turn::shell("echo tool-output"), Turn::done("All done.")],
    );
    let good = cli.run(&["run", "--yes", "[k:good]", "hello"]).await;
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(good.stdout.contains("Hello from the agent."), "{good:?}");
    assert!(!good.stdout.contains("tool-output") && !good.stdout.contains('\u{1b}'), "{good:?}");

    world
        .model
        .script("bad", [Turn::done("Never.").but_first(Fault::Status { code: 401, retry_after: None })]);
    let bad = cli.run(&["run", "--yes", "[k:bad]"]).await;
    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(!bad.stderr.is_empty());

    world.model.script("asks", [Turn::ask("Which?"), Turn::done("Done.")]);
    let asks = cli.run(&["run", "[k:asks]"]).await;
    assert_eq!(asks.code, Some(4), "{asks:?}");
    assert!(asks.stderr.contains("abide answer"), "says how to answer: {asks:?}");
    assert_eq!(asks.stderr.matches("Which?").count(), 1, "the question is there once: {asks:?}");

    world.model.script("steps", Script::by(|n| Some(Turn::shell(&format!("echo {n}")))));
    let steps = cli.run(&["run", "--yes", "--max-steps", "2", "[k:steps]"]).await;
    assert_eq!(steps.code, Some(5), "{steps:?}");

    let usage = cli.run(&["run", "--no-such-flag"]).await;
    assert_eq!(usage.code, Some(2), "{usage:?}");
}

#[tokio::test]
async fn a_stop_ends_run_with_130_and_detach_prints_the_id() {
    let world = World::start().await;
    let gate = Gate::new("a reply");
    world.model.script("long", [Turn::say("Working").gate(&gate)]);
    let cli = world.daemon.cli();
    let id = cli.ok(&["run", "--detach", "--yes", "[k:long]"]).await;
    let id = id.trim();
    gate.reached().await;
    let listed = cli.json(&["ps"]).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed[0]["id"], id);
    let watch = cli.start(&["watch", id]);
    cli.ok(&["stop", id]).await;
    assert_eq!(watch.code().await, Some(130));
    assert_eq!(cli.json(&["ps"]).await, serde_json::json!([]));
    assert_eq!(cli.json(&["ps", "--all"]).await[0]["status"], "cancelled");
}

#[tokio::test]
async fn piped_input_is_appended_to_the_prompt() {
    let world = World::start().await;
    world.model.script("piped", [Turn::done("Read it.")]);
    let run = world
        .daemon
        .cli()
        .run_with_input(&["run", "--yes", "[k:piped]", "what is this?"], "the piped words")
        .await;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(world.model.requests("piped")[0].text().contains("the piped words"));
}

#[tokio::test]
async fn a_prompt_that_the_daemon_would_refuse_is_not_sent() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    world.model.script("long", [Turn::done("Read it.")]);
    let words = "[k:long]";
    let most = MAX_PROMPT - words.len() - "\n\n".len();
    let over = cli.run_with_input(&["run", "--detach", words], &"x".repeat(most + 1)).await;
    assert_eq!(over.code, Some(2), "{over:?}");
    assert!(over.stderr.contains("1.0 MiB") && over.stderr.contains("write it to a file"), "{}", over.stderr);
    let fits = cli.run_with_input(&["run", words], &"x".repeat(most)).await;
    assert_eq!(fits.code, Some(0), "{}", fits.stderr);
}
