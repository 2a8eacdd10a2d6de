//! What is found out about calls that a crash interrupted.

use crate::{
    ground::{CONVERSATION, Ground, call_id, processes, token, wait_until},
    tree::Daemon,
};
use abide_tools::{EditState, Inspection};
use serde_json::json;
use std::{collections::BTreeSet, fs};

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_command_is_gone_and_its_output_is_there() {
    let (ground, token, call) = (Ground::new(), token(), call_id());
    let command = format!("echo so far; setsid sleep {token} & sleep {token}");
    let daemon = Daemon::start(&ground, call, &command);
    let spool = ground.root().join("spool").join(format!("{call}-1.out"));
    wait_until("it has printed", || fs::read_to_string(&spool).is_ok_and(|text| text == "so far\n")).await;
    wait_until("both sleep", || processes(&token).len() == 2).await;
    daemon.kill();
    let assessed = ground.assess_one("shell", json!({ "command": command }));
    let (tools, workspace) = (ground.tools.clone(), ground.workspace());
    let look = move || tools.inspect(CONVERSATION, call, 1, &assessed, &workspace);
    let inspection = tokio::task::spawn_blocking(look).await.unwrap();
    assert_eq!(processes(&token), Vec::<u32>::new(), "nothing may run when it is said to be over");
    assert_eq!(inspection, Inspection { output: "so far\n".to_owned(), edit: EditState::NotAnEdit });

    ground.tools.drop_kept(&[call].into()).unwrap();
    assert_eq!(fs::read_dir(ground.root().join("spool")).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_helper_hangs_is_ended_without_it() {
    let (ground, token, call) = (Ground::unconfined(), token(), call_id());
    let command = format!("setsid sleep {token} & kill -STOP $PPID; sleep {token}");
    let daemon = Daemon::start(&ground, call, &command);
    wait_until("both sleep", || processes(&token).len() == 2).await;
    daemon.kill();
    let assessed = ground.assess_one("shell", json!({ "command": command }));
    let inspection = ground.tools.inspect(CONVERSATION, call, 1, &assessed, &ground.workspace());
    assert_eq!(inspection.edit, EditState::NotAnEdit);
    assert_eq!(processes(&token), Vec::<u32>::new());
}

#[test]
fn kept_output_is_listed_and_removed_and_nothing_else() {
    let ground = Ground::new();
    let (ended, open) = (call_id(), call_id());
    let spool = ground.root().join("spool");
    for name in
        [format!("{ended}-1.out"), format!("{ended}-12.json"), format!("{open}-1.out"), "a-letter".to_owned()]
    {
        fs::write(spool.join(name), "x").unwrap();
    }
    assert_eq!(ground.tools.kept().unwrap().into_iter().collect::<BTreeSet<_>>(), [ended, open].into());
    ground.tools.drop_kept(&[ended].into()).unwrap();
    assert_eq!(ground.tools.kept().unwrap(), [open]);
    assert!(spool.join("a-letter").exists());
}

#[test]
fn a_call_that_never_began_has_no_output() {
    let ground = Ground::new();
    let assessed = ground.assess_one("shell", json!({"command": "true"}));
    let inspection = ground.tools.inspect(CONVERSATION, assessed.call_id, 1, &assessed, &ground.workspace());
    assert_eq!(inspection, Inspection { output: String::new(), edit: EditState::NotAnEdit });
}

#[test]
fn an_edit_is_not_done_done_or_unknown() {
    let ground = Ground::new();
    let state =
        |assessed: &_| ground.tools.inspect(CONVERSATION, call_id(), 1, assessed, &ground.workspace()).edit;
    let new = ground.assess_one("write", json!({"path": "new", "content": "x"}));
    assert_eq!(state(&new), EditState::NotDone);
    fs::write(ground.path("new"), "x").unwrap();
    assert_eq!(state(&new), EditState::Done);
    fs::write(ground.path("new"), "y").unwrap();
    assert_eq!(state(&new), EditState::Unknown);

    let patch = ground.assess_one("patch", json!({"path": "new", "old": "y", "new": "z"}));
    assert_eq!(state(&patch), EditState::NotDone);
    fs::remove_file(ground.path("new")).unwrap();
    assert_eq!(state(&patch), EditState::Unknown);

    let beneath = ground.assess_one("write", json!({"path": "c/d/new", "content": "x"}));
    fs::create_dir(ground.path("c")).unwrap();
    assert_eq!(state(&beneath), EditState::NotDone, "its folders were being made");
    fs::create_dir(ground.path("c/d")).unwrap();
    fs::write(ground.path("c/d/new"), "x").unwrap();
    assert_eq!(state(&beneath), EditState::Done);

    let folder = ground.assess_one("create_dir", json!({"path": "a/b"}));
    assert_eq!(state(&folder), EditState::NotDone);
    fs::create_dir_all(ground.path("a/b")).unwrap();
    assert_eq!(state(&folder), EditState::Done);
}

#[test]
fn a_temporary_file_left_by_a_crash_is_removed() {
    let ground = Ground::new();
    let assessed = ground.assess_one("write", json!({"path": "f", "content": "x"}));
    let left = ground.path(&format!(".abide-{}-1.new", assessed.call_id));
    fs::write(&left, "half").unwrap();
    assert_eq!(
        ground.tools.inspect(CONVERSATION, assessed.call_id, 1, &assessed, &ground.workspace()).edit,
        EditState::NotDone
    );
    assert!(!left.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_interrupted_command_has_left_for_others_to_run_is_set_aside() {
    let (ground, call) = (Ground::new(), call_id());
    fs::create_dir(ground.path(".claude")).unwrap();
    let command =
        "git init -q sub && git -C sub config core.fsmonitor ./evil && touch .envrc && echo made; sleep 600";
    let daemon = Daemon::start(&ground, call, command);
    let spool = ground.root().join("spool").join(format!("{call}-1.out"));
    wait_until("it has made all", || fs::read_to_string(&spool).is_ok_and(|text| text == "made\n")).await;
    daemon.kill();
    let assessed = ground.assess_one("shell", json!({ "command": command }));
    let inspection = ground.tools.inspect(CONVERSATION, call, 1, &assessed, &ground.workspace());
    assert!(
        inspection.output.contains("core.fsmonitor") && inspection.output.contains("`.envrc`"),
        "{inspection:?}"
    );
    assert!(!ground.text("sub/.git/config").contains("fsmonitor") && !ground.path(".envrc").exists());
    assert!(ground.path(".claude").exists(), "it was there before");
}
