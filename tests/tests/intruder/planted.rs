//! A foreign file at the place of the daemon's socket is refused by name and left there. The daemon's own
//! files are private to its user under any umask.

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

/// Puts something at its place, and takes it away again; `says` is what the daemon says of it.
struct Planted<'a> {
    puts: &'a dyn Fn(),
    takes: &'a dyn Fn(),
    says: [&'a str; 2],
}

#[tokio::test]
async fn what_is_planted_at_the_place_of_the_socket_is_refused_by_name_and_stays() {
    let mut daemon = TestDaemon::start(&Config::new()).await;
    assert!(daemon.stop().await.success());
    let (socket, run) = (daemon.socket(), daemon.home().run_dir);
    let elsewhere = tempfile::tempdir().unwrap();
    let (target, empty) = (elsewhere.path().join("file"), elsewhere.path().join("empty"));
    fs::write(&target, "precious").unwrap();
    fs::create_dir(&empty).unwrap();
    let table = [
        Planted {
            puts: &|| symlink(&target, &socket).unwrap(),
            takes: &|| fs::remove_file(&socket).unwrap(),
            says: ["abide.sock", "symbolic link"],
        },
        Planted {
            puts: &|| fs::write(&socket, "precious").unwrap(),
            takes: &|| assert_eq!(fs::read_to_string(&socket).unwrap(), "precious"),
            says: ["abide.sock", "not a socket"],
        },
        Planted {
            puts: &|| {
                fs::remove_dir_all(&run).unwrap();
                symlink(&empty, &run).unwrap();
            },
            takes: &|| {
                assert_eq!(fs::read_dir(&empty).unwrap().count(), 0, "nothing is put there");
                fs::remove_file(&run).unwrap();
                fs::create_dir(&run).unwrap();
                fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
            },
            says: ["/run", "symbolic link"],
        },
        Planted {
            puts: &|| chown(&run, Some(65534), Some(65534)).unwrap(),
            takes: &|| (),
            says: ["/run", "belongs to another user"],
        },
    ];
    for Planted { puts, takes, says } in table {
        if says[1].contains("another user") && !rustix::process::geteuid().is_root() {
            skip("somebody_elses_folder", "only root can give a folder away");
            continue;
        }
        puts();
        let before = daemon.output().len();
        daemon.launch();
        assert!(!daemon.ended().await.success());
        let words = daemon.output().split_off(before);
        assert!(says.iter().all(|part| words.contains(part)), "{says:?}: {words}");
        takes();
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
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
