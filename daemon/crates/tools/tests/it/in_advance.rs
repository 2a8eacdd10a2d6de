//! Helpers of the full sandbox that are made before a command needs them.

use crate::ground::{CONVERSATION, Ground, Running, data, processes, token, wait_until};
use abide_protocol::{ConversationId, record::CallAssessed, task::Approvals};
use abide_tools::Place;
use rustix::{
    mount::{MountFlags, UnmountFlags, mount, unmount},
    process::geteuid,
};
use serde_json::json;
use std::{collections::BTreeSet, fs, path::Path, slice::from_ref};
use tokio_util::sync::CancellationToken;

/// Prints the namespace of users of the command. The process that forks its helper is in it, too.
const USERS: &str = "readlink /proc/self/ns/user";

async fn output(ground: &Ground, command: &str) -> String {
    let finished = ground.call("shell", json!({ "command": command })).await;
    assert!(finished.result.ok, "{}", finished.result.text());
    data(&finished)["stdout"].as_str().unwrap().to_owned()
}

fn shell(ground: &Ground) -> CallAssessed {
    ground.assess_one("shell", json!({ "command": "true" }))
}

/// The children of all threads of a process.
fn children(process: u32) -> BTreeSet<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children =
        threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    children
        .flat_map(|all| all.split_whitespace().map(|child| child.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

/// The process that forks helpers in this namespace of users.
fn server_of(users: &str) -> Option<u32> {
    let is_in = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/ns/user")).is_ok_and(|link| link == Path::new(users.trim()))
    };
    children(std::process::id()).into_iter().find(is_in)
}

fn parent(process: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Whether a plan was made for a conversation's command: it has a temporary folder then.
fn is_planned(ground: &Ground, conversation: ConversationId) -> bool {
    ground.root().join("sandbox/conversations").join(conversation.to_string()).exists()
}

const fn conversation(number: u128) -> ConversationId {
    ConversationId(uuid::Uuid::from_u128(number))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_of_an_expected_command_is_made_unless_it_is_released_before() {
    let ground = Ground::new();
    let call = shell(&ground);
    ground.tools.expect(CONVERSATION, &ground.workspace(), from_ref(&call), &ground.sandbox);
    wait_until("its sandbox to be made", || is_planned(&ground, CONVERSATION)).await;
    // The release comes first, or takes the sandbox back.
    let (released, other) = (conversation(100), conversation(101));
    ground.tools.expect(released, &ground.workspace(), from_ref(&call), &ground.sandbox);
    ground.tools.release(released);
    ground.tools.expect(other, &ground.workspace(), from_ref(&call), &ground.sandbox);
    wait_until("the sandbox of the other", || is_planned(&ground, other)).await;
    assert!(ground.finish(call).await.result.ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_for_a_command_that_asks() {
    let mut ground = Ground::new().asking_by_policy();
    let call = shell(&ground);
    ground.approvals = Approvals::Ask;
    let asks = shell(&ground);
    for (number, call) in [(100, &asks), (101, &call)] {
        ground.tools.expect(conversation(number), &ground.workspace(), from_ref(call), &ground.sandbox);
    }
    wait_until("the sandbox of the other", || is_planned(&ground, conversation(101))).await;
    // It waits until all that is wanted was made.
    ground.tools.release(CONVERSATION);
    assert!(!is_planned(&ground, conversation(100)));
}

/// A command that sleeps, and its helper.
struct Sleeper {
    running: Running,
    users: String,
    server: u32,
    helper: u32,
}

async fn sleeper(ground: &Ground) -> Sleeper {
    let token = token();
    let running = ground.start(&format!("{USERS}; sleep {token}"));
    wait_until("the command to sleep", || processes(&token).len() == 1).await;
    wait_until("its namespace to arrive", || running.output().ends_with('\n')).await;
    let users = running.output();
    let server = server_of(&users).unwrap();
    let helpers = children(server);
    // With a shell between them, or without.
    let above = parent(processes(&token)[0]);
    let helper = [above, parent(above)].into_iter().find(|process| helpers.contains(process)).unwrap();
    Sleeper { running, users, server, helper }
}

/// Whether a filter of system calls is installed, which a helper does last.
fn is_confined(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.contains("Seccomp:\t2")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_leaves_a_spare_helper_for_the_first_command() {
    loop {
        let ground = Ground::new();
        let Sleeper { running, users, server, helper } = sleeper(&ground).await;
        running.cancel().await;
        let others =
            || -> (Vec<u32>, Vec<u32>) { children(server).into_iter().partition(|pid| is_confined(*pid)) };
        wait_until("the next helper and the spare ones to wait", || {
            let (confined, spares) = others();
            !confined.contains(&helper) && confined.len() == 1 && spares.len() == 2
        })
        .await;
        let (_, spares) = others();
        ground.tools.release(CONVERSATION);
        let place = Place {
            workspace: ground.workspace(),
            environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            cancel: CancellationToken::new(),
        };
        ground.tools.checkpoints().can(&place).unwrap();
        let first = sleeper(&ground).await;
        first.running.cancel().await;
        // If another program has mounted something meanwhile, no helper from before is used.
        if first.users == users {
            assert!(spares.contains(&first.helper), "{} {spares:?}", first.helper);
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_helper_is_used_that_does_not_see_what_was_mounted_since() {
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
    // One helper waits for this conversation, and others for any.
    let seen = [output(&ground, &format!("{USERS}; cat {}/file", place.display())).await, {
        ground.tools.release(CONVERSATION);
        output(&ground, &format!("cat {}/file", place.display())).await
    }];
    unmount(&place, UnmountFlags::DETACH).unwrap();
    assert!(seen[0].ends_with("on it") && !seen[0].starts_with(&users), "{seen:?}");
    assert_eq!(seen[1], "on it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_was_removed_and_made_again_is_the_one_that_a_command_gets() {
    let ground = Ground::new();
    let Sleeper { running, server, helper, .. } = sleeper(&ground).await;
    running.cancel().await;
    wait_until("the next helper to wait", || {
        children(server).into_iter().any(|pid| pid != helper && is_confined(pid))
    })
    .await;
    let folder = ground.path("");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    assert_eq!(output(&ground, "echo written > here; cat here").await, "written\n");
    assert_eq!(ground.text("here"), "written\n");
}
