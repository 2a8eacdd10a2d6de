//! A foreign file at the place of the daemon's socket is refused by name and left there. The daemon's own files are private to
//! its user under any umask.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    skip::skip,
    world::World,
};
use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _, chown, symlink},
    path::Path,
};

/// Prepares the daemon's folders, plants something, and starts the daemon, which must refuse; returns its message.
async fn refused(plant: impl FnOnce(&TestDaemon)) -> String {
    let mut daemon = TestDaemon::start(&Config::new()).await;
    assert!(daemon.stop().await.success());
    plant(&daemon);
    daemon.launch();
    assert!(!daemon.ended().await.success());
    daemon.output()
}

#[tokio::test]
async fn a_symlink_at_the_sockets_path_is_refused_and_its_target_stays() {
    let target = tempfile::NamedTempFile::new().unwrap();
    fs::write(target.path(), "precious").unwrap();
    let words = refused(|daemon| symlink(target.path(), daemon.socket()).unwrap()).await;
    assert!(words.contains("abide.sock") && words.contains("symbolic link"), "{words}");
    assert_eq!(fs::read_to_string(target.path()).unwrap(), "precious");
}

#[tokio::test]
async fn a_file_at_the_sockets_path_is_refused_and_stays() {
    let mut path = Path::new("").to_owned();
    let words = refused(|daemon| {
        path = daemon.socket();
        fs::write(&path, "precious").unwrap();
    });
    let words = words.await;
    assert!(words.contains("abide.sock") && words.contains("not a socket"), "{words}");
}

#[tokio::test]
async fn a_symlink_in_place_of_the_sockets_folder_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    let words = refused(|daemon| {
        let run = daemon.home().run_dir;
        fs::remove_dir_all(&run).unwrap();
        symlink(elsewhere.path(), &run).unwrap();
    })
    .await;
    assert!(words.contains("/run") && words.contains("symbolic link"), "{words}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is put there");
}

#[tokio::test]
async fn somebody_elses_folder_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return skip("somebody_elses_folder", "only root can give a folder away");
    }
    let words = refused(|daemon| chown(daemon.home().run_dir, Some(65534), Some(65534)).unwrap()).await;
    assert!(words.contains("/run") && words.contains("belongs to another user"), "{words}");
}

/// Everything beneath the folder that other users may access.
fn open_to_others(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    // A running daemon makes files and removes them again.
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.map(|e| e.unwrap().path()) {
        let Ok(metadata) = fs::symlink_metadata(&entry) else { continue };
        if metadata.permissions().mode() & 0o077 != 0 {
            found.push(format!("{} {:o}", entry.display(), metadata.permissions().mode()));
        }
        if metadata.is_dir() {
            found.extend(open_to_others(&entry));
        }
        assert!(!metadata.file_type().is_fifo());
    }
    found
}

#[tokio::test]
async fn files_of_the_daemon_are_private_under_any_umask() {
    for umask in ["000", "077"] {
        let model = abide_tests::model_server::ModelServer::start().await;
        let mut daemon = TestDaemon::new(&Config::with(&model));
        daemon.set_caller(&format!("umask {umask}"));
        // The tests' own folder and configuration have the tests' own umask.
        fs::set_permissions(daemon.abide_home(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(daemon.home().config_dir, fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(daemon.home().config_file(), fs::Permissions::from_mode(0o600)).unwrap();
        let world = World::of(model, daemon).await;
        world.model.script("modes", [Turn::shell("echo begun; sleep 600"), Turn::done("Done.")]);
        let params =
            abide_client::protocol::method::task::StartTaskParams { workspace: None, ..world.task("modes") };
        let task = world.begin(params).await;
        world.watch(task).await.wait_output("begun").await;
        assert!(world.daemon.home().database().exists());
        assert_eq!(open_to_others(&world.daemon.abide_home()), Vec::<String>::new(), "with umask {umask}");
        world.stop(task).await;
    }
}
