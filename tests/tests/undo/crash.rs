//! kill -9 while checkpoints are made and while an undo restores files: nothing is lost, and the undo goes
//! on.

use super::repository::Repository;
use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    wait,
    world::World,
};

/// A world whose daemon dies when it passes this point.
async fn dying_at(point: Point, count: u32) -> (World, Repository) {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    let repository = Repository::new(&daemon);
    daemon.set_env_once(VARIABLE, &format!("{}:{count}", point.name()));
    (World::of(model, daemon).await, repository)
}

async fn restart(world: &mut World) {
    world.daemon.ended().await;
    world.daemon.up().await;
    world.client = world.daemon.client().await;
}

#[tokio::test]
async fn a_checkpoint_that_was_cut_off_is_made_again() {
    for point in [Point::FilesSaved, Point::FilesReferred] {
        // The first checkpoint, then the one after the first step.
        for count in [1, 2] {
            let (mut world, repository) = dying_at(point, count).await;
            let script =
                [Turn::shell("echo more >> a.txt"), Turn::shell("echo more >> b.txt"), Turn::done("Done.")];
            let task = world.run("cut", script).await;
            restart(&mut world).await;
            world.wait_end(task).await;
            let cli = world.daemon.cli();
            let id = task.task_id.to_string();
            wait::wait_until("the last checkpoint", async || {
                cli.run(&["diff", &id]).await.stdout.contains("b.txt")
            })
            .await;
            cli.ok(&["undo", &id, "--all", "--yes"]).await;
            assert_eq!(repository.text("a.txt").unwrap(), "a\n", "{point:?} {count}");
            assert_eq!(repository.text("b.txt").unwrap(), "b\n", "{point:?} {count}");
        }
    }
}

#[tokio::test]
async fn an_undo_that_was_cut_off_goes_on_at_the_next_start() {
    for (point, count) in
        [(Point::UndoBegun, 1), (Point::FileRestored, 1), (Point::FileRestored, 3), (Point::UndoDone, 1)]
    {
        let (mut world, repository) = dying_at(point, count).await;
        let script = [
            Turn::shell("echo more >> a.txt; echo more >> b.txt; rm d/c.txt; echo new > new.txt"),
            Turn::done("Done."),
        ];
        let task = world.run("cut", script).await;
        world.wait_end(task).await;
        let cli = world.daemon.cli();
        let id = task.task_id.to_string();
        let cut = cli.run(&["undo", &id, "--all", "--yes"]).await;
        // Any other error would mean that the undo did not come as far as this point.
        let is_cut =
            ["closed the connection", "connection broke"].iter().any(|words| cut.stderr.contains(words));
        assert!(is_cut, "{point:?} {count}: {cut:?}");
        restart(&mut world).await;
        // Nobody asks again: it was recorded before it began.
        wait::wait_until("the undo to be over", async || {
            cli.ok(&["show", &id, "--history"])
                .await
                .contains("you undid the task's changes: 4 files restored")
        })
        .await;
        assert_eq!(repository.text("a.txt").unwrap(), "a\n", "{point:?}");
        assert_eq!(repository.text("b.txt").unwrap(), "b\n", "{point:?}");
        assert_eq!(repository.text("d/c.txt").unwrap(), "c\n", "{point:?}");
        assert_eq!(repository.text("new.txt"), None, "{point:?}");
        // What was there before the undo is still there, whole.
        cli.ok(&["undo", &id, "--redo", "--all", "--yes"]).await;
        assert_eq!(repository.text("a.txt").unwrap(), "a\nmore\n", "{point:?}");
        assert_eq!(repository.text("new.txt").unwrap(), "new\n", "{point:?}");
        assert_eq!(repository.text("d/c.txt"), None, "{point:?}");
    }
}
