//! What a confined command does not see of the files of the user.

use crate::{
    ground::{Ground, home_of_its_own},
    sandbox::run,
};
use rustix::process::geteuid;
use serde_json::json;
use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, chown, symlink},
        net::UnixListener,
    },
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// A user who is not the one of the tests.
const OTHER: u32 = 4321;

#[tokio::test(flavor = "multi_thread")]
async fn another_user_cannot_keep_the_sandbox_from_being_made() {
    // Nobody else may make a folder of another user.
    if !geteuid().is_root() {
        return;
    }
    let home = home_of_its_own();
    let ground = Ground::at_home(home.path(), &[]);
    let private = home.path().join("private");
    fs::create_dir(&private).unwrap();
    let _listener = UnixListener::bind(private.join("socket")).unwrap();
    chown(&private, Some(OTHER), Some(OTHER)).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(run(&ground, "echo well").await, (Some(0), "well\n".to_owned()));
}

/// Between the plan and the helper.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_takes_the_place_of_what_is_hidden_the_sandbox_is_made() {
    let home = home_of_its_own();
    let mut ground = Ground::at_home(home.path(), &[]);
    let (is_over, path) = (AtomicBool::new(false), home.path().join("busy"));
    ground.sandbox.hidden = vec![path.clone()];
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::write(&path, "").unwrap();
                fs::remove_file(&path).unwrap();
                fs::create_dir(&path).unwrap();
                fs::remove_dir(&path).unwrap();
                symlink("notes", &path).unwrap();
                fs::remove_file(&path).unwrap();
            }
        });
        let mut failed = Vec::new();
        let runs = async {
            for _ in 0..100 {
                let result = ground.call("shell", json!({ "command": "echo x" })).await.result;
                failed.extend((!result.ok).then_some(result));
            }
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(runs));
        is_over.store(true, Ordering::Relaxed);
        assert!(failed.is_empty(), "{failed:?}");
    });
}
