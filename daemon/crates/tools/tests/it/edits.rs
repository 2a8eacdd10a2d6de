//! Edits are assessed against a file, and made only if the file has not changed.

use crate::{ground::Ground, sandbox::repository};
use abide_protocol::{inbox::Changed, message::CallOutcome, record::Permission, task::Approvals};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt as _};

fn names(ground: &Ground) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(ground.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_replaced_as_a_whole_and_keeps_its_mode() {
    let ground = Ground::new();
    let created = ground.call("write", json!({"path": "run.sh", "content": "one\n"})).await;
    assert_eq!(created.result.message, "run.sh written (1 line)");
    fs::set_permissions(ground.path("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    // A program that has it open still reads the old content.
    let open = fs::File::open(ground.path("run.sh")).unwrap();
    let replaced = ground.call("write", json!({"path": "run.sh", "content": "two\nthree"})).await;
    assert_eq!(replaced.result.message, "run.sh written (2 lines)");
    assert_eq!(std::io::read_to_string(open).unwrap(), "one\n");
    assert_eq!(ground.text("run.sh"), "two\nthree");
    assert_eq!(fs::metadata(ground.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(names(&ground), ["run.sh"], "nothing else is left");
}

#[test]
fn an_assessment_shows_the_change_and_its_hashes() {
    let ground = Ground::new();
    fs::write(ground.path("f"), "a\nb\nc\n").unwrap();
    let assessed = ground.assess_one("patch", json!({"path": "f", "old": "b\n", "new": "B\n"}));
    assert_eq!(assessed.summary, "patch f (1 line for 1)");
    let preview = assessed.preview.unwrap();
    assert_eq!(preview.path, "f");
    assert_eq!(preview.diff, "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    let edit = assessed.edit.unwrap();
    // sha256sum
    let before = "880553fca8fcea94e325ee2cfb48e5a985cc797f39a14cc6d3cedecfeb2ae4d2";
    let after = "4c6508965080889a0cd0250e5816021ff3b87c1c95891251f9642b67c42c8137";
    assert_eq!((edit.before.as_deref(), edit.after.as_str()), (Some(before), after));
    let new = ground.assess_one("write", json!({"path": "new", "content": "x\n"}));
    assert_eq!(new.preview.unwrap().diff, "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(new.edit.unwrap().before, None);
    let huge = ground.assess_one("write", json!({"path": "huge", "content": "line\n".repeat(100_000)}));
    let preview = huge.preview.unwrap();
    assert!(preview.diff.chars().count() < 49_000);
    assert_eq!(preview.changed, Some(Changed { added: 100_000, removed: 0 }), "also what was cut is counted");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_reply_see_each_others_edits() {
    let ground = Ground::new();
    fs::write(ground.path("f"), "one").unwrap();
    let assessed = ground.assess(&[
        ("patch", json!({"path": "f", "old": "one", "new": "two"})),
        ("patch", json!({"path": "./f", "old": "two", "new": "three"})),
        ("create_dir", json!({"path": "a/b"})),
        ("write", json!({"path": "a/b/new", "content": "x"})),
        ("patch", json!({"path": "a/b/new", "old": "x", "new": "y"})),
        ("patch", json!({"path": "f", "old": "one", "new": "never"})),
        ("write", json!({"path": "a", "content": "x"})),
        ("create_dir", json!({"path": "a/b/new/c"})),
    ]);
    assert_eq!(
        assessed[1].edit.as_ref().unwrap().before,
        Some(assessed[0].edit.as_ref().unwrap().after.clone())
    );
    let denied: Vec<bool> = assessed.iter().map(|p| matches!(p.permission, Permission::Denied(_))).collect();
    assert_eq!(denied, [false, false, false, false, false, true, true, true]);
    for assessed in assessed.into_iter().take(5) {
        let finished = ground.finish(assessed).await;
        assert!(finished.result.ok, "{}", finished.result.message);
    }
    assert_eq!(ground.text("f"), "three");
    assert_eq!(ground.text("a/b/new"), "y");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_changed_since_the_assessment_is_not_overwritten() {
    let ground = Ground::new();
    fs::write(ground.path("f"), "one").unwrap();
    let write = ground.assess_one("write", json!({"path": "f", "content": "two"}));
    let patch = ground.assess_one("patch", json!({"path": "f", "old": "one", "new": "two"}));
    let new = ground.assess_one("write", json!({"path": "new", "content": "two"}));
    fs::write(ground.path("f"), "one, and more").unwrap();
    fs::write(ground.path("new"), "somebody's").unwrap();
    for assessed in [write, patch, new] {
        let finished = ground.finish(assessed).await;
        assert_eq!((finished.outcome, finished.result.ok), (CallOutcome::Done, false));
        assert!(finished.result.message.contains("nothing was written"), "{}", finished.result.message);
    }
    assert_eq!((ground.text("f").as_str(), ground.text("new").as_str()), ("one, and more", "somebody's"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_whose_content_is_there_already_is_a_success() {
    let ground = Ground::new();
    fs::write(ground.path("f"), "one").unwrap();
    let assessed = ground.assess_one("patch", json!({"path": "f", "old": "one", "new": "two"}));
    fs::write(ground.path("f"), "two").unwrap();
    let finished = ground.finish(assessed).await;
    assert!(finished.result.ok);
    assert_eq!(finished.result.message, "f already has the new content");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_are_made_by_their_own_tool() {
    let ground = Ground::new();
    for words in ["the folder a/b is created", "the folder a/b already exists"] {
        let finished = ground.call("create_dir", json!({"path": "a/b"})).await;
        assert_eq!((finished.result.ok, finished.result.message.as_str()), (true, words));
    }
    fs::write(ground.path("file"), "").unwrap();
    let finished = ground.call("create_dir", json!({"path": "file"})).await;
    assert_eq!((finished.result.ok, finished.result.message.as_str()), (false, "file is not a folder"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_brings_the_folders_above_it() {
    let ground = Ground::new();
    let written = ground.call("write", json!({"path": "a/b/f", "content": "x"})).await;
    assert_eq!((written.result.ok, written.result.message.as_str()), (true, "a/b/f written (1 line)"));
    assert_eq!(ground.text("a/b/f"), "x");
    fs::write(ground.path("file"), "").unwrap();
    let denied: Vec<bool> = ground
        .assess(&[
            ("write", json!({"path": "file/f", "content": "x"})),
            ("write", json!({"path": "c/d", "content": "x"})),
            ("write", json!({"path": "c/d/f", "content": "x"})),
            ("write", json!({"path": "c", "content": "x"})),
            ("patch", json!({"path": "c/e", "old": "x", "new": "y"})),
        ])
        .iter()
        .map(|assessed| matches!(assessed.permission, Permission::Denied(_)))
        .collect();
    assert_eq!(denied, [true, false, true, true, true]);
}

/// Where an edit would not ask otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_file_and_one_with_other_names_ask_and_say_why() {
    let mut ground = repository();
    fs::write(ground.path("f"), "one").unwrap();
    fs::hard_link(ground.path("f"), ground.path("other")).unwrap();
    fs::write(ground.path("locked"), "one").unwrap();
    fs::set_permissions(ground.path("locked"), fs::Permissions::from_mode(0o444)).unwrap();
    let calls = [
        ("write", json!({"path": "f", "content": "two"})),
        ("patch", json!({"path": "locked", "old": "one", "new": "two"})),
        // It has one name after the first call.
        ("patch", json!({"path": "f", "old": "two", "new": "three"})),
    ];
    ground.approvals = Approvals::Ask;
    let asked = ground.assess(&calls);
    let links = "the file has 2 names (hard links): this one gets the new content, the other keeps the old";
    for (assessed, why) in asked.iter().zip([links, "the file is read-only (mode 444)"]) {
        assert_eq!((&assessed.permission, assessed.why.as_deref()), (&Permission::Ask, Some(why)));
        assert!(!assessed.in_passing, "its summary does not say so");
    }
    assert_eq!(asked[2].permission, Permission::Sandbox);

    ground.approvals = Approvals::Allow;
    for assessed in ground.assess(&calls[..2]) {
        assert_eq!(assessed.permission, Permission::Yes);
        assert!(ground.finish(assessed).await.result.ok);
    }
    assert_eq!((ground.text("f").as_str(), ground.text("other").as_str()), ("two", "one"));
    assert_eq!(ground.text("locked"), "two");
    assert_eq!(fs::metadata(ground.path("locked")).unwrap().permissions().mode() & 0o777, 0o444);
}
