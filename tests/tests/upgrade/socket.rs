//! What becomes of the socket when another program takes over: its file may be gone, or be another's by then.

use super::hand_over::{status, world};
use abide_client::protocol::{
    method::{self, daemon::UpdateDaemonParams},
    task::Status,
};
use abide_tests::{
    daemon::{Config, Program, TestDaemon},
    model_server::{ModelServer, Turn},
    wait,
    world::World,
};
use std::{
    fs, io,
    os::unix::net::{UnixListener, UnixStream},
};

/// Lets another program take over; the connection is older than what has become of the socket.
async fn go_over(world: &World) {
    world.daemon.install(&Program::Build(1));
    // The daemon may end before it can reply.
    drop(world.client.call::<method::UpdateDaemon>(UpdateDaemonParams::default()).await);
    wait::wait_until("the new program to run", async || world.daemon.runs_installed_program()).await;
}

#[tokio::test]
async fn a_socket_whose_file_is_gone_or_leads_nowhere_is_made_anew() {
    for leads_nowhere in [false, true] {
        let world = world(|config| config).await;
        let asks = world.run("asks", [Turn::ask("Which one?"), Turn::done("Thanks.")]).await;
        world.wait_status(asks, Status::WaitingUser).await;
        let socket = world.daemon.socket();
        fs::remove_file(&socket).unwrap();
        if leads_nowhere {
            drop(UnixListener::bind(&socket).unwrap());
        }
        go_over(&world).await;
        let client =
            wait::wait_for("the new program to answer", async || world.daemon.try_client().await).await;
        let mut world = World { client, ..world };
        world.answer(asks, Some("the second")).await;
        world.wait_end(asks).await;
        assert!(world.daemon.stop().await.success());
        assert!(!socket.exists());
    }
}

#[tokio::test]
async fn a_socket_that_another_process_listens_at_is_left_to_it() {
    let mut world = world(|config| config).await;
    let socket = world.daemon.socket();
    fs::remove_file(&socket).unwrap();
    let other = UnixListener::bind(&socket).unwrap();
    go_over(&world).await;
    wait::wait_until("the daemon to say so", async || {
        let said = world.daemon.output();
        said.contains("no client reaches this daemon") && said.contains("another daemon")
    })
    .await;
    assert!(world.daemon.stop().await.success());
    // The daemon has tried whether anybody listens there.
    drop(other.accept().unwrap());
    UnixStream::connect(&socket).unwrap();
}

/// systemd's unit for the socket may have been edited, and give more than one.
#[tokio::test]
async fn descriptors_that_are_not_used_are_closed_and_named() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    let more = ["one", "two"].map(|name| daemon.root().join(name));
    daemon.launch_by_sockets(&more);
    daemon.cli().ok(&["ps"]).await;
    assert!(status(&daemon).await.connections > 0);
    for socket in &more {
        let refused = UnixStream::connect(socket).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused, "nobody listens there any more");
    }
    wait::wait_seeing("the daemon to say so", async || {
        let said = daemon.output();
        let is_said = said.contains("descriptors that are not used") && said.contains("closed=2");
        if is_said { Ok(()) } else { Err(said) }
    })
    .await;
}
