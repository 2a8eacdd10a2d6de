use super::*;
use interprocess::local_socket::{GenericFilePath, ToFsName as _, tokio::Stream, tokio::prelude::*};
use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{FileTypeExt as _, PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::Path,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_folder_is_created_private_with_its_parents() {
    let home = home();
    let deep = home.path().join("a/b/c");
    private_folder(&deep).unwrap();
    assert_eq!((mode(&deep), mode(&home.path().join("a"))), (0o700, 0o700));
    set_mode(&deep, 0o755);
    private_folder(&deep).unwrap();
    assert_eq!(mode(&deep), 0o700);
}

#[test]
fn an_unfit_folder_is_refused() {
    let home = home();
    let at = |name: &str| home.path().join(name);

    fs::create_dir(at("open")).unwrap();
    set_mode(&at("open"), 0o777);
    assert!(
        matches!(private_folder(&at("open")), Err(InstanceError::OpenToOthers { path }) if path == at("open"))
    );
    assert!(
        matches!(private_folder(&at("open/below")), Err(InstanceError::OpenToOthers { path }) if path == at("open"))
    );
    set_mode(&at("open"), 0o1777);
    private_folder(&at("open/below")).unwrap();

    symlink(at("open/below"), at("link")).unwrap();
    assert!(matches!(
        private_folder(&at("link")),
        Err(InstanceError::WrongKind { found: "a symbolic link", .. })
    ));
    fs::write(at("file"), "").unwrap();
    assert!(private_folder(&at("file")).is_err());
}

#[tokio::test]
async fn one_process_holds_the_lock_and_announces_its_socket() {
    let home = home();
    let (lock, socket) = (home.path().join("abide.lock"), home.path().join("abide.sock"));
    let mut first = Instance::take(&lock).unwrap();
    let _listener = first.listen(&socket, "1.2.3").unwrap();

    let said: serde_json::Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
    assert_eq!(
        said,
        serde_json::json!({"pid": std::process::id(), "socket": socket.to_str().unwrap(), "version": "1.2.3"})
    );
    assert_eq!((mode(&lock), mode(&socket)), (0o600, 0o600));

    let second = Instance::take(&lock).unwrap_err();
    assert!(
        matches!(&second, InstanceError::Running { holder: Some((pid, at)) }
            if *pid == std::process::id() && *at == socket),
        "{second}"
    );

    drop(first);
    assert!(!socket.exists());
    assert_eq!(fs::read_to_string(&lock).unwrap(), "");
    Instance::take(&lock).unwrap();
}

#[test]
fn clients_that_check_the_lock_do_not_block_a_daemon() {
    let home = home();
    let lock = home.path().join("abide.lock");
    drop(Instance::take(&lock).unwrap());
    let (begun, done) = (Barrier::new(2), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let file = fs::File::open(&lock).unwrap();
            begun.wait();
            while !done.load(Ordering::Relaxed) {
                if file.try_lock_shared().is_ok() {
                    file.unlock().unwrap();
                }
            }
        });
        begun.wait();
        let taken: Vec<_> = (0..5000).map(|_| Instance::take(&lock).map(drop)).collect();
        done.store(true, Ordering::Relaxed);
        taken.into_iter().collect::<Result<(), _>>().unwrap();
    });
}

#[tokio::test]
async fn a_dead_daemons_socket_is_replaced() {
    let home = home();
    let socket = home.path().join("abide.sock");
    drop(UnixListener::bind(&socket).unwrap());
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    let mut instance = Instance::take(home.path().join("lock")).unwrap();
    instance.listen(&socket, "1").unwrap();
}

#[tokio::test]
async fn a_live_daemons_socket_is_not_replaced() {
    let home = home();
    let socket = home.path().join("abide.sock");
    let _other = UnixListener::bind(&socket).unwrap();
    let mut instance = Instance::take(home.path().join("lock")).unwrap();
    assert!(matches!(instance.listen(&socket, "1"), Err(InstanceError::SocketInUse { .. })));
    drop(instance);
    assert!(socket.exists(), "what another one made is not removed");
}

#[tokio::test]
async fn a_planted_file_is_refused_and_not_changed() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    fs::write(at("precious"), "data").unwrap();
    symlink(at("precious"), at("link")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let mut instance = Instance::take(at("lock")).unwrap();
    for (name, kind) in [("precious", "a file"), ("link", "a symbolic link"), ("folder", "a folder")] {
        let refused = instance.listen(at(name), "1").unwrap_err();
        assert!(
            matches!(&refused, InstanceError::WrongKind { found, wanted: "a socket", .. } if *found == kind),
            "{refused}"
        );
    }
    assert!(matches!(
        Instance::take(at("link")),
        Err(InstanceError::WrongKind { found: "a symbolic link", .. })
    ));
    assert_eq!(fs::read_to_string(at("precious")).unwrap(), "data");
}

#[tokio::test]
async fn a_path_that_is_too_long_is_an_error() {
    let home = home();
    let mut instance = Instance::take(home.path().join("lock")).unwrap();
    let long = home.path().join("x".repeat(120));
    assert!(matches!(instance.listen(&long, "1"), Err(InstanceError::PathTooLong { max: 103 | 107, .. })));
}

#[tokio::test]
async fn a_peer_below_a_helper_is_refused() {
    let home = home();
    let socket = home.path().join("abide.sock");
    let mut instance = Instance::take(home.path().join("lock")).unwrap();
    let listener = instance.listen(&socket, "1").unwrap();
    let name = socket.as_path().to_fs_name::<GenericFilePath>().unwrap();
    let (client, served) = tokio::join!(Stream::connect(name), listener.accept());
    let (_client, served) = (client.unwrap(), served.unwrap());
    peer(&served, |_| false).unwrap();
    #[cfg(target_os = "linux")]
    assert!(matches!(peer(&served, |pid| pid == std::process::id()), Err(Refused::Tool(_))));
}
