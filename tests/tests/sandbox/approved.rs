//! What leaves the sandbox can do its work, with the files that the person was asked about, or does nothing.

use crate::undo::repository::Repository;
use abide_client::{
    CallError,
    protocol::{
        ErrorKind,
        inbox::{Approval, Decision, Pending},
        method::{DecideApproval, inbox::DecideApprovalParams, task::StartTaskReply},
        task::{AgentTask, Status},
    },
};
use abide_tests::{model_server::Turn, world::World};
use std::{fs, path::Path};

async fn approval(world: &World, task: StartTaskReply) -> Approval {
    match &world.pending(task).await[..] {
        [Pending::Approval(approval)] => approval.clone(),
        pending => panic!("one approval: {pending:?}"),
    }
}

#[tokio::test]
async fn a_script_that_is_rewritten_while_its_approval_is_open_does_not_run() {
    let world = World::beneath(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let _repository = Repository::new(&world.daemon);
    fs::write(world.daemon.workspace().join("deploy.sh"), "true\n").unwrap();
    let owned = world.daemon.root().join("owned");
    let deploy = || Turn::outside("bash deploy.sh");
    let deploys = world.run_asking("deploys", [deploy(), deploy(), Turn::done("Done.")]).await;
    world.wait_status(deploys, Status::WaitingApproval).await;
    let asked = approval(&world, deploys).await;
    assert_eq!(
        asked.files.iter().map(|file| (file.path.as_str(), file.bytes)).collect::<Vec<_>>(),
        [("deploy.sh", 5)]
    );
    let always = DecideApprovalParams {
        approval_id: asked.id.to_string(),
        decision: Decision::AllowAlways,
        note: None,
        rule: None,
    };
    let refused = world.client.call::<DecideApproval>(always).await.expect_err("it is not offered");
    assert!(
        refused.to_string().contains("it names `deploy.sh`, which other calls could change"),
        "{refused}"
    );
    let CallError::Daemon(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.kind(), ErrorKind::InvalidParams);
    let inbox = world.daemon.cli().ok(&["inbox"]).await;
    assert!(
        inbox.contains("only if: deploy.sh (5 bytes, sha256 ")
            && inbox.contains("\"always\" is not possible"),
        "{inbox}"
    );

    let rewrite = Turn::shell(&format!("echo 'touch {}' > deploy.sh", owned.display()));
    let rewrites = world.run_asking("rewrites", [rewrite, Turn::done("Rewritten.")]).await;
    assert_eq!(world.wait_end(rewrites).await.status, Status::Completed, "it is not asked about");
    world.decide(deploys, Decision::AllowOnce).await;
    let again = |task: &AgentTask| task.step_count == 2 && task.status == Status::WaitingApproval;
    world.wait("the second call to ask", deploys, again).await;
    assert!(!owned.exists());
    let told = world.model.requests("deploys").pop().unwrap().text();
    assert!(
        told.contains("`deploy.sh` was changed since the user was asked") && told.contains("nothing ran"),
        "{told}"
    );

    // This one the person has been asked about.
    assert_ne!(approval(&world, deploys).await.files, asked.files);
    world.decide(deploys, Decision::AllowOnce).await;
    world.wait_end(deploys).await;
    assert!(owned.exists());
}

#[tokio::test]
async fn an_approved_push_reaches_its_remote() {
    let world = World::start().await;
    let repository = Repository::new(&world.daemon);
    let remote = world.daemon.root().join("remote.git").display().to_string();
    repository.git(&["init", "-q", "--bare", &remote]);
    repository.git(&["remote", "add", "origin", &remote]);
    let task = world.run_asking("pushes", [Turn::shell("git push origin main"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    let asked = approval(&world, task).await;
    let why = asked.why.unwrap();
    assert!(why.starts_with("it must leave the sandbox: `git push` reaches another machine"), "{why}");
    let inbox = world.daemon.cli().ok(&["inbox"]).await;
    assert!(inbox.contains("none: it can do all that you can"), "{inbox}");
    world.decide(task, Decision::AllowOnce).await;
    world.wait_end(task).await;
    assert_eq!(
        repository.git(&["ls-remote", "origin", "main"]).split('\t').next(),
        Some(repository.git(&["rev-parse", "main"]).trim())
    );
}
