//! Assessments of calls before they run.

use crate::ground::{Ground, block};
use abide_protocol::{
    inbox::Rule,
    record::Permission,
    task::Approvals,
    transcript::{EffectClass, Risk},
};
use serde_json::json;
use std::fs;

fn permission(ground: &Ground, workspace: &str, tool: &str, arguments: &str) -> Permission {
    ground.assess_in(workspace, &[block(tool, arguments)], &|_| None).pop().unwrap().permission
}

#[test]
fn invalid_calls_are_denied_with_helpful_words() {
    let ground = Ground::new();
    let known = "shell, python, read, write, patch, list, create_dir, code, task_complete";
    let table: &[(&str, &str, &str)] = &[
        ("rm", "{}", &format!("there is no tool `rm`; there are: {known}")),
        (
            "shell",
            "{\"command\": \"ls",
            "the arguments are not JSON: EOF while parsing a string at line 1 column 15",
        ),
        ("shell", "[]", "the arguments are not a JSON object"),
        ("shell", "", "the arguments do not fit: \"command\" is a required property"),
        ("shell", r#"{"command": 5}"#, "the arguments do not fit: `command`: it is not of type \"string\""),
        (
            "shell",
            r#"{"command": "ls", "timeout_secs": 4000}"#,
            "the arguments do not fit: `timeout_secs`: it is greater than the maximum of 3600",
        ),
        (
            "read",
            r#"{"path": "a", "file": "b"}"#,
            "the arguments do not fit: Additional properties are not allowed ('file' was unexpected)",
        ),
        ("shell", r#"{"command": "  "}"#, "the command is empty"),
        (
            "shell",
            r#"{"command": "vim notes.txt"}"#,
            "`vim` waits for somebody at a terminal, and there is none; change files with `patch` or `write`, or with a command that asks \
             nothing",
        ),
        ("shell", r#"{"command": "a\u0000b"}"#, "the command holds a NUL character"),
        ("python", r#"{"code": "\n "}"#, "the code is empty"),
        (
            "python",
            r#"{"code": "1", "working_dir": "."}"#,
            "the arguments do not fit: Additional properties are not allowed ('working_dir' was unexpected)",
        ),
        ("task_complete", "{}", "the arguments do not fit: \"summary\" is a required property"),
    ];
    for (tool, arguments, words) in table {
        let expected = Permission::Denied((*words).to_owned());
        assert_eq!(permission(&ground, &ground.workspace(), tool, arguments), expected, "{tool} {arguments}");
    }
    let long = format!(r#"{{"code": "{}"}}"#, "#".repeat(120_001));
    let words = "the code has 120001 bytes, and 120000 is the limit; write it to a file and run that";
    assert_eq!(
        permission(&ground, &ground.workspace(), "python", &long),
        Permission::Denied(words.to_owned())
    );
    let deep = format!("{{\"command\": {}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(matches!(permission(&ground, &ground.workspace(), "shell", &deep), Permission::Denied(_)));
    assert!(matches!(
        permission(&ground, &ground.workspace(), "list", r#"{"glob": "[a"}"#),
        Permission::Denied(why) if why.starts_with("the glob is not valid")
    ));
    for workspace in ["", "relative", "/nonexistent/abide", "/etc"] {
        assert!(matches!(permission(&ground, workspace, "list", ""), Permission::Denied(_)), "{workspace}");
    }
}

#[test]
fn summaries_are_one_line() {
    let ground = Ground::new();
    fs::write(ground.path("f"), "a").unwrap();
    for (tool, arguments, summary) in [
        ("shell", r#"{"command": "cargo test"}"#, "cargo test"),
        ("shell", r#"{"command": "ls\n\u001b[2Jrm", "working_dir": "."}"#, "ls\\n\\u{1b}[2Jrm"),
        ("shell", r#"{"command": "echo ok\n\n  \n\nrm   -rf \t\t  x"}"#, "echo ok\\nrm -rf x"),
        ("python", r#"{"code": "print(1)\n"}"#, "print(1)"),
        ("python", r#"{"code": "\nimport os\n\nprint(1)\n"}"#, "import os … (3 lines)"),
        ("read", r#"{"path": "f"}"#, "read f"),
        ("read", r#"{"path": "f", "offset": 3, "limit": 2}"#, "read f, lines 3 to 4"),
        ("write", r#"{"path": "notes.md", "content": "a\nb\n"}"#, "write notes.md (2 lines)"),
        (
            "patch",
            r#"{"path": "f", "old": "a", "new": "b\nc", "all": true}"#,
            "patch f (2 lines for 1, everywhere)",
        ),
        ("list", "", "list ."),
        ("list", r#"{"glob": "**/*.rs"}"#, "list . (**/*.rs)"),
        ("create_dir", r#"{"path": "d"}"#, "create folder d"),
        ("task_complete", r#"{"summary": "All\ndone"}"#, "task_complete: All\\ndone"),
        ("nope", "{\"\u{7}\": 1}", "nope {\"\\u{7}\": 1}"),
    ] {
        let assessed =
            ground.assess_in(&ground.workspace(), &[block(tool, arguments)], &|_| None).pop().unwrap();
        assert_eq!(assessed.summary, summary);
        assert_eq!(assessed.arguments, arguments);
    }
    let long = format!(r#"{{"command": "{}"}}"#, "é".repeat(500));
    let assessed = ground.assess_in(&ground.workspace(), &[block("shell", &long)], &|_| None).pop().unwrap();
    assert_eq!(assessed.summary.chars().count(), 120);
}

#[test]
fn classes_and_tiers() {
    let mut ground = Ground::new().asking_by_policy();
    ground.approvals = Approvals::Ask;
    fs::write(ground.path("f"), "a").unwrap();
    use EffectClass::{Control, Pure, Unsafe, Verifiable};
    for (tool, arguments, effect, risk, permission) in [
        ("shell", r#"{"command": "make"}"#, Unsafe, Risk::High, Permission::Ask),
        ("shell", r#"{"command": "mkdir d"}"#, Unsafe, Risk::Medium, Permission::Ask),
        ("shell", r#"{"command": "echo one"}"#, Unsafe, Risk::Low, Permission::Ask),
        ("python", r#"{"code": "1"}"#, Unsafe, Risk::High, Permission::Ask),
        ("read", r#"{"path": "f"}"#, Pure, Risk::Low, Permission::Tier),
        ("list", "", Pure, Risk::Low, Permission::Tier),
        ("write", r#"{"path": "f", "content": ""}"#, Verifiable, Risk::Medium, Permission::Ask),
        ("patch", r#"{"path": "f", "old": "a", "new": ""}"#, Verifiable, Risk::Medium, Permission::Ask),
        ("create_dir", r#"{"path": "d"}"#, Verifiable, Risk::Medium, Permission::Ask),
        ("task_complete", r#"{"summary": ""}"#, Control, Risk::Low, Permission::Tier),
    ] {
        let assessed =
            ground.assess_in(&ground.workspace(), &[block(tool, arguments)], &|_| None).pop().unwrap();
        assert_eq!(
            (assessed.effect, assessed.risk, &assessed.permission),
            (effect, risk, &permission),
            "{tool}"
        );
    }
}

#[test]
fn a_remembered_decision_is_about_this_very_call() {
    let mut ground = Ground::new().asking_by_policy();
    ground.approvals = Approvals::Ask;
    let workspace = ground.workspace();
    let remembered = |rule: &Rule| {
        assert_eq!((rule.tool.as_str(), &rule.workspace), ("shell", &workspace));
        match rule.arguments.as_str() {
            r#"{"command": "make"}"# => Some(true),
            r#"{"command": "rm -rf /"}"# => Some(false),
            _ => None,
        }
    };
    let assess =
        |arguments| ground.assess_in(&workspace, &[block("shell", arguments)], &remembered).pop().unwrap();
    assert_eq!(assess(r#"{"command": "make"}"#).permission, Permission::Rule);
    assert_eq!(assess(r#"{"command": "make it"}"#).permission, Permission::Ask);
    assert!(matches!(assess(r#"{"command": "rm -rf /"}"#).permission, Permission::Denied(_)));
    assert_ne!(assess(r#"{"command": "make"}"#).digest, assess(r#"{"command": "make it"}"#).digest);
    assert_eq!(assess(r#"{"command": "make"}"#).digest, assess(r#"{"command": "make"}"#).digest);
}

#[test]
fn a_denying_rule_wins_over_approvals_allow_and_a_closed_path_over_an_allowing_rule() {
    let ground = Ground::new();
    let (workspace, shell) = (ground.workspace(), [block("shell", r#"{"command": "make"}"#)]);
    let denied = ground.assess_in(&workspace, &shell, &|_| Some(false)).pop().unwrap();
    assert!(matches!(denied.permission, Permission::Denied(_)));
    let outside = [block("read", r#"{"path": "../x"}"#)];
    let denied = ground.assess_in(&workspace, &outside, &|_| Some(true)).pop().unwrap();
    assert!(matches!(denied.permission, Permission::Denied(_)));
}

#[test]
fn in_a_broad_workspace_reading_asks_too() {
    let mut ground = Ground::new();
    ground.approvals = Approvals::Ask;
    let home = ground.root().join("home");
    for workspace in ["/", ground.root().to_str().unwrap(), home.to_str().unwrap()] {
        assert_eq!(permission(&ground, workspace, "list", ""), Permission::Ask, "{workspace}");
    }
    assert!(matches!(permission(&ground, "/", "read", r#"{"path": "etc/passwd"}"#), Permission::Denied(_)));
    assert!(matches!(
        permission(&ground, "/", "read", r#"{"path": "/proc/self/environ"}"#),
        Permission::Denied(_)
    ));
    let mut inside = [block("list", "")];
    assert!(!ground.assess_in(home.to_str().unwrap(), &inside, &|_| None).pop().unwrap().in_passing);
    inside = [block("write", r#"{"path": "a", "content": "x"}"#)];
    assert!(!ground.assess_in(home.to_str().unwrap(), &inside, &|_| None).pop().unwrap().in_passing);
    let key = permission(&ground, home.to_str().unwrap(), "read", r#"{"path": ".ssh/id"}"#);
    assert_eq!(key, Permission::Denied(".ssh/id is closed to tools".to_owned()));
}

#[test]
fn a_schema_with_a_keyword_that_is_not_known_is_refused() {
    let schema = json!({ "type": "object", "properties": { "a": { "pattern": "(a*)*b" } } });
    let denied = Ground::new().assess_against(&schema, "{}");
    let why = "the schema of `foreign` cannot be used: its keyword \"pattern\" is not known";
    assert_eq!(denied, Permission::Denied(why.to_owned()));
}
