//! What may be at the path of the daemon's program instead of another version: it is refused with words, in
//! bounded time, and the daemon goes on.

use super::hand_over::{refused, status, world};
use abide_client::protocol::update::UpdateStage;
use abide_tests::{
    daemon::{Program, TestDaemon},
    model_server::Turn,
    skip::skip,
    wait,
    world::World,
};
use rustix::fs::{CWD, FileType, Gid, Mode, Uid, chown, mknodat};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, symlink},
};

/// It is the same process, and carries out a task.
async fn goes_on(world: &World, pid: u32) {
    assert_eq!(status(&world.daemon).await.pid, pid);
    assert!(!world.daemon.runs_installed_program());
    let task = world.run("after", [Turn::shell("true"), Turn::done("Done.")]).await;
    world.wait_end(task).await;
}

fn set_mode(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn what_is_no_program_is_refused() {
    let world = world(|config| config).await;
    let (pid, path) = (world.daemon.pid(), world.daemon.program().to_path_buf());
    let elsewhere = world.daemon.root().join("elsewhere");
    type Put<'a> = &'a dyn Fn(&TestDaemon);
    let table: [(Put<'_>, &str); 4] = [
        (&|_| mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o755), 0).unwrap(), "it is a pipe"),
        (&|_| fs::create_dir(&path).unwrap(), "it is a folder"),
        (
            &|daemon| {
                daemon.install(&Program::Build(1));
                fs::rename(&path, &elsewhere).unwrap();
                symlink(&elsewhere, &path).unwrap();
            },
            "is a symbolic link now; `abide daemon restart` starts what it leads to",
        ),
        (&|daemon| daemon.install_with_mode(&Program::Build(2), 0o644), "Permission denied"),
    ];
    for (put, why) in table {
        if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) }.unwrap();
        put(&world.daemon);
        refused(&world.daemon, why).await;
    }
    let said = world.daemon.cli().run(&["daemon", "update"]).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("cannot take over: cannot start"), "{said:?}");
    goes_on(&world, pid).await;
}

/// Whoever may write there could have any program executed as this user.
#[tokio::test]
async fn what_others_could_have_put_there_is_not_even_asked() {
    let world = world(|config| config.daemon("update = \"ask\"")).await;
    let (pid, path) = (world.daemon.pid(), world.daemon.program());
    let folder = path.parent().unwrap();
    let asked = world.daemon.root().join("asked");
    let script = format!("#!/bin/sh\ntouch {}\necho abided 99.0.0\n", asked.display());
    let open = |path: &std::path::Path| format!("others may write to {}, so they could", path.display());

    world.daemon.install_with_mode(&Program::Text(script.clone()), 0o757);
    refused(&world.daemon, &open(path)).await;
    set_mode(folder, 0o707);
    world.daemon.install(&Program::Text(script.clone()));
    refused(&world.daemon, &open(folder)).await;
    set_mode(folder, 0o755);
    if rustix::process::geteuid().is_root() {
        world.daemon.install(&Program::Text(script));
        chown(path, Some(Uid::from_raw(65534)), None::<Gid>).unwrap();
        refused(&world.daemon, "belongs to another user").await;
    } else {
        skip(
            "what_others_could_have_put_there_is_not_even_asked",
            "only root can give a file to somebody else",
        );
    }
    assert!(!asked.exists());
    goes_on(&world, pid).await;

    // Mended by hand, it is asked again without a request.
    world.daemon.install_with_mode(&Program::Build(1), 0o757);
    refused(&world.daemon, &open(path)).await;
    set_mode(path, 0o755);
    wait::wait_until("the program to be asked again", async || {
        status(&world.daemon).await.update.is_some_and(|update| update.stage == UpdateStage::Ready)
    })
    .await;
}

#[tokio::test]
async fn a_program_that_prints_without_end_or_leaves_others_behind_is_refused() {
    let world = world(|config| config).await;
    let pid = world.daemon.pid();
    world.daemon.install(&Program::Script("exec yes"));
    refused(&world.daemon, "did not say within 10 s").await;
    // The one that is left has its output open.
    world.daemon.install(&Program::Script("sleep 1000 & echo 'error: it is not well' >&2; exit 1"));
    refused(&world.daemon, "it is not well").await;
    let is_left = || world.daemon.offspring().iter().any(|process| process.command.contains("sleep 1000"));
    wait::wait_until("what it has left to be ended", async || !is_left()).await;
    goes_on(&world, pid).await;
}
