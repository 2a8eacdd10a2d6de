//! Tasks with git worktrees of their own.

use crate::undo::repository::Repository;
use abide_client::protocol::{
    method::{
        DeleteConversation, GetConversation, ListWorktrees,
        conversation::ConversationParams,
        task::{OwnWorktree, StartTaskParams, StartTaskReply},
        worktree::{ListWorktreesParams, Worktree},
    },
    task::Status,
};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    world::World,
};
use std::{fs, path::Path};

const COMMIT: &str = "git add -A && git -c user.name=T -c user.email=t@localhost commit -qm";

/// Starts a task of this script in a worktree.
pub(super) async fn begin(world: &World, key: &str, script: Vec<Turn>) -> StartTaskReply {
    world.model.script(key, script);
    world.begin(StartTaskParams { worktree: Some(OwnWorktree::default()), ..world.task(key) }).await
}

pub(super) async fn worktree(world: &World, task: StartTaskReply) -> Worktree {
    let worktree = Some(task.conversation_id.to_string());
    let mut found = world.client.call::<ListWorktrees>(ListWorktreesParams { worktree }).await.unwrap();
    found.worktrees.pop().unwrap()
}

#[tokio::test]
async fn two_tasks_in_one_repository_do_not_see_each_other_and_a_merge_brings_the_commits() {
    let world = World::start().await;
    let repository = Repository::new(&world.daemon);
    repository.git(&["commit", "-qm", "nothing is staged"]);
    let worktrees = world.daemon.home().worktrees_dir();
    let script = |name: &str| {
        vec![
            Turn::shell(&format!("echo {name} > {name}.txt; ls {}", worktrees.display())),
            Turn::ask("Go on?"),
            Turn::shell(&format!("ls; {COMMIT} {name}")),
            Turn::done("Done."),
        ]
    };
    let one = begin(&world, "one", script("one")).await;
    let two = begin(&world, "two", script("two")).await;
    assert_eq!((one.beside, two.beside), (None, None), "each has its own");
    for task in [one, two] {
        world.wait_status(task, Status::WaitingUser).await;
    }
    for task in [one, two] {
        world.answer(task, Some("yes")).await;
        world.wait_end(task).await;
    }
    let cli = world.daemon.cli();
    for (task, own, other, another) in [(one, "one.txt", "two.txt", two), (two, "two.txt", "one.txt", one)] {
        let id = task.task_id.to_string();
        let shown = cli.ok(&["messages", &id, "--output"]).await;
        assert!(shown.contains(own) && !shown.contains(other), "{shown}");
        assert!(
            !shown.contains(&another.conversation_id.to_string()),
            "its folder is not even listed: {shown}"
        );
        let diff = cli.ok(&["diff", &id]).await;
        assert!(diff.contains(own) && !diff.contains(other), "{diff}");
    }
    assert_eq!(repository.text("one.txt"), None);

    // The person merges the one, at their terminal.
    let (first, second) = (worktree(&world, one).await, worktree(&world, two).await);
    assert_eq!((first.files, first.commits), (0, 1), "{first:?}");
    let listed = cli.ok(&["worktree"]).await;
    assert!(listed.contains(&first.branch) && listed.contains("1 commit"), "{listed}");
    let merged = cli
        .clone()
        .env("GIT_AUTHOR_NAME", "P")
        .env("GIT_AUTHOR_EMAIL", "p@localhost")
        .env("GIT_COMMITTER_NAME", "P")
        .env("GIT_COMMITTER_EMAIL", "p@localhost")
        .ok(&["worktree", "merge", &one.task_id.to_string()])
        .await;
    assert!(merged.contains("merged and removed"), "{merged}");
    assert_eq!(repository.text("one.txt").as_deref(), Some("one\n"));
    assert!(!Path::new(&first.path).exists() && Path::new(&second.path).exists());
    assert!(!repository.git(&["branch"]).contains(&first.branch));
    // Its conversation goes on in the person's work tree.
    let named = ConversationParams { conversation_id: one.conversation_id.to_string() };
    let known = world.client.call::<GetConversation>(named).await.unwrap().conversation;
    assert_eq!(known.workspace, world.daemon.workspace().to_str().unwrap());
}

#[tokio::test]
async fn what_a_worktree_alone_has_is_not_lost_whoever_removes_it() {
    let world = World::start().await;
    let repository = Repository::new(&world.daemon);
    let script = vec![Turn::shell("echo new > new.txt"), Turn::ask("Go on?"), Turn::done("Done.")];
    let task = begin(&world, "kept", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    let (cli, id) = (world.daemon.cli(), task.task_id.to_string());
    let remove = ["worktree", "remove", &id];
    let refused = cli.run(&remove).await;
    assert!(refused.stderr.contains("works in this worktree"), "{refused:?}");
    world.answer(task, Some("yes")).await;
    world.wait_end(task).await;

    for command in [&remove[..], &["worktree", "merge", &id]] {
        let refused = cli.run(command).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("1 file"), "{refused:?}");
    }
    let named = ConversationParams { conversation_id: task.conversation_id.to_string() };
    let refused = world.client.call::<DeleteConversation>(named.clone()).await.unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("1 file that no commit has (new.txt)"), "{refused}");
    let refused = cli.run(&["daemon", "uninstall", "--purge", "--yes"]).await;
    assert!(refused.stderr.contains("1 git worktree"), "{refused:?}");
    let worktree = worktree(&world, task).await;
    assert_eq!(fs::read_to_string(Path::new(&worktree.path).join("new.txt")).unwrap(), "new\n");

    cli.ok(&["undo", &id, "--yes"]).await;
    world.client.call::<DeleteConversation>(named).await.unwrap();
    assert!(!Path::new(&worktree.path).exists());
    assert!(!repository.git(&["branch"]).contains(&worktree.branch));
}

#[tokio::test]
async fn the_setup_is_a_command_of_the_task_and_its_failure_loses_nothing() {
    let model = ModelServer::start().await;
    let config =
        Config::with(&model).worktree("setup = \"cat .env; echo broken; exit 3\"\ncopy = [\".env\"]");
    let world = World::configured(model, &config).await;
    let repository = Repository::new(&world.daemon);
    repository.write(".env", "SECRET=1\n");
    let task = begin(&world, "setup", vec![Turn::shell("cat .env"), Turn::done("Done.")]).await;
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    let calls = world.get(task).await.calls;
    assert!(calls[0].summary.contains("echo broken"), "{calls:?}");
    let shown = world.daemon.cli().ok(&["messages", &task.task_id.to_string(), "--output"]).await;
    assert!(shown.contains("broken") && shown.contains("SECRET=1"), "{shown}");
    let asked = world.model.requests("setup")[0].text();
    assert!(asked.contains("broken"), "the model is told: {asked}");
}

#[tokio::test]
async fn a_second_task_in_a_work_tree_is_told_of_the_first() {
    let world = World::start().await;
    let repository = Repository::new(&world.daemon);
    let first = world.run("first", [Turn::ask("Go on?"), Turn::done("Done.")]).await;
    assert_eq!(first.beside, None);
    world.wait_status(first, Status::WaitingUser).await;
    world.model.script("second", [Turn::done("Done.")]);
    let deep = world.daemon.cli().from(&repository.folder.join("d"));
    let told = deep.run(&["run", "--mode", "agent", "[k:second] Look."]).await;
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.stderr.contains(&first.task_id.short()) && told.stderr.contains("--worktree"), "{told:?}");
    world.model.script("third", [Turn::done("Done.")]);
    let own = deep.run(&["run", "--worktree=mine", "--mode", "agent", "[k:third] Look."]).await;
    assert!(!own.stderr.contains(&first.task_id.short()), "{own:?}");
    assert!(own.stderr.contains("works on the branch mine"), "{own:?}");
    assert!(repository.git(&["branch"]).contains("mine"));
    world.stop(first).await;
}
