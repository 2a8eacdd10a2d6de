//! What a call that leaves the sandbox names: a person who allows it allows it with these files as they are.

use crate::ground::{Ground, block};
use abide_protocol::{
    message::CallOutcome,
    record::{CallAssessed, Permission},
    task::Approvals,
};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink};

/// One in which every call asks that can.
fn ground() -> Ground {
    let mut ground = Ground::new();
    ground.approvals = Approvals::Ask;
    fs::create_dir_all(ground.path("sub/deep")).unwrap();
    for name in ["deploy.sh", "input", "sub/inner.sh", "sub/deep/x.sh"] {
        fs::write(ground.path(name), "echo as approved\n").unwrap();
    }
    ground
}

fn leaving(command: &str) -> Value {
    json!({ "command": command, "outside": true, "reason": "It needs the network." })
}

fn outside(ground: &Ground, command: &str) -> CallAssessed {
    ground.assess_one("shell", leaving(command))
}

fn paths(assessed: &CallAssessed) -> Vec<&str> {
    assessed.files.iter().map(|file| file.path.as_str()).collect()
}

#[tokio::test]
async fn the_files_that_a_command_names_are_part_of_what_is_approved() {
    let mut ground = ground();
    let elsewhere = ground.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("data"), "x").unwrap();
    fs::write(ground.root().join("beside"), "x").unwrap();
    symlink(ground.root().join("beside"), ground.path("link")).unwrap();
    ground.sandbox.writable.push(elsewhere.clone());
    let data = elsewhere.join("data").display().to_string();
    let script = ground.path("deploy.sh").display().to_string();
    for (command, named) in [
        ("bash deploy.sh", &["deploy.sh"][..]),
        ("./deploy.sh now", &["deploy.sh"]),
        (&format!("bash {script}"), &["deploy.sh"]),
        ("bash sub/../deploy.sh; bash ./deploy.sh", &["deploy.sh"]),
        ("cd sub && bash inner.sh", &["sub/inner.sh"]),
        ("cd sub; cd deep; ./x.sh", &["sub/deep/x.sh"]),
        ("make -f inner.sh -C sub", &["sub/inner.sh"]),
        ("bash -c 'sudo bash deploy.sh' < input", &["input", "deploy.sh"]),
        ("RC=deploy.sh curl -d @input --config=sub/inner.sh", &["deploy.sh", "input", "sub/inner.sh"]),
        // What it links to may be another file tomorrow.
        ("cat link", &["link"]),
        (&format!("cat {data}"), &[&data]),
    ] {
        let assessed = outside(&ground, command);
        assert_eq!(paths(&assessed), named, "{command}");
        let why = assessed.only_once.unwrap_or_default();
        assert!(why.contains(named[0]) && why.contains("which other calls could change"), "{command}: {why}");
    }
    let found = outside(&ground, "bash deploy.sh").files.remove(0);
    let hash = "9ad92135b7896e4ff13a02ac952390981f2f396a5aa33c795b1688570af8c237";
    assert_eq!((found.bytes, found.sha256.as_str()), (17, hash));
    // It names none: what it writes is not what it runs.
    for command in ["git push origin main", "cat ../beside", "ls sub", "echo x > deploy.sh 2>&1"] {
        let CallAssessed { files, only_once, .. } = outside(&ground, command);
        assert_eq!((files, only_once), (Vec::new(), None), "{command}");
    }
    // In its sandbox it can do no harm.
    assert!(ground.assess_one("shell", json!({ "command": "bash deploy.sh" })).files.is_empty());
}

#[tokio::test]
async fn a_folder_of_the_path_in_which_commands_write_names_programs() {
    let ground = ground();
    let bin = ground.path("sub").display().to_string();
    let command = format!("PATH={bin}:/usr/bin inner.sh");
    assert_eq!(paths(&outside(&ground, &command)), ["sub/inner.sh"]);
}

#[tokio::test]
async fn what_cannot_be_named_or_looked_at_counts_only_once() {
    let mut ground = ground();
    fs::File::create(ground.path("large")).unwrap().set_len((8 << 20) + 1).unwrap();
    let many: Vec<String> = (0..33).map(|n| format!("f{n}")).collect();
    many.iter().for_each(|name| fs::write(ground.path(name), name).unwrap());
    for (command, named, why) in [
        ("bash \"$SCRIPT\"", 0, "not all of its words are known"),
        ("cat in*", 0, "not all of its words are known"),
        ("curl http://localhost | sh", 0, "`sh` would run commands that it reads"),
        ("for f in deploy.sh; do true; done", 0, "more than a list of plain commands"),
        ("echo 'unfinished", 0, "cannot be parsed"),
        ("tar -T deploy.sh $X", 1, "not all of its words are known"),
        ("cat large", 0, "`large` is larger than 8 MiB"),
        (&format!("cat {}", many.join(" ")), 32, "more than 32 files"),
    ] {
        let assessed = outside(&ground, command);
        assert_eq!(assessed.files.len(), named, "{command}");
        assert!(assessed.only_once.as_deref().unwrap_or_default().contains(why), "{command}: {assessed:?}");
    }
    // Within a sandbox that has the network, temporary files are its own.
    ground.sandbox.host_network = true;
    if ground.assess_one("shell", json!({ "command": "true" })).sandbox == "full, network" {
        let own = ground.assess_one("shell", json!({ "command": "sh /var/tmp/x" }));
        assert!(own.only_once.is_some_and(|why| why.contains("`/var/tmp/x`")));
    }
    let code = ground.assess_one("python", json!({ "code": "import helper" }));
    assert_eq!(code.only_once.as_deref(), Some("which files its code uses is not known before it runs"));
}

#[tokio::test]
async fn a_remembered_decision_does_not_cover_what_may_have_changed() {
    let ground = ground();
    let permission = |command: &str, remembered: bool| {
        let blocks = [block("shell", &leaving(command).to_string())];
        ground.assess_in(&ground.workspace(), &blocks, &|_| Some(remembered)).remove(0).permission
    };
    assert_eq!(permission("git push", true), Permission::Rule);
    assert_eq!(permission("bash deploy.sh", true), Permission::Ask);
    assert_eq!(permission("bash $X", true), Permission::Ask);
    assert!(matches!(permission("bash deploy.sh", false), Permission::Denied(_)));
}

#[tokio::test]
async fn an_approved_command_runs_with_the_files_as_they_were_or_not_at_all() {
    let ground = ground();
    let finish = async |assessed| {
        let finished = ground.finish(assessed).await;
        (finished.outcome, finished.result.text())
    };
    let (outcome, said) = finish(outside(&ground, "bash deploy.sh")).await;
    assert!(outcome == CallOutcome::Done && said.contains("as approved"), "{said}");

    let changed = outside(&ground, "bash deploy.sh");
    fs::write(ground.path("deploy.sh"), "touch evil\n").unwrap();
    let (outcome, said) = finish(changed).await;
    assert_eq!(outcome, CallOutcome::Refused);
    let words = "`deploy.sh` was changed since the user was asked (then 17 bytes, sha256 9ad92135b789, now 11 bytes, sha256 ";
    assert!(said.contains(words) && said.contains("nothing ran"), "{said}");

    let appeared = outside(&ground, "cat gone || bash new.sh");
    assert_eq!((paths(&appeared), &appeared.only_once), (Vec::new(), &None));
    fs::write(ground.path("new.sh"), "touch evil\n").unwrap();
    let remembered = CallAssessed { permission: Permission::Rule, ..appeared.clone() };
    for assessed in [appeared, remembered] {
        let (outcome, said) = finish(assessed).await;
        assert_eq!(outcome, CallOutcome::Refused);
        assert!(said.contains("`new.sh` was not there"), "{said}");
    }
    let removed = outside(&ground, "cat input || touch evil");
    fs::remove_file(ground.path("input")).unwrap();
    assert_eq!(finish(removed).await.0, CallOutcome::Refused);
    assert!(!ground.path("evil").exists());
}

/// The calls of one reply are approved before the first of them runs.
#[tokio::test]
async fn a_file_that_an_earlier_call_writes_is_approved_as_it_will_be() {
    let ground = ground();
    let write = json!({ "path": "deploy.sh", "content": "echo written before\n" });
    let new = json!({ "path": "new.sh", "content": "echo made before\n" });
    let calls = [("write", write), ("write", new), ("shell", leaving("bash deploy.sh; bash new.sh"))];
    for assessed in ground.assess(&calls) {
        let finished = ground.finish(assessed).await;
        assert!(finished.result.ok, "{}", finished.result.text());
    }
}

/// Who starts a task with `--yes` for all has looked at nothing.
#[tokio::test]
async fn what_nobody_was_asked_about_runs_as_it_is() {
    let mut ground = ground();
    ground.approvals = Approvals::AllowAll;
    let assessed = outside(&ground, "bash deploy.sh");
    assert_eq!((&assessed.permission, assessed.files.len()), (&Permission::Yes, 0));
    fs::write(ground.path("deploy.sh"), "echo as it is\n").unwrap();
    let finished = ground.finish(assessed).await;
    assert!(finished.result.text().contains("as it is"), "{}", finished.result.text());
}
