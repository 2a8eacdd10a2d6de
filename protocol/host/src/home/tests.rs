use super::{Home, HomeError, MAX_SOCKET_PATH, Running, is_held, running};
use std::{fs, path::Path};

#[test]
fn one_folder_holds_everything() {
    let home = Home::at("/h");
    let table = [
        (home.config_file(), "/h/config/config.toml"),
        (home.key_file(), "/h/config/keys.toml"),
        (home.database(), "/h/data/abide.db"),
        (home.lock_file(), "/h/data/abide.lock"),
        (home.spool_dir(), "/h/data/spool"),
        (home.checkpoints_dir(), "/h/data/checkpoints"),
        (home.scratch_dir(), "/h/data/scratch"),
        (home.worktrees_dir(), "/h/data/worktrees"),
        (home.log_dir(), "/h/state/log"),
    ];
    for (path, expected) in table {
        assert_eq!(path, Path::new(expected));
    }
    assert_eq!(home.root(), Some(Path::new("/h")));
    let mixed = Home { run_dir: "/run/user/1000/abide/v1".into(), ..home };
    assert_eq!(mixed.root(), None);
}

#[cfg(unix)]
#[test]
fn a_socket_path_may_be_as_long_as_the_system_allows() {
    let tail = "/run/abide.sock".len();
    let fits = Home::at(format!("/{}", "x".repeat(MAX_SOCKET_PATH - tail - 1)));
    assert_eq!(fits.socket().unwrap().as_os_str().len(), MAX_SOCKET_PATH);
    // The system agrees.
    assert!(std::os::unix::net::SocketAddr::from_pathname(fits.socket().unwrap()).is_ok());
    let too_long = Home::at(format!("/{}", "x".repeat(MAX_SOCKET_PATH - tail)));
    assert!(matches!(too_long.socket(), Err(HomeError::SocketPathTooLong { .. })));
}

#[cfg(unix)]
#[test]
fn the_folders_are_this_user_s_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("deep/er"));
    fs::create_dir_all(&home.data_dir).unwrap();
    fs::set_permissions(&home.data_dir, fs::Permissions::from_mode(0o755)).unwrap();
    home.create().unwrap();
    for dir in [&home.config_dir, &home.data_dir, &home.state_dir, &home.run_dir] {
        assert_eq!(fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700, "{}", dir.display());
    }
}

#[test]
fn the_lock_file_names_the_running_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    assert!(running(&home).unwrap().is_none());
    home.create().unwrap();
    let told = Running { pid: 7, socket: "/run/abide.sock".into(), version: "0.1.0".to_owned() };
    fs::write(home.lock_file(), serde_json::to_vec(&told).unwrap()).unwrap();
    assert_eq!(running(&home).unwrap(), Some(told));
    fs::write(home.lock_file(), " \n").unwrap();
    assert_eq!(running(&home).unwrap(), None);
    fs::write(home.lock_file(), "{").unwrap();
    assert!(matches!(running(&home), Err(HomeError::BadLockFile { .. })));
    let long = format!(r#"{{"pid":7,"socket":"/{}","version":"1"}}"#, "x".repeat(300));
    fs::write(home.lock_file(), long).unwrap();
    assert!(matches!(running(&home), Err(HomeError::SocketPathTooLong { .. })));
}

#[test]
fn a_lock_is_seen_while_it_is_held() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    home.create().unwrap();
    let file = fs::File::create(home.lock_file()).unwrap();
    assert!(!is_held(&home));
    file.lock().unwrap();
    assert!(is_held(&home));
    drop(file);
    assert!(!is_held(&home));
}
