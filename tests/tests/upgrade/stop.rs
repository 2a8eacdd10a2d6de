//! A stop that is asked for while the daemon goes over to another program happens.

use super::hand_over::{seen, works, world};
use abide_client::protocol::{
    method::{
        self,
        daemon::{StatusParams, UpdateDaemonParams},
    },
    update::UpdateStage,
};
use abide_fail_point::{Point, SLOW_VARIABLE};
use abide_host::home;
use abide_tests::{
    daemon::{CliRun, Config, Program, TestDaemon},
    model_server::ModelServer,
    wait,
    world::World,
};
use std::{fs, os::unix::process::ExitStatusExt as _, path::PathBuf};

/// A daemon that holds its tasks for a client, until the command of one of them has ended: then this file is
/// made.
async fn held() -> (World, CliRun, PathBuf) {
    let world = world(|config| config).await;
    let (_, go_on) = works(&world).await;
    world.daemon.install(&Program::Build(1));
    let update = world.daemon.cli().start(&["daemon", "update", "--patience", "600"]);
    seen(&world.daemon, "the hold", |update| update.stage == UpdateStage::Waiting).await;
    (world, update, go_on)
}

/// Lets the command end when the daemon is about to end: before, it could go over first.
async fn end_command(world: &World, go_on: PathBuf) {
    wait::wait_until("the daemon to drain", async || {
        let status = world.client.call::<method::Status>(StatusParams::default()).await;
        // Without a reply it has ended already.
        status.map_or(true, |status| status.daemon.shutting_down)
    })
    .await;
    fs::write(go_on, "").unwrap();
}

/// It has ended, and the client that waited for the new program has not started it.
async fn is_over(mut world: World, mut update: CliRun) {
    assert!(world.daemon.ended().await.success());
    let said = update.line().await;
    assert_eq!((update.code().await, said), (Some(3), None), "no daemon");
    assert!(!home::is_held(&world.daemon.home()) && !world.daemon.socket().exists());
}

#[tokio::test]
async fn a_signal_while_tasks_are_held_ends_the_daemon() {
    let (world, update, go_on) = held().await;
    world.daemon.tell_to_end();
    end_command(&world, go_on).await;
    is_over(world, update).await;
}

#[tokio::test]
async fn a_stop_while_tasks_are_held_ends_the_daemon() {
    let (world, update, go_on) = held().await;
    let stop = world.daemon.cli().start(&["daemon", "stop"]);
    end_command(&world, go_on).await;
    assert_eq!(stop.code().await, Some(0));
    is_over(world, update).await;
}

/// tokio has ended, and nobody listens to signals any more.
#[tokio::test]
async fn a_signal_right_before_the_new_program_is_executed_ends_the_daemon() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    daemon.with_own_program();
    daemon.set_env(SLOW_VARIABLE, &format!("{}:2000", Point::HandOver.name()));
    daemon.up().await;
    let client = daemon.client().await;
    daemon.install(&Program::Build(1));
    // The daemon may end before it can reply.
    drop(client.call::<method::UpdateDaemon>(UpdateDaemonParams::default()).await);
    wait::wait_until("the daemon to be about to go over", async || daemon.output().contains("going over to"))
        .await;
    let status = daemon.stop().await;
    // If it was too late for that, the new program was ended before it listened to signals, as every program
    // is that starts.
    assert!(status.success() || status.signal() == Some(15), "{status}");
    assert!(!home::is_held(&daemon.home()));
    assert_eq!(daemon.socket().exists(), !status.success());
}
