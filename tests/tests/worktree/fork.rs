//! A sub-task in a worktree of its own.

use crate::undo::repository::Repository;
use abide_client::protocol::{
    method::{ListWorktrees, worktree::ListWorktreesParams},
    task::Status,
};
use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    world::World,
};
use serde_json::json;

const COMMIT: &str = "git add -A && git -c user.name=T -c user.email=t@localhost commit -qm";

/// It forks, waits, and merges what the sub-task has committed.
fn scripts(world: &World) {
    let fork = json!({ "prompt": "[k:child] Change a.txt.", "worktree": true });
    world.model.script(
        "parent",
        [
            Turn::new().call("fork", fork),
            Turn::new().call("wait", json!({})),
            Turn::shell("cat a.txt; git merge -q $(git branch --format='%(refname:short)' --list 'abide/*'); cat a.txt"),
            Turn::done("Done."),
        ],
    );
    world.model.script(
        "child",
        [Turn::shell(&format!("echo by the child >> a.txt; {COMMIT} child")), Turn::done("Committed.")],
    );
}

#[tokio::test]
async fn it_commits_to_its_own_branch_which_its_parent_merges() {
    let world = World::start().await;
    let repository = Repository::new(&world.daemon);
    scripts(&world);
    let task = world.begin(world.task("parent")).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(repository.text("a.txt").as_deref(), Some("a\nby the child\n"));
    let all = world.client.call::<ListWorktrees>(ListWorktreesParams::default()).await.unwrap().worktrees;
    assert_eq!(all.len(), 1, "{all:?}");
    let child = all[0].task_id.unwrap();
    assert_eq!((all[0].files, all[0].commits), (0, 0), "it is merged: {all:?}");
    let asked = world.model.requests("child")[0].text();
    assert!(asked.contains(&all[0].path) && asked.contains(&all[0].branch), "{asked}");
    let told = world.model.last_request("parent").unwrap().text();
    assert!(told.contains(&child.short()) && told.contains(&all[0].branch), "{told}");
    world.daemon.cli().ok(&["worktree", "remove", &child.to_string()]).await;
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn a_fork_that_a_crash_has_cut_off_starts_one_sub_task() {
    for point in [Point::WorktreeNoted, Point::WorktreeMade] {
        let model = ModelServer::start().await;
        let mut daemon = TestDaemon::new(&Config::with(&model));
        let repository = Repository::new(&daemon);
        daemon.set_env_once(VARIABLE, &format!("{}:1", point.name()));
        let mut world = World::of(model, daemon).await;
        scripts(&world);
        let task = world.begin(world.task("parent")).await;
        world.daemon.ended().await;
        world.daemon.up().await;
        world.client = world.daemon.client().await;
        let end = world.wait_end(task).await;
        assert_eq!((end.status, end.children.len()), (Status::Completed, 1), "{point:?}");
        assert_eq!(repository.text("a.txt").as_deref(), Some("a\nby the child\n"), "{point:?}");
        assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 2, "{point:?}");
    }
}
