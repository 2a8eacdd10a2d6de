//! `abide watch`: two watchers see the same; one that is killed and resumes misses and repeats nothing.

use abide_tests::{
    ledger,
    model_server::{Gate, Script, Turn},
    world::World,
};
use serde_json::{Value, json};

/// The seqs of records among lines of `abide watch --json`.
fn seqs(lines: &[String]) -> Vec<u64> {
    lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"))
        .filter(|v| v["method"] == "taskMessage" || v["method"] == "taskEvent")
        .map(|v| v["params"]["seq"].as_u64().expect("a record has its seq"))
        .collect()
}

fn is_record(line: &str) -> bool {
    !seqs(&[line.to_owned()]).is_empty()
}

fn is_end(line: &str) -> bool {
    line.contains("\"task_ended\"")
}

#[tokio::test]
async fn two_watchers_see_the_same_and_a_killed_one_resumes() {
    let world = World::start().await;
    let gate = Gate::new("everybody watches");
    let script = {
        let gate = gate.clone();
        Script::by(move |n| {
            let turn = Turn::new().gate(&gate).text(format!("Step {n}."));
            Some(if n < 8 {
                turn.call("send_update", json!({ "message": format!("Did {n}.") }))
            } else {
                turn.call("task_complete", json!({ "summary": "Done." }))
            })
        })
    };
    let task = world.run("watched", script).await;
    let id = task.task_id.to_string();
    let start = ledger::read(&world.daemon.home()).last().unwrap().seq.0.to_string();
    let cli = world.daemon.cli();
    let watch = ["watch", &id, "--json", "--since", &start];
    let (mut steady, mut other, mut broken) = (cli.start(&watch), cli.start(&watch), cli.start(&watch));
    gate.open();
    let mut seen = Vec::new();
    while seen.len() < 10 {
        seen.extend(broken.lines_until(is_record).await);
        seen.retain(|line| is_record(line));
    }
    broken.kill().await;
    let cursor = seqs(&seen).last().unwrap().to_string();
    let mut back = cli.start(&["watch", &id, "--json", "--since", &cursor]);
    seen.extend(back.lines_until(is_end).await);
    let (steady_seen, other_seen) = (steady.lines_until(is_end).await, other.lines_until(is_end).await);
    assert_eq!(seqs(&steady_seen), seqs(&other_seen));
    assert_eq!(
        seqs(&seen),
        seqs(&steady_seen),
        "the one that was killed (left), the one that stayed (right)"
    );
    let from: u64 = start.parse().unwrap();
    let on_disk: Vec<u64> =
        ledger::read(&world.daemon.home()).iter().map(|l| l.seq.0).filter(|s| *s > from).collect();
    assert_eq!(seqs(&steady_seen), on_disk);
    for run in [steady, other, back] {
        assert_eq!(run.code().await, Some(0), "watching ends with its task, and with its code");
    }
}

/// The next line may be hours away.
#[tokio::test]
async fn a_watcher_whose_lines_nobody_reads_ends() {
    let world = World::start().await;
    let gate = Gate::new("a reply");
    let task = world.run("silent", [Turn::say("Working").gate(&gate)]).await;
    gate.reached().await;
    let mut watch = world.daemon.cli().start(&["watch", &task.task_id.to_string(), "--json"]);
    watch.line().await;
    assert_eq!(watch.code_unread().await, Some(0));
    let mut logs = world.daemon.cli().start(&["daemon", "logs", "--follow"]);
    logs.line().await;
    assert_eq!(logs.code_unread().await, Some(0));
}
