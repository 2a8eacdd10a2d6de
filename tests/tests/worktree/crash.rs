//! kill -9 while a worktree is made: the next start leaves nothing of it, and the same request makes it.

use super::tasks::worktree;
use crate::undo::repository::Repository;
use abide_client::protocol::{
    method::{
        ListWorktrees, StartTask,
        task::{OwnWorktree, StartTaskParams},
        worktree::ListWorktreesParams,
    },
    task::Status,
};
use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    world::World,
};
use std::fs;

#[tokio::test]
async fn a_worktree_that_was_being_made_is_gone_and_can_be_made_again() {
    for (point, count) in [(Point::WorktreeNoted, 1), (Point::WorktreeMade, 1), (Point::Append, 1)] {
        let model = ModelServer::start().await;
        let mut daemon = TestDaemon::new(&Config::with(&model));
        let repository = Repository::new(&daemon);
        let before = repository.of_the_person();
        daemon.set_env_once(VARIABLE, &format!("{}:{count}", point.name()));
        let mut world = World::of(model, daemon).await;
        world.model.script("made", [Turn::shell("cat a.txt"), Turn::done("Done.")]);
        let params = StartTaskParams {
            worktree: Some(OwnWorktree { branch: Some("mine".to_owned()) }),
            client_message_id: Some("once".to_owned()),
            ..world.task("made")
        };
        assert!(world.client.call::<StartTask>(params.clone()).await.is_err(), "{point:?}");
        world.daemon.ended().await;
        world.daemon.up().await;
        world.client = world.daemon.client().await;

        let left = world.client.call::<ListWorktrees>(ListWorktreesParams::default()).await.unwrap();
        assert_eq!(left.worktrees, [], "{point:?}");
        let folders = fs::read_dir(world.daemon.home().worktrees_dir()).unwrap().count();
        assert_eq!((folders, repository.git(&["worktree", "list"]).lines().count()), (0, 1), "{point:?}");
        let named = repository.git(&["branch", "--list", "mine"]);
        // The person has named the branch, and it is at their commit.
        let now = repository.of_the_person();
        assert_eq!(before[1..], now[1..], "{point:?} {named}");

        let task = world.begin(params).await;
        assert_eq!(world.wait_end(task).await.status, Status::Completed, "{point:?}");
        assert_eq!(worktree(&world, task).await.branch, "mine", "{point:?}");
    }
}
