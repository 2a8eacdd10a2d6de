//! What a command may use, and what becomes of one that uses more.

use crate::ground::{Ground, data};
use abide_tools::{CommandLimits, Finished};
use rustix::process::geteuid;
use serde_json::json;
use std::fs;

const MIB: u64 = 1 << 20;

/// At both levels, with these limits.
fn grounds(limits: CommandLimits) -> [Ground; 2] {
    [Ground::new(), Ground::with_landlock_only()].map(|mut ground| {
        ground.sandbox.limits = limits;
        ground
    })
}

async fn shell(ground: &Ground, command: &str) -> Finished {
    ground.call("shell", json!({ "command": command, "timeout_secs": 10 })).await
}

async fn python(ground: &Ground, code: &str) -> Finished {
    ground.call("python", json!({ "code": code, "timeout_secs": 10 })).await
}

fn assert_ended(finished: &Finished, key: &str) {
    let message = &finished.result.message;
    assert!(message.starts_with("ended, because it"), "{}", finished.result.text());
    assert!(message.contains(&format!("`[sandbox] {key}`")), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_with_too_many_processes_is_ended() {
    for ground in grounds(CommandLimits { processes: 20, ..CommandLimits::default() }) {
        assert_ended(&shell(&ground, "for i in $(seq 25); do sleep 60 & done; wait").await, "max_processes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_bomb_is_bounded_and_ended() {
    let mut ground = Ground::new();
    ground.sandbox.limits.processes = 20;
    let maximum = "/proc/sys/kernel/pid_max";
    let own = shell(&ground, &format!("cat {maximum}")).await;
    if geteuid().is_root() && data(&own)["stdout"] == *fs::read_to_string(maximum).unwrap() {
        // An older kernel cannot bound root.
        return;
    }
    assert_ended(&shell(&ground, "f() { f | f & }; f; sleep 60").await, "max_processes");
    let threads = "import threading, time
started = 0
try:
    while started < 1000:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        started += 1
finally:
    print(started, flush=True)";
    let finished = python(&ground, threads).await;
    let started: u32 = data(&finished)["stdout"].as_str().unwrap().trim().parse().unwrap();
    assert!((10..400).contains(&started), "{}", finished.result.text());
    let hint = "it may have met the limit of processes and threads, `[sandbox] max_processes`";
    assert_eq!(finished.result.diagnostics, [hint]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_uses_too_much_memory_is_ended() {
    let mut ground = Ground::new();
    ground.sandbox.limits.memory = 200 * MIB;
    let eat = |size: u64, rest: &str| format!("import os, time\neaten = b'a' * ({size} << 20)\n{rest}");
    // Together the second one's processes have more than the limit, but they share it. Within a second they
    // are looked at.
    let (eat, share) = (eat(220, "time.sleep(60)"), eat(150, "os.fork()\nos.fork()\ntime.sleep(1.2)"));
    let (eaten, shared) = tokio::join!(python(&ground, &eat), python(&ground, &share));
    assert_ended(&eaten, "max_memory");
    assert!(shared.result.ok, "{}", shared.result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_temporary_files_are_too_large_is_ended() {
    for ground in grounds(CommandLimits { tmp: MIB, ..CommandLimits::default() }) {
        // In the full sandbox the workspace lies in a temporary folder, too.
        let finished = shell(&ground, "head -c 2M /dev/zero > here; sleep 0.5").await;
        assert!(finished.result.ok, "{}", finished.result.text());
        let fill = "head -c 2M /dev/zero > ${TMPDIR:-/tmp}/there; sleep 60";
        assert_ended(&shell(&ground, fill).await, "max_tmp");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_command_may_have_been_out_of_memory() {
    let finished = shell(&Ground::new(), "kill -9 $$").await;
    assert_eq!(finished.result.message, "killed by signal 9 (SIGKILL)");
    let [hint] = &*finished.result.diagnostics else { panic!("{:?}", finished.result.diagnostics) };
    assert!(hint.contains("out of memory"), "{hint}");
}
