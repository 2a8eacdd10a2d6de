//! Settings made by commands: remembered decisions, the default model, notifications; and the check of a
//! model.

use abide_client::protocol::{inbox::Decision, task::Status};
use abide_tests::{model_server::Turn, world::World};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

#[tokio::test]
async fn a_forgotten_decision_asks_again_also_after_a_crash_and_a_rebuild() {
    let mut world = World::start().await;
    let witness = world.witness();
    let same = witness.command("same");
    let script = || [Turn::shell(&same), Turn::done("Done.")];
    let task = world.run_asking("first", script()).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::AllowAlways).await);
    world.wait_end(task).await;

    let cli = world.daemon.cli();
    let rules = cli.json(&["rules"]).await;
    let [rule] = &rules["rules"].as_array().unwrap()[..] else { panic!("one rule: {rules}") };
    assert_eq!((&rule["allow"], &rule["origin"]["rule"]["tool"]), (&json!(true), &json!("shell")));
    let id = rule["id"].as_str().unwrap();
    let short = &id[id.len() - 8..];
    let listed = cli.ok(&["rules"]).await;
    assert!(listed.contains(short) && listed.contains("allow"), "{listed}");

    let forgotten = cli.ok(&["rules", "forget", short]).await;
    assert!(forgotten.starts_with(&format!("{short} forgotten")), "{forgotten}");
    assert_eq!(cli.json(&["rules"]).await["rules"], json!([]));
    let again = cli.run(&["rules", "forget", short]).await;
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("there is no remembered decision"), "{again:?}");
    let history = cli.ok(&["messages", &task.conversation_id.to_string()]).await;
    assert!(!history.is_empty());

    world.crash_and_restart().await;
    world.daemon.stop().await;
    let rebuilt = world.daemon.cli().json(&["doctor", "--rebuild"]).await;
    assert_eq!((&rebuilt["different"], &rebuilt["rulesDiffered"]), (&json!([]), &json!(false)), "{rebuilt}");
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    let task = world.run_asking("again", script()).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert_eq!(witness.marks(), ["same"]);
    world.decide(task, Decision::RejectOnce).await;
    world.wait_end(task).await;
}

#[tokio::test]
async fn a_decision_of_a_deleted_conversation_can_be_forgotten() {
    let world = World::start().await;
    let script = [Turn::shell("true"), Turn::done("Done.")];
    let task = world.run_asking("deleted", script).await;
    world.wait_status(task, Status::WaitingApproval).await;
    assert!(world.decide(task, Decision::RejectAlways).await);
    world.wait_end(task).await;
    let cli = world.daemon.cli();
    let deleted = cli.run(&["conversations", "delete", "--yes", &task.conversation_id.to_string()]).await;
    assert_eq!(deleted.code, Some(0), "{deleted:?}");
    assert!(deleted.stderr.contains("1 remembered decision of it stays in force"), "{deleted:?}");
    let rules = &cli.json(&["rules"]).await["rules"];
    assert_eq!((&rules[0]["allow"], &rules[0]["origin"]), (&json!(false), &Value::Null), "{rules}");
    let listed = cli.ok(&["rules"]).await;
    assert!(listed.contains("reject") && listed.contains("deleted"), "{listed}");
    cli.ok(&["rules", "forget", rules[0]["id"].as_str().unwrap()]).await;
    assert_eq!(cli.json(&["rules"]).await["rules"], json!([]));
}

#[tokio::test]
async fn changing_a_setting_leaves_the_rest_of_the_file_unchanged() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let file = world.daemon.home().config_file();
    let (start, rest) = ("# Mine.\n", fs::read_to_string(&file).unwrap());
    let text = format!(
        "{start}{}",
        rest.replace("default = \"test/scripted-1\"", "default = \"test/scripted-1\" # for now")
    );
    assert!(text.contains("# for now"), "{text}");
    // The file is a link to one elsewhere, such as one kept in a repository.
    let elsewhere = world.daemon.workspace().join("config.toml");
    fs::write(&elsewhere, &text).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(&file).unwrap();
    symlink(&elsewhere, &file).unwrap();

    let shown = cli.ok(&["config", "show"]).await;
    assert!(shown.contains("test/scripted-1") && shown.contains(&file.display().to_string()), "{shown}");
    let changed = cli.json(&["config", "set", "model.default", "claude/other"]).await;
    assert_eq!(changed["model"], json!({ "named": "claude/other" }), "{changed}");
    assert_eq!(changed["default"]["model"], "claude/other");
    let expected = text.replace("\"test/scripted-1\" # for now", "\"claude/other\" # for now");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), expected);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(cli.json(&["models", "--offline"]).await["default"]["model"], "claude/other");

    let on = cli.json(&["config", "set", "notify.enabled", "on"]).await;
    assert_eq!((&on["notifications"], &on["model"]), (&json!(true), &json!({ "named": "claude/other" })));
    let automatic = cli.json(&["config", "set", "model.default", "auto"]).await;
    assert_eq!(
        (&automatic["model"], &automatic["default"]["model"]),
        (&json!("automatic"), &json!("demo/demo"))
    );
    assert!(fs::read_to_string(&elsewhere).unwrap().starts_with(start));
}

#[tokio::test]
async fn a_model_or_a_provider_that_is_probably_mistyped_is_named() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let listed = cli.run(&["config", "set", "model.default", "test/scripted-1"]).await;
    assert!(listed.code == Some(0) && !listed.stderr.contains("does not list"), "{listed:?}");
    let unlisted = cli.run(&["config", "set", "model.default", "test/scriptde-1"]).await;
    assert_eq!(unlisted.code, Some(0), "{unlisted:?}");
    assert!(unlisted.stderr.contains("test does not list test/scriptde-1"), "{unlisted:?}");
    for (provider, is_known) in [("test", true), ("tets", false)] {
        let stored = cli.run_with_input(&["key", "set", provider], "sk-canary-typed").await;
        assert_eq!(stored.code, Some(0), "{stored:?}");
        assert_eq!(stored.stderr.contains("no provider tets yet; it has "), !is_known, "{stored:?}");
    }
    for words in ["key removed", "no key was stored, none is removed"] {
        let unset = cli.ok(&["key", "unset", "test"]).await;
        assert_eq!(unset, format!("test: {words}; stored now: nowhere\n"));
    }
}

#[tokio::test]
async fn an_invalid_setting_or_a_refused_file_changes_nothing() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let file = world.daemon.home().config_file();
    let before = fs::read_to_string(&file).unwrap();
    for (arguments, code, words) in [
        (["config", "set", "model.default", "gone/m"], 1, "there is no provider \"gone\""),
        (["config", "set", "model.default", "nonsense"], 1, "PROVIDER/MODEL"),
        (["config", "set", "notify.enabled", "maybe"], 2, "neither on nor off"),
        (["config", "set", "task.max_steps", "7"], 2, "model.default"),
    ] {
        let refused = cli.run(&arguments).await;
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.stderr.contains(words), "{refused:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    let broken = format!("{before}\n[tsak]\nmax_steps = 7\n");
    fs::write(&file, &broken).unwrap();
    let refused = cli.run(&["config", "set", "notify.enabled", "on"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("was not changed")
            && refused.stderr.contains("config check")
            && refused.stderr.contains("line "),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), broken);
}

#[tokio::test]
async fn checking_a_model_takes_one_request() {
    let world = World::start().await;
    world.model.script_for_all([Turn::say("OK")]);
    let cli = world.daemon.cli();
    let named = cli.json(&["models", "--check", "test/scripted-1"]).await;
    assert_eq!((&named["model"], &named["failure"]), (&json!("test/scripted-1"), &Value::Null), "{named}");
    // Named by its provider, the default model is checked.
    let said = cli.ok(&["models", "--check", "test"]).await;
    assert!(said.starts_with("test/scripted-1 answers"), "{said}");
    for (model, words) in
        [("gone", "there is no provider `gone`"), ("openai", "it wants a key and none is set")]
    {
        let failed = cli.run(&["models", "--check", model]).await;
        assert_eq!(failed.code, Some(1), "{failed:?}");
        assert!(failed.stderr.contains(words), "{failed:?}");
    }
}
