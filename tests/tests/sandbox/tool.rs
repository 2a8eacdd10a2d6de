//! A tool that tries to decide for the person, to reach what is the daemon's, and to outlive its stop (R26).

use crate::undo::repository::Repository;
use abide_client::protocol::{record::RecordBody, task::Status};
use abide_tests::{
    ledger::{self, LedgerLine},
    model_server::Turn,
    wait,
    world::World,
};
use serde_json::json;
use std::{collections::BTreeMap, fs, path::Path};

/// Every file beneath a folder with its content, but for those that a running daemon writes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    found.insert(path.display().to_string(), fs::read(&path).unwrap());
                }
                _ => {}
            }
        }
    }
    found
}

#[tokio::test]
async fn it_decides_nothing_reaches_nothing_of_the_daemon_and_ends_when_stopped() {
    let mut world = World::beneath(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let _repository = Repository::new(&world.daemon);
    let home = world.daemon.abide_home();
    let decided = world.daemon.root().join("decided");
    let leave =
        json!({ "command": format!("touch {}", decided.display()), "outside": true, "reason": "to see" });
    let waiting = world.run_asking("waiting", [Turn::new().call("shell", leave), Turn::done("Done.")]).await;
    world.wait_status(waiting, Status::WaitingApproval).await;
    let configuration = files(&home.join("config"));
    assert!(!configuration.is_empty());

    let variables = world.daemon.variables();
    let abide = Path::new(&variables["ABIDE_DAEMON"]).with_file_name("abide");
    let as_the_person = format!("ABIDE_HOME={} {}", home.display(), abide.display());
    let (pid, socket) = (world.daemon.pid(), world.daemon.socket());
    let (home, socket, user) = (home.display(), socket.display(), world.daemon.user_home());
    let user = user.display();
    let task = waiting.task_id;
    let ways = [
        // As a client.
        format!("{as_the_person} approve {task}"),
        format!("{as_the_person} approve {task} --always"),
        format!("{as_the_person} ps"),
        format!("{as_the_person} rules add 'shell(*)'"),
        format!("python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{socket}\")'"),
        format!("socat - UNIX-CONNECT:{socket} </dev/null"),
        // By its files, now or at its next start.
        format!(
            "cat {home}/data/abide.db || ls -A {home}/data {home}/config {home}/state | grep -v -e : -e '^$'"
        ),
        format!("echo '[policy]' >> {home}/config/config.toml"),
        format!("mkdir -p {home}/config/personas && echo evil > {home}/config/personas/evil.md"),
        format!("echo evil > {home}/state/evil"),
        format!("mv {home} {home}-away || python3 -c 'import shutil; shutil.rmtree(\"{home}/data\")'"),
        // By its process.
        format!("kill -9 {pid} || kill -STOP {pid}"),
        format!("cat /proc/{pid}/environ /proc/{pid}/mem || ls /proc/{pid}/fd"),
        format!(
            "python3 -c 'import ctypes; exit(0 if ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) == 0 else 1)'"
        ),
        "(kill -9 $PPID && kill -0 $PPID && false) || cat /proc/$PPID/mem".to_owned(),
        // By what others start.
        format!("echo evil >> {user}/.bashrc"),
        format!("mkdir -p {user}/.config/systemd/user && touch {user}/.config/systemd/user/evil.service"),
        "touch /etc/ld.so.preload /usr/local/bin/git".to_owned(),
    ];
    let tries: Vec<String> = ways
        .iter()
        .enumerate()
        .map(|(number, way)| format!("({way}) && echo 'REACH''ED-{number};'"))
        .collect();
    // Programs with the names of those that the daemon starts, and a process that would live on.
    let plant = "mkdir -p bin; for name in git sh bash python3 abide abided; do \
                 printf '#!/bin/sh\\ntouch %s/owned\\n' \"$HOME\" > $name; chmod +x $name; cp $name bin/; done";
    let outlive = "(setsid nohup sh -c 'trap \"\" TERM HUP; sleep 86399' >/dev/null 2>&1 &); \
                   python3 -c 'import os, time; os.fork() or os.setsid() or os.fork() or time.sleep(86399)'; echo begun; sleep 86399";
    let script = [
        Turn::shell(&tries.join("; ")),
        Turn::shell("kill -9 -1; sleep 1"),
        Turn::shell(plant),
        Turn::shell("git status --short; python3 -c 'print(1)'"),
        Turn::shell(outlive),
    ];
    let evil = world.run_asking("evil", script).await;
    let endless = |world: &World| {
        world.daemon.offspring().into_iter().filter(|found| found.command.contains("86399")).count()
    };
    wait::wait_until("the processes that would live on", async || endless(&world) >= 3).await;
    world.stop(evil).await;
    wait::wait_until("their end", async || endless(&world) == 0).await;

    let told = world.model.last_request("evil").expect("a request").text();
    let is_reached = |number: &usize| told.contains(&format!("REACHED-{number};"));
    let reached: Vec<&String> = (0..ways.len()).filter(is_reached).map(|number| &ways[number]).collect();
    assert!(reached.is_empty(), "{reached:#?}\n{told}");
    assert!(told.contains("exit code"), "the commands ran: {told}");
    let lines = ledger::of(&world.daemon.home(), evil.conversation_id);
    let asked =
        lines.iter().filter(|line| matches!(LedgerLine::record(line), RecordBody::ApprovalRequested(_)));
    assert_eq!(asked.count(), 0, "all of it ran unasked");
    world.daemon.crash_and_restart().await;
    assert_eq!(files(&world.daemon.abide_home().join("config")), configuration);
    assert!(!decided.exists() && !world.daemon.user_home().join("owned").exists());
    assert!(!world.daemon.user_home().join(".bashrc").exists());
    let cli = world.daemon.cli();
    assert!(cli.ok(&["inbox"]).await.contains("it can do all that you can"), "the person is still asked");
    cli.ok(&["approve", &task.to_string()]).await;
    wait::wait_until("the person's decision to count", async || decided.exists()).await;
}
