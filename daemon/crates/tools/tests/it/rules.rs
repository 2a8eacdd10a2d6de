//! What rules do about calls, and how an allowed command runs.

use crate::ground::{Ground, home_of_its_own};
use abide_protocol::{
    inbox::RuleEffect,
    record::{CallAssessed, Permission},
    task::Approvals,
    transcript::Risk,
};
use abide_rules::{Book, Effect, Rule, Source, Standing};
use abide_tools::Scope;
use serde_json::json;
use std::{fs, os::unix::fs::symlink, sync::Arc};

fn ground(rules: &[(Effect, &str)]) -> Ground {
    let standing = |(effect, text): &(Effect, &str)| {
        let rule = Arc::new(Rule::parse(text, *effect).unwrap());
        Standing { rule, effect: *effect, source: Source::Policy }
    };
    let rules = Book::new(rules.iter().map(standing).collect());
    let mut ground = Ground::new().asking_by_policy();
    (ground.approvals, ground.rules) = (Approvals::Ask, rules);
    ground
}

fn shell(ground: &Ground, command: &str) -> CallAssessed {
    ground.assess_one("shell", json!({ "command": command }))
}

#[tokio::test]
async fn an_allowed_command_is_executed_without_a_shell() {
    let ground = ground(&[(Effect::Allow, "shell(printf *)"), (Effect::Allow, "shell(cat *)")]);
    let assessed = shell(&ground, "RUST_LOG=x printf '%s|' 'a b' '$HOME' '*'");
    assert_eq!(
        (&assessed.permission, assessed.rule.as_deref()),
        (&Permission::Rule, Some("shell(printf *)"))
    );
    let direct = assessed.direct.clone().unwrap();
    assert!(direct.program.ends_with("/printf"), "{direct:?}");
    assert_eq!(direct.environment["RUST_LOG"], "x");
    assert!(ground.finish(assessed).await.result.text().contains("a b|$HOME|*|"));
    // No shell is between: its parent is the helper.
    let parent = shell(&ground, "cat /proc/self/cmdline /proc/self/stat");
    let text = ground.finish(parent).await.result.text();
    assert!(!text.contains("bash"), "{text}");
}

#[tokio::test]
async fn an_allowed_commands_output_goes_where_it_says() {
    let ground = ground(&[(Effect::Allow, "shell(ls *)")]);
    fs::write(ground.path("there"), "").unwrap();
    let output = async |command: &str| ground.finish(shell(&ground, command)).await.result.text();
    for (command, has_file, has_error) in [
        ("ls there gone", true, true),
        ("ls there gone 2>&1", true, true),
        ("ls there gone 2>/dev/null", true, false),
        ("ls there gone >/dev/null", false, true),
        ("ls there gone >/dev/null 2>&1", false, false),
        ("ls there gone 2>&1 >/dev/null", false, true),
    ] {
        let text = output(command).await;
        assert_eq!(
            (text.lines().any(|line| line == "there"), text.contains("gone")),
            (has_file, has_error),
            "{command}: {text}"
        );
    }
}

#[tokio::test]
async fn rules_come_before_yes_and_a_denial_is_the_calls_result() {
    let mut ground = ground(&[
        (Effect::Deny, "shell(rm *)"),
        (Effect::Ask, "shell(touch *)"),
        (Effect::Deny, "read(**/.env)"),
        (Effect::Allow, "edit(src/**)"),
    ]);
    fs::create_dir(ground.path("src")).unwrap();
    fs::write(ground.path(".env"), "SECRET").unwrap();
    symlink(".env", ground.path("innocent")).unwrap();
    symlink("../outside-src", ground.path("src/link")).unwrap();
    fs::create_dir(ground.path("other")).unwrap();
    symlink("../other", ground.path("src/elsewhere")).unwrap();
    for yes in [false, true] {
        ground.approvals = if yes { Approvals::Allow } else { Approvals::Ask };
        let otherwise = if yes { Permission::Yes } else { Permission::Ask };
        assert!(
            matches!(shell(&ground, "ls; sudo rm x").permission, Permission::Denied(why) if why.contains("shell(rm *)"))
        );
        assert_eq!(shell(&ground, "$x x").permission, Permission::Ask);
        assert_eq!(shell(&ground, "touch x").permission, otherwise);
        assert_eq!(shell(&ground, "ls").permission, otherwise);
        for path in [".env", "innocent", "./src/../.env"] {
            let read = ground.assess_one("read", json!({ "path": path }));
            assert!(matches!(read.permission, Permission::Denied(_)), "{path}");
        }
        let write =
            |path: &str| ground.assess_one("write", json!({ "path": path, "content": "" })).permission;
        assert_eq!(write("src/a.rs"), Permission::Rule);
        assert_eq!(write("src/elsewhere/a.rs"), otherwise);
        assert_eq!(write("a.rs"), otherwise);
    }
    let denied = ground.finish(shell(&ground, "rm x")).await;
    assert!(
        !denied.result.ok && denied.result.text().contains("the user's rule `shell(rm *)` forbids this call")
    );
}

#[tokio::test]
async fn a_program_that_the_task_could_have_written_is_not_allowed() {
    let mut ground = ground(&[(Effect::Allow, "shell(planted *)"), (Effect::Allow, "shell(ls *)")]);
    let folder = ground.path("bin");
    fs::create_dir(&folder).unwrap();
    fs::copy("/bin/ls", folder.join("planted")).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    assert_eq!(ground.assess_on(&path, "planted").permission, Permission::Ask);
    // A program of the system is found behind it.
    assert_eq!(ground.assess_on(&path, "ls").permission, Permission::Rule);
    // One in the way asks.
    fs::copy("/bin/ls", folder.join("ls")).unwrap();
    assert_eq!(ground.assess_on(&path, "ls").permission, Permission::Ask);
    // It is looked at again before it runs.
    let mut assessed = ground.assess_on("/usr/bin:/bin", "ls");
    assessed.direct.as_mut().unwrap().program = folder.join("ls").display().to_string();
    let refused = ground.finish(assessed).await.result;
    assert!(!refused.ok && refused.text().contains("nothing ran"), "{}", refused.text());
    // A folder that the configuration lets commands write to is no better than the workspace.
    let tools = home_of_its_own();
    fs::copy("/bin/ls", tools.path().join("planted")).unwrap();
    let path = format!("{}:/usr/bin:/bin", tools.path().display());
    assert_eq!(ground.assess_on(&path, "planted").permission, Permission::Rule);
    let assessed = ground.assess_on(&path, "planted");
    ground.sandbox.writable = vec![tools.path().to_owned()];
    assert_eq!(ground.assess_on(&path, "planted").permission, Permission::Ask);
    assert!(!ground.finish(assessed).await.result.ok, "it is looked at again");
}

#[tokio::test]
async fn an_approval_says_which_rule_makes_it_ask() {
    let mut ground = ground(&[
        (Effect::Deny, "shell(shred *)"),
        (Effect::Ask, "shell(rm -rf *)"),
        (Effect::Ask, "edit(src/**)"),
        (Effect::Allow, "shell(planted *)"),
        (Effect::Allow, "shell(nowhere *)"),
    ]);
    fs::create_dir(ground.path("src")).unwrap();
    fs::copy("/bin/ls", ground.path("planted")).unwrap();
    let why = |assessed: CallAssessed| {
        assert_eq!(assessed.permission, Permission::Ask);
        assessed.why.unwrap()
    };
    for (command, expected) in [
        ("ls; rm -rf src", "the rule `shell(rm -rf *)` in `[policy]` asks"),
        (
            "$x y",
            "the rule `shell(shred *)` in `[policy]` denies, and may match: some of its words are known only when it runs",
        ),
        (
            "nowhere x",
            "the rule `shell(nowhere *)` in `[policy]` does not count: there is no program `nowhere` on the `PATH`",
        ),
    ] {
        let assessed = shell(&ground, command);
        let may_be_denied = expected.contains("denies, and may match");
        assert!(!(may_be_denied && assessed.in_passing), "{command}");
        let why = why(assessed);
        assert!(why.starts_with(expected), "{command}: {why}");
    }
    let edit = ground.assess_one("write", json!({ "path": "src/a", "content": "" }));
    assert!(why(edit).starts_with("the rule `edit(src/**)` in `[policy]` asks each time"));
    let planted = ground.path("planted");
    let folder = planted.parent().unwrap().display().to_string();
    let expected = format!("does not count: the task could have written its program, {}", planted.display());
    let found = why(ground.assess_on(&folder, "planted"));
    assert!(found.contains(&expected), "{found}");

    let standing = |(effect, text): (Effect, &str)| Standing {
        rule: Arc::new(Rule::parse(text, effect).unwrap()),
        effect,
        source: Source::Workspace,
    };
    ground.rules = Book::new(vec![standing((Effect::Ask, "shell(rm *)"))]);
    assert!(why(shell(&ground, "rm a")).starts_with("the rule `shell(rm *)` of this folder asks"));
}

/// Neither assessed nor tested.
#[tokio::test]
async fn a_rule_that_allows_does_not_let_out_a_command_that_must_leave() {
    let ground = ground(&[(Effect::Allow, "shell(git push *)"), (Effect::Allow, "shell(git status *)")]);
    let assessed = shell(&ground, "git push");
    assert_eq!((assessed.permission, assessed.wider), (Permission::Ask, Vec::new()));
    let workspace = ground.workspace();
    let test = |command| {
        let scope = Scope {
            workspace: &workspace,
            path: Some("/usr/bin:/bin"),
            allowed: &ground.tools.specs(None),
            approvals: Approvals::Ask,
            remembered: &|_| None,
            rules: &ground.rules,
            sandbox: &ground.sandbox,
        };
        ground.tools.test_rules(&scope, command).unwrap()
    };
    let reply = test("git push");
    assert!(reply.effect.is_none() && reply.why.contains("must leave the sandbox"), "{reply:?}");
    assert_eq!(test("git status").effect, Some(RuleEffect::Allow));
}

/// What leaves the sandbox is never approved by one key.
#[tokio::test]
async fn what_leaves_the_sandbox_is_no_low_risk() {
    let mut ground = ground(&[]);
    assert_eq!(shell(&ground, "ls").risk, Risk::Low);
    let outside = json!({ "command": "ls", "outside": true, "reason": "to see it" });
    assert_eq!(ground.assess_one("shell", outside.clone()).risk, Risk::Medium);
    ground.sandbox.host_network = true;
    assert_eq!(ground.assess_one("shell", outside).risk, Risk::Medium);
    let confined = shell(&ground, "ls");
    assert_eq!(confined.risk, if confined.sandbox == "none" { Risk::Low } else { Risk::Medium });
}
