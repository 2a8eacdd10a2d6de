//! What a task has changed is shown and taken back; what a person has changed meanwhile, and git's own,
//! stays.

use super::repository::{Repository, later};
use abide_client::protocol::{
    ErrorKind,
    method::{
        UndoTask,
        conversation::ConversationParams,
        task::{StartTaskParams, TaskChangesParams},
    },
};
use abide_tests::{
    model_server::{Gate, Turn},
    wait,
    world::World,
};
use serde_json::json;
use std::fs;

/// Edits by tool and by command, new files, a deleted one.
fn script() -> [Turn; 5] {
    [
        Turn::new().call("write", json!({ "path": "a.txt", "content": "a\nby the tool\n" })),
        Turn::shell(
            "echo 'by the shell' >> b.txt; mkdir -p new/deep; echo new > new/deep/file; rm d/c.txt; echo z >> x.log",
        ),
        Turn::shell("echo more >> a.txt; printf 'odd' > 'odd\u{202e}name'; git add -A . 2>/dev/null; true"),
        Turn::done("Done."),
        // The next task of the conversation.
        Turn::done("Next."),
    ]
}

#[tokio::test]
async fn all_of_it_is_shown_and_taken_back_but_for_a_person_s_edit() {
    let mut world = World::start().await;
    let repository = Repository::new(&world.daemon);
    let task = world.run("all", script()).await;
    world.wait_end(task).await;
    let id = task.task_id.to_string();
    later(&world, task).await;
    repository.write("b.txt", "b\nby the shell\nby a person\n");
    repository.write("person.txt", "a person's");
    let before = repository.of_the_person();

    let cli = world.daemon.cli();
    let shown = cli.ok(&["diff", &id]).await;
    for line in [
        "+by the tool",
        "+more",
        "+by the shell",
        "-c",
        "added     new/deep/file",
        "deleted   d/c.txt",
        r"odd\u{202e}name",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(shown.contains("b.txt  +2 -0  changed since, not by the task"), "{shown}");
    assert!(!shown.contains("person.txt") && !shown.contains("x.log"), "{shown}");
    let of_step = cli.ok(&["diff", &id, "--step", "3"]).await;
    assert!(of_step.contains("+more") && !of_step.contains("+by the tool"), "{of_step}");

    let asked = cli.run(&["undo", &id]).await;
    assert!(asked.code == Some(2) && asked.stderr.contains("--yes"), "{asked:?}");
    let done = cli.ok(&["undo", &id, "--all", "--yes"]).await;
    assert!(done.contains("4 files restored") && done.contains("kept b.txt: it was changed since"), "{done}");
    assert_eq!(repository.text("a.txt").unwrap(), "a\n");
    assert_eq!(repository.text("d/c.txt").unwrap(), "c\n");
    assert_eq!(repository.text("b.txt").unwrap(), "b\nby the shell\nby a person\n");
    assert_eq!(repository.text("person.txt").unwrap(), "a person's");
    assert!(!repository.folder.join("new").exists());
    assert_eq!(repository.of_the_person(), before);

    // The undo is itself taken back, by the checkpoint that it kept; also by another daemon.
    world.crash_and_restart().await;
    cli.ok(&["undo", &id, "--redo", "--yes"]).await;
    assert_eq!(repository.text("a.txt").unwrap(), "a\nby the tool\nmore\n");
    assert_eq!(repository.text("new/deep/file").unwrap(), "new\n");
    assert!(!repository.folder.join("d/c.txt").exists());
    let again = cli.run(&["undo", &id, "--redo", "--yes"]).await;
    assert!(again.code == Some(1) && again.stderr.contains("there is no undo of it to redo"), "{again:?}");
    assert_eq!(repository.text("a.txt").unwrap(), "a\nby the tool\nmore\n");

    // Only a later step.
    cli.ok(&["undo", &id, "--step", "3", "--all", "--yes"]).await;
    assert_eq!(repository.text("a.txt").unwrap(), "a\nby the tool\n");
    assert_eq!(repository.of_the_person(), before);
    let history = cli.ok(&["show", &id, "--history"]).await;
    assert!(history.contains("you undid the changes from step 3 on"), "{history}");

    // The next task is told.
    let params = StartTaskParams { conversation_id: Some(task.conversation_id), ..world.task("all") };
    world.wait_end(world.begin(params).await).await;
    let request = world.model.requests("all").last().unwrap().text();
    assert!(request.contains("The user has taken back what the task had changed"), "{request}");

    // What is kept goes with the conversation.
    let kept = || fs::read_dir(world.daemon.home().checkpoints_dir()).unwrap().count();
    assert_eq!(kept(), 1);
    let params = ConversationParams { conversation_id: task.conversation_id.to_string() };
    world.client.call::<abide_client::protocol::method::DeleteConversation>(params).await.unwrap();
    assert_eq!(kept(), 0);
    assert_eq!(repository.of_the_person()[0], before[0]);
}

#[tokio::test]
async fn a_task_at_work_is_refused_and_a_paused_one_is_not() {
    let world = World::start().await;
    let repository = Repository::new(&world.daemon);
    let gate = Gate::new("the second reply");
    let script = [Turn::shell("echo more >> a.txt"), Turn::shell("true").gate(&gate), Turn::done("Done.")];
    let task = world.run("live", script).await;
    world.model.wait_for_requests("the second request", "live", |all| all.len() == 2).await;
    let params = || TaskChangesParams {
        task_id: task.task_id.to_string(),
        step: None,
        redo: false,
        all: true,
        files: Vec::new(),
        hunk: None,
    };
    let refused = world.client.call::<UndoTask>(params()).await.unwrap_err();
    let refused = refused.daemon().unwrap();
    assert_eq!(refused.kind(), ErrorKind::TaskRunning);
    assert!(refused.to_string().contains("pause it or stop it first"), "{refused}");
    assert_eq!(repository.text("a.txt").unwrap(), "a\nmore\n");

    world.pause(task).await;
    gate.open();
    world
        .wait("a task at rest", task, |task| task.status == abide_client::protocol::task::Status::Paused)
        .await;
    wait::wait_until("the undo to be accepted", async || {
        world.client.call::<UndoTask>(params()).await.is_ok()
    })
    .await;
    assert_eq!(repository.text("a.txt").unwrap(), "a\n");
    world.resume(task).await;
    world.wait_end(task).await;
    let last = world.model.requests("live").last().unwrap().text();
    assert!(last.contains("The user has taken back"), "{last}");
}
