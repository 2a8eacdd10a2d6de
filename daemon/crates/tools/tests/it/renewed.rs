//! What changes between two commands of the full sandbox, whose fork server goes on.

use crate::ground::{Ground, data};
use rustix::{
    mount::{MountFlags, UnmountFlags, mount, unmount},
    process::geteuid,
};
use serde_json::json;
use std::fs;

/// Prints the namespace of users of the command. The process that forks its helper is in it, too.
const USERS: &str = "readlink /proc/self/ns/user";

async fn output(ground: &Ground, command: &str) -> String {
    let finished = ground.call("shell", json!({ "command": command })).await;
    assert!(finished.result.ok, "{}", finished.result.text());
    data(&finished)["stdout"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_sees_what_was_mounted_since_the_last_one() {
    // Nobody else may mount.
    if !geteuid().is_root() {
        return;
    }
    let home = crate::ground::home_of_its_own();
    let ground = Ground::at_home(home.path(), &[]);
    let place = home.path().join("disk");
    fs::create_dir(&place).unwrap();
    let users = output(&ground, USERS).await;
    mount("none", &place, "tmpfs", MountFlags::empty(), None).unwrap();
    fs::write(place.join("file"), "on it").unwrap();
    let seen = output(&ground, &format!("{USERS}; cat {}/file", place.display())).await;
    unmount(&place, UnmountFlags::DETACH).unwrap();
    assert!(seen.ends_with("on it") && !seen.starts_with(&users), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_was_removed_and_made_again_is_the_one_that_a_command_gets() {
    let ground = Ground::new();
    output(&ground, "true").await;
    let folder = ground.path("");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    assert_eq!(output(&ground, "echo written > here; cat here").await, "written\n");
    assert_eq!(ground.text("here"), "written\n");
}
