use crate::peer::{Peer, options};
use abide_client::{Client, ConnectError, protocol::codec::Codec};
use abide_host::{
    Home,
    home::{HomeError, Running},
};
use interprocess::local_socket::{
    GenericFilePath, ListenerOptions,
    tokio::{Listener, prelude::*},
};
use std::{fs, path::Path};

fn listen(socket: &Path) -> Listener {
    let name = socket.to_fs_name::<GenericFilePath>().unwrap();
    ListenerOptions::new().name(name).create_tokio().unwrap()
}

async fn connect(home: &Home) -> Result<Client, ConnectError> {
    Client::connect(home, options(Codec::Binary)).await
}

#[tokio::test]
async fn the_socket_of_the_home_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    home.create().unwrap();
    let listener = listen(&home.socket().unwrap());
    let daemon = async { Peer::accept(listener.accept().await.unwrap()).await };
    let (client, peer) = tokio::join!(connect(&home), daemon);
    drop(client.unwrap());
    peer.gone().await;
}

#[tokio::test]
async fn without_a_runtime_folder_the_lock_file_names_the_socket() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    home.create().unwrap();
    let elsewhere = dir.path().join("elsewhere.sock");
    let running = Running { pid: 1, socket: elsewhere.clone(), version: "9.9.9".to_owned() };
    fs::write(home.lock_file(), serde_json::to_vec(&running).unwrap()).unwrap();
    let listener = listen(&elsewhere);
    let daemon = async { Peer::accept(listener.accept().await.unwrap()).await };
    let (client, _peer) = tokio::join!(connect(&home), daemon);
    client.unwrap();
}

#[tokio::test]
async fn stale_files_at_the_socket_path_mean_not_running() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let not_running = |result: Result<Client, ConnectError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, ConnectError::NotRunning { .. }), "{error:?}");
    };
    not_running(connect(&home).await);
    home.create().unwrap();
    // A daemon that was killed leaves its socket and its lock file; the socket's path may also be another
    // file.
    let socket = home.socket().unwrap();
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    not_running(connect(&home).await);
    for content in ["", "{", r#"{"pid":1,"socket":"/nowhere/at/all.sock","version":"1"}"#] {
        fs::write(home.lock_file(), content).unwrap();
        not_running(connect(&home).await);
    }
}

#[tokio::test]
async fn a_socket_path_that_is_too_long_has_its_own_error() {
    let home = Home::at(Path::new("/tmp").join("x".repeat(120)));
    let error = connect(&home).await.unwrap_err();
    assert!(matches!(error, ConnectError::Home(HomeError::SocketPathTooLong { .. })), "{error:?}");
}
