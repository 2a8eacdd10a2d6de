//! A full disk under load, on a file system of 64 MiB: stops and answers work, everything else waits, and
//! goes on when there is room.

use abide_client::protocol::{
    inbox::Decision,
    method::{self, daemon::StatusParams},
    task::Status,
};
use abide_tests::{
    ledger,
    model_server::{Gate, Script, Turn},
    process,
    skip::skip,
    tap::Tap,
    wait,
    world::World,
};
use serde_json::json;
use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
};

/// Runs a command in its own mount namespace.
const NAMESPACE: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];
const LOAD: usize = 16;

fn command(words: &[&str]) -> std::process::Command {
    let mut command = process::blocking_program(words[0]);
    command.args(&words[1..]);
    command
}

#[test]
fn on_a_full_disk_stops_and_answers_work_and_the_rest_resumes() {
    let tried = process::finished_blocking(&mut command(&[NAMESPACE, &["true"]].concat()), wait::limit());
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("full_disk", "this machine has no user namespaces to mount a small disk in");
    }
    let folder = tempfile::Builder::new().prefix("abide-").tempdir_in("/tmp").unwrap();
    let script = "mount -t tmpfs -o size=64m none \"$ABIDE_TEST_DIR\" && exec \"$@\"";
    let exe = std::env::current_exe().unwrap();
    let test = "storage::full_disk::on_a_small_disk";
    let words = [
        NAMESPACE,
        &["sh", "-c", script, "sh", exe.to_str().unwrap(), "--ignored", "--exact", "--nocapture", test],
    ];
    let mut inside = command(&words.concat());
    // It has several waits one after the other.
    let output = process::finished_blocking(inside.env("ABIDE_TEST_DIR", folder.path()), 5 * wait::limit());
    let output = output.unwrap_or_else(|words| panic!("{words}"));
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{}", said.lines().filter(|line| line.contains("full disk:")).collect::<Vec<_>>().join("\n"));
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Fills the disk.
fn fill(path: &Path) -> u64 {
    let mut ballast = File::options().create(true).append(true).open(path).unwrap();
    let mut piece = vec![1; 1024 * 1024];
    let mut taken = 0;
    loop {
        match ballast.write(&piece) {
            Ok(written) if written > 0 => taken += written as u64,
            _ if piece.len() > 512 => piece.truncate(piece.len() / 2),
            _ => return taken,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run on a small disk by the test above"]
async fn on_a_small_disk() {
    let world = World::start().await;
    let is_full = async || {
        world
            .client
            .call::<method::Status>(StatusParams::default())
            .await
            .expect("it answers")
            .daemon
            .storage_full
    };
    let pid = world.daemon.pid();
    let mut tap = Tap::open(world.daemon.home());
    let question = world.run("question", [Turn::ask("Go on?"), Turn::done("Went on.")]).await;
    let script = [Turn::new().call("create_dir", json!({ "path": "made" })), Turn::done("Made it.")];
    let approval = world.run_asking("approval", script).await;
    let held = Gate::new("a reply that never comes");
    let endless = world.run("endless", [Turn::say("Well, ").gate(&held).text("no.")]).await;
    let mut load = Vec::new();
    for n in 0..LOAD {
        let script = Script::by(move |step| {
            let words = format!("{n} at {step}: {}", "much to say. ".repeat(60));
            Some(if step < 12 {
                Turn::say("On.").call("send_update", json!({ "message": words }))
            } else {
                Turn::done("Said.")
            })
        });
        load.push(world.run(&format!("load-{n}"), script).await);
    }
    world.wait_status(question, Status::WaitingUser).await;
    world.wait_status(approval, Status::WaitingApproval).await;

    let ballast = world.daemon.root().join("ballast");
    let mut taken = 0;
    wait::wait_until("the disk to be full", async || {
        taken += fill(&ballast);
        is_full().await
    })
    .await;
    let (messages, _) = world.messages(load[0].conversation_id).await;
    assert!(!messages.is_empty(), "what is there can be read");
    let stopped = world.stop(endless).await;
    assert!(stopped.status.has_ended(), "a stop is done, not only noted: {stopped:?}");
    assert!(world.answer(question, Some("yes")).await, "an answer counts");
    assert!(world.decide(approval, Decision::RejectOnce).await, "a decision counts");
    let late =
        wait::within("a start to be answered", world.client.call::<method::StartTask>(world.task("late")));
    let refused = late.await.expect_err("there is no room for it").to_string();
    let folder = world.daemon.home().data_dir;
    assert!(refused.contains(&folder.display().to_string()) && refused.contains("MiB"), "{refused}");
    let listed = world.daemon.cli().run(&["ps"]).await;
    assert!(listed.stderr.contains("the disk is full"), "{listed:?}");
    assert!(is_full().await, "all that on a full disk");

    fs::remove_file(&ballast).unwrap();
    wait::wait_until("the daemon to see that there is room", async || !is_full().await).await;
    for (key, task) in
        [("question", question), ("approval", approval)].into_iter().chain(load.iter().map(|t| ("load", *t)))
    {
        let ended = wait::within_or("a task to go on", async || {
            let now = world.get(task).await.task;
            now.status.has_ended().then_some(now)
        });
        let Some(end) = ended.await else {
            let kinds: Vec<_> = ledger::of(&world.daemon.home(), task.conversation_id)
                .into_iter()
                .map(|line| (line.seq.0, line.kind))
                .collect();
            let asked: Vec<_> = (0..LOAD)
                .filter_map(|n| world.model.last_request(&format!("load-{n}")))
                .map(|seen| (seen.key, seen.turn, seen.attempt, seen.outcome))
                .collect();
            let status = world.client.call::<method::Status>(StatusParams::default()).await;
            panic!(
                "the task `{key}` does not go on: {:?}\n{kinds:?}\n{asked:?}\n{status:?}",
                world.get(task).await.task
            );
        };
        assert_eq!(end.status, Status::Completed, "{key}: {end:?}");
    }
    assert!(world.model.last_request("late").is_none(), "what was refused does not start later");
    assert!(world.model.last_request("question").unwrap().text().contains("yes"));
    assert_eq!(world.daemon.pid(), pid, "without a restart");
    let last = ledger::last(&world.daemon.home().database());
    wait::wait_until("a client to be told everything", async || tap.cursor() == last).await;
    let records = tap.assert_matches(&world.daemon.home().database());
    println!("full disk: {} MiB taken away and given back, {records} records shown and on disk", taken >> 20);
}
