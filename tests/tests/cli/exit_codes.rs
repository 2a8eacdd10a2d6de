//! The output and exit codes of `abide run`.

use abide_client::protocol::limits::MAX_PROMPT;
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Fault, Gate, Script, Turn},
    process, wait,
    world::World,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

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
    assert_eq!(bad.stderr.matches("it wants a key").count(), 1, "{bad:?}");
    let last = bad.stderr.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("error · "), "{bad:?}");
    let failed = cli.json(&["ps", "--status", "error"]).await;
    let task = failed[0]["id"].as_str().unwrap();
    assert_eq!(cli.run(&["watch", task]).await.stderr.matches("it wants a key").count(), 1);

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
async fn standard_input_is_read_where_it_is_meant() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let prompt = |key: &str| {
        world.model.script(key, [Turn::done("Read it.")]);
        format!("[k:{key}]")
    };
    let was_sent = |key: &str| world.model.requests(key)[0].text().contains("the piped words");

    let words = prompt("dash");
    let run = cli.run_with_input(&["run", &words, "what is this?", "-"], "the piped words").await;
    assert_eq!((run.code, was_sent("dash")), (Some(0), true), "{run:?}");
    let run = cli.run_with_input(&["run", "-"], &format!("{} the piped words", prompt("alone"))).await;
    assert_eq!((run.code, was_sent("alone")), (Some(0), true), "{run:?}");
    let words = prompt("file");
    let run = cli.run_with_stdin(&["run", &words], process::input("the piped words")).await;
    assert_eq!((run.code, was_sent("file")), (Some(0), true), "{run:?}");
    assert!(!run.stderr.contains("standard input"), "{run:?}");

    // A pipe that whoever started it has left open.
    let words = prompt("open");
    let run = cli.run_with_open_input(&["run", &words, "what is this?"], async |_| {}).await;
    assert_eq!((run.code, was_sent("open")), (Some(0), false), "{run:?}");
    assert!(run.stderr.contains("standard input was not read") && run.stderr.contains(" -\n"), "{run:?}");
    let words = prompt("nothing");
    let run = cli.run(&["run", &words, "what is this?"]).await;
    assert!(run.code == Some(0) && !run.stderr.contains("standard input"), "{run:?}");
}

#[tokio::test]
async fn a_signal_ends_a_read_of_standard_input() {
    let daemon = TestDaemon::new(&Config::default());
    let cli = daemon.cli();
    let run = cli.run_with_open_input(&["run", "-"], async |child| {
        let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
        let handles_term = |status: String| {
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 14) != 0
        };
        wait::wait_until("it to listen to signals", async || {
            handles_term(fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid())).unwrap())
        })
        .await;
        kill_process(pid, Signal::TERM).unwrap();
    });
    assert_eq!(run.await.code, Some(143));
}

#[tokio::test]
async fn a_prompt_that_the_daemon_would_refuse_is_not_sent() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    world.model.script("long", [Turn::done("Read it.")]);
    let words = "[k:long]";
    let most = MAX_PROMPT - words.len() - "\n\n".len();
    let over = cli.run_with_input(&["run", "--detach", words, "-"], &"x".repeat(most + 1)).await;
    assert_eq!(over.code, Some(2), "{over:?}");
    assert!(over.stderr.contains("1.0 MiB") && over.stderr.contains("write it to a file"), "{}", over.stderr);
    let fits = cli.run_with_input(&["run", words, "-"], &"x".repeat(most)).await;
    assert_eq!(fits.code, Some(0), "{}", fits.stderr);
}
