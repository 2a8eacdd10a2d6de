//! `code` is the file tools by another name.

use crate::ground::{Ground, block, data};
use abide_protocol::{
    inbox::Rule as Remembered,
    message::CallOutcome,
    record::{CallAssessed, Permission},
    task::Approvals,
};
use abide_rules::{Book, Effect, Rule, Source, Standing};
use serde_json::{Value, json};
use std::{fs, sync::Arc};

fn ground() -> Ground {
    let mut ground = Ground::new().asking_by_policy();
    ground.approvals = Approvals::Ask;
    fs::create_dir(ground.path("src")).unwrap();
    fs::write(ground.path("src/a.rs"), "one\ntwo\ntwo\n").unwrap();
    fs::write(ground.path(".env"), "SECRET").unwrap();
    ground
}

/// Each action with its arguments, and the same as a call of the real tool.
fn actions() -> Vec<(Value, &'static str, Value)> {
    vec![
        (json!({"action": "read", "path": "src/a.rs"}), "read", json!({"path": "src/a.rs"})),
        (
            json!({"action": "read", "path": "src/a.rs", "offset": 2, "limit": 1}),
            "read",
            json!({"path": "src/a.rs", "offset": 2, "limit": 1}),
        ),
        (
            json!({"action": "write", "path": "src/b.rs", "content": "x\n"}),
            "write",
            json!({"path": "src/b.rs", "content": "x\n"}),
        ),
        (
            json!({"action": "patch", "path": "src/a.rs", "old": "one", "new": "1"}),
            "patch",
            json!({"path": "src/a.rs", "old": "one", "new": "1"}),
        ),
        (
            json!({"action": "patch", "path": "src/a.rs", "old": "two", "new": "2", "all": true}),
            "patch",
            json!({"path": "src/a.rs", "old": "two", "new": "2", "all": true}),
        ),
        (json!({"action": "list"}), "list", json!({})),
        (
            json!({"action": "list", "path": "src", "pattern": "*.rs"}),
            "list",
            json!({"path": "src", "glob": "*.rs"}),
        ),
        (json!({"action": "create_dir", "path": "new/deep"}), "create_dir", json!({"path": "new/deep"})),
    ]
}

/// The assessments of both, with the same id.
fn both(ground: &Ground, code: &Value, tool: &str, real: &Value) -> [CallAssessed; 2] {
    let [mut code, real] = [("code", code), (tool, real)].map(|(tool, arguments)| {
        let calls = [block(tool, &arguments.to_string())];
        ground.assess_in(&ground.workspace(), &calls, &|_| None).pop().unwrap()
    });
    code.call_id = real.call_id;
    [code, real]
}

#[tokio::test]
async fn each_action_is_a_call_of_the_real_tool() {
    let mut ground = ground();
    for (code, tool, real) in actions() {
        let [as_code, as_real] = both(&ground, &code, tool, &real);
        assert!(!matches!(as_code.permission, Permission::Denied(_)), "{code}: {:?}", as_code.permission);
        assert_eq!(as_code, as_real, "{code}");
    }
    ground.approvals = Approvals::Allow;
    for (code, ..) in actions() {
        let finished = ground.call("code", code.clone()).await;
        assert_eq!((finished.outcome, finished.result.ok), (CallOutcome::Done, true), "{code}: {finished:?}");
    }
    assert_eq!((ground.text("src/a.rs"), ground.text("src/b.rs")), ("1\n2\n2\n".into(), "x\n".into()));
    assert!(ground.path("new/deep").is_dir());
    let listed = ground.call("code", json!({"action": "list", "path": "src", "pattern": "b*"})).await;
    assert_eq!(data(&listed), json!({ "entries": "b.rs" }));
}

#[tokio::test]
async fn what_rules_and_people_have_decided_holds_for_code_too() {
    let mut ground = ground();
    let rules = [
        (Effect::Deny, "read(**/.env)"),
        (Effect::Allow, "edit(src/**)"),
        (Effect::Deny, "edit(src/locked/**)"),
    ];
    let standing = |(effect, text): (Effect, &str)| {
        let rule = Arc::new(Rule::parse(text, effect).unwrap());
        Standing { rule, effect, source: Source::Policy }
    };
    ground.rules = Book::new(rules.map(standing).into());
    let denied = |rule: &str| {
        Permission::Denied(format!("the user's rule `{rule}` forbids this call; do not try it again"))
    };
    for (arguments, expected) in [
        (json!({"action": "read", "path": ".env"}), denied("read(**/.env)")),
        (json!({"action": "read", "path": "./src/../.env"}), denied("read(**/.env)")),
        (json!({"action": "read", "path": "src/a.rs"}), Permission::Tier),
        (json!({"action": "write", "path": "src/b.rs", "content": ""}), Permission::Rule),
        (json!({"action": "patch", "path": "src/a.rs", "old": "one", "new": ""}), Permission::Rule),
        (json!({"action": "create_dir", "path": "src/new"}), Permission::Rule),
        (json!({"action": "create_dir", "path": "src/locked/new"}), denied("edit(src/locked/**)")),
        (json!({"action": "write", "path": "b.rs", "content": ""}), Permission::Ask),
    ] {
        assert_eq!(ground.assess_one("code", arguments.clone()).permission, expected, "{arguments}");
    }
    let refused = ground.call("code", json!({"action": "read", "path": ".env"})).await;
    assert!(refused.outcome == CallOutcome::Refused && !refused.result.text().contains("SECRET"));

    let calls = [block("code", r#"{"action": "create_dir", "path": "d"}"#)];
    let remembered =
        |rule: &Remembered| Some((&*rule.tool, rule.arguments.as_str()) == ("create_dir", r#"{"path":"d"}"#));
    let known = ground.assess_in(&ground.workspace(), &calls, &remembered).pop().unwrap();
    assert_eq!(known.permission, Permission::Rule);
}

#[test]
fn a_bad_argument_is_denied_with_its_name() {
    let ground = ground();
    let unexpected = |name: &str| format!("Additional properties are not allowed ('{name}' was unexpected)");
    for (arguments, words) in [
        (json!({}), "\"action\" is a required property".to_owned()),
        (json!({"action": 1}), "`action`: it is not one of \"read\", \"write\", \"patch\"".to_owned()),
        (json!({"action": "delete", "path": "src/a.rs"}), "`action`: it is not one of".to_owned()),
        (json!({"action": "code"}), "`action`: it is not one of".to_owned()),
        (json!({"action": "shell", "command": "ls"}), "`action`: it is not one of".to_owned()),
        (json!({"action": "read"}), "\"path\" is a required property".to_owned()),
        (json!({"action": "read", "path": ""}), "`path`: it has less than 1 characters".to_owned()),
        (json!({"action": "read", "path": 7}), "`path`: it is not of type \"string\"".to_owned()),
        (json!({"action": "read", "path": "src/a.rs", "content": "x"}), unexpected("content")),
        (json!({"action": "read", "path": "src/a.rs", "pattern": "*"}), unexpected("pattern")),
        (json!({"action": "read", "path": "../x"}), "leads out of the workspace".to_owned()),
        (json!({"action": "write", "path": "a"}), "\"content\" is a required property".to_owned()),
        (json!({"action": "patch", "path": "src/a.rs", "old": "one"}), "\"new\" is a required".to_owned()),
        (json!({"action": "patch", "path": "src/a.rs", "old": "no", "new": ""}), "does not occur".to_owned()),
        (json!({"action": "list", "glob": "*"}), unexpected("glob")),
        (json!({"action": "list", "pattern": "[a"}), "the glob is not valid".to_owned()),
        (json!({"action": "list", "old": "x"}), unexpected("old")),
        (json!({"action": "create_dir"}), "\"path\" is a required property".to_owned()),
        (json!({"action": "create_dir", "path": "../x"}), "leads out".to_owned()),
        (json!({"action": "read", "file": "x"}), unexpected("file")),
    ] {
        let assessed = ground.assess_one("code", arguments.clone());
        let Permission::Denied(why) = &assessed.permission else { panic!("{arguments}: {assessed:?}") };
        assert!(why.contains(&words), "{arguments}: {why}");
    }
}
