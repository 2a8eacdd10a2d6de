//! The n-th write or sync of the database fails, once or from then on, with n growing until nothing fails.
//! Afterwards everything acknowledged is there, nothing ran twice, and if the daemon ended, it said why.

use abide_client::protocol::{
    method::{self, task::StartTaskParams},
    task::Status,
};
use abide_tests::{
    daemon::{Config, TestDaemon},
    ledger,
    model_server::{ModelServer, Turn},
    seed::{Seed, times},
    shim,
    skip::skip,
    tap::Tap,
    wait,
    witness::Witness,
    world::{World, named},
};
use serde_json::json;
use std::path::Path;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

#[derive(Debug, Clone, Copy)]
struct Failure {
    kind: &'static str,
    number: usize,
    error: i32,
    how: &'static str,
}

/// The outcome of one run with a failing disk.
#[derive(Debug, PartialEq, Eq)]
enum Life {
    /// Nothing failed: there were fewer writes than n.
    Unharmed,
    /// It went on in spite of the failure, or waited for room.
    WentOn,
    /// It ended, and said why.
    Ended,
}

/// One run with that failure, then one without, in which all tasks must end properly.
async fn live(shim: &Path, failure: Failure) -> Life {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    let struck = daemon.root().join("struck");
    let Failure { kind, number, error, how } = failure;
    daemon.set_env_once("LD_PRELOAD", &shim.display().to_string());
    daemon.set_env_once("ABIDE_SHIM", &format!("{kind}:{number}:{error}:{how}"));
    daemon.set_env_once("ABIDE_SHIM_STRUCK", &struck.display().to_string());
    let witness = Witness::at(daemon.workspace().join("witness"));
    let command = |mark| json!({ "command": witness.command(mark) });
    let script = [
        Turn::new().call("shell", command("one")).call("write", json!({ "path": "a.txt", "content": "a" })),
        Turn::say("On.").call("shell", command("two")),
        Turn::done("Done."),
    ];
    model.script("io", script);
    daemon.launch();
    let mut tap = Tap::open(daemon.home());
    let mut acknowledged = None;
    let mut params = StartTaskParams {
        message: "[k:io] Do it.".to_owned(),
        workspace: Some(daemon.workspace().display().to_string()),
        approvals: abide_client::protocol::task::Approvals::Allow,
        environment: daemon.variables(),
        client_message_id: Some("io".to_owned()),
        ..StartTaskParams::default()
    };
    params.mode = Some(abide_client::protocol::task::Mode::Agent);
    let mut ended = !daemon.answers().await;
    if !ended && let Some(client) = daemon.try_client().await {
        acknowledged = client.call::<method::StartTask>(params.clone()).await.ok();
        wait::wait_until("the task to end, the daemon to end, or the disk to be full", async || {
            ended = daemon.has_ended();
            let Some(task) = acknowledged else { return true };
            let Ok(found) = client.call::<method::GetTask>(named(task).into()).await else { return ended };
            let status = client.call::<method::Status>(method::daemon::StatusParams::default()).await;
            ended || found.task.status.has_ended() || status.is_ok_and(|s| s.daemon.storage_full)
        })
        .await;
    }
    if !ended {
        ended = daemon.has_ended() || !daemon.stop().await.success();
    }
    let words = daemon.output();
    assert!(!words.contains("panicked"), "{failure:?}: {words}");
    if ended {
        let helps =
            words.contains("abide.db") || words.contains("the database could not be written any more");
        assert!(helps, "{failure:?}: the words do not help: {words}");
    }

    // The disk works again.
    daemon.up().await;
    let world = World { client: daemon.client().await, daemon, model };
    let task = world.begin(params).await;
    assert!(acknowledged.is_none_or(|earlier| earlier == task), "{failure:?}: an acknowledged task is gone");
    assert_eq!(world.wait_end(task).await.status, Status::Completed, "{failure:?}");
    let lines = ledger::read(&world.daemon.home());
    assert_eq!(lines.iter().filter(|line| line.kind == "task_started").count(), 1, "{failure:?}");
    let marks = witness.marks();
    let told = world.model.last_request("io").expect("a request").text();
    for mark in ["one", "two"] {
        let count = marks.iter().filter(|m| *m == mark).count();
        assert!(
            count == 1 || count == 0 && told.contains("nterrupted"),
            "{failure:?}: {mark} ran {count} times: {told}"
        );
    }
    assert_eq!(std::fs::read_to_string(world.daemon.workspace().join("a.txt")).unwrap(), "a", "{failure:?}");
    let last = ledger::last(&world.daemon.home().database());
    wait::wait_until("a client to be told everything", async || tap.cursor() == last).await;
    tap.assert_matches(&world.daemon.home().database());
    match (struck.exists(), ended) {
        (false, _) => Life::Unharmed,
        (true, false) => Life::WentOn,
        (true, true) => Life::Ended,
    }
}

/// Tries these failures from the first on, all or a random sample, until nothing fails any more.
async fn until_clean(kind: &'static str, error: i32, how: &'static str) {
    let mut seed = Seed::drawn(&format!("{kind} fails {how}")).of(kind);
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim::compiled("fail_io", folder.path()) else {
        return skip("a_failing_disk", "there is no C compiler");
    };
    // Each step of the sample is at most this long; 1 tries every one.
    let stride = times("ABIDE_TEST_IO_STRIDE", if kind == "write" { 100 } else { 6 });
    let (mut number, mut ended, mut went_on) = (1, 0, 0);
    loop {
        match live(&shim, Failure { kind, number, error, how }).await {
            Life::Unharmed => break,
            Life::Ended => ended += 1,
            Life::WentOn => went_on += 1,
        }
        number += 1 + seed.below(stride);
    }
    println!(
        "{kind} {how} (error {error}): up to the {number}th; ended with words {ended} times, went on {went_on} times"
    );
    assert!(ended + went_on > 2, "the shim strikes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_fails_once() {
    until_clean("write", EIO, "once").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_writes_fail_from_one_on() {
    until_clean("write", EIO, "ever").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_no_room_for_one_write() {
    until_clean("write", ENOSPC, "once").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sync_fails_once() {
    until_clean("sync", EIO, "once").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_syncs_fail_from_one_on() {
    until_clean("sync", EIO, "ever").await;
}
