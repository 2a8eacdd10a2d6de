//! What tasks can do in a folder, before one begins.

use crate::ground::Ground;
use abide_protocol::{method::workspace::WorkspaceReply, record::Permission, task::Approvals};
use abide_tools::Unasked;
use serde_json::json;
use std::{fs, process::Command};

fn look(ground: &Ground) -> WorkspaceReply {
    ground.tools.look_at(&ground.workspace(), &ground.sandbox, Some("/usr/bin:/bin")).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the person's git")]
fn git(ground: &Ground, arguments: &[&str]) {
    let done = Command::new("git").arg("-C").arg(ground.workspace()).args(arguments).status().unwrap();
    assert!(done.success(), "{arguments:?}");
}

#[test]
fn a_folder_says_what_asks_there() {
    let mut ground = Ground::new();
    let plain = WorkspaceReply { can_allow: true, ..WorkspaceReply::default() };
    assert_eq!(look(&ground), plain);
    git(&ground, &["init", "-q", "-b", "topic/a"]);
    let on_branch = WorkspaceReply { is_work_tree: true, branch: Some("topic/a".into()), ..plain };
    assert_eq!(look(&ground), on_branch);
    ground.sandbox.shell = Unasked::Nothing;
    assert_eq!(look(&ground), WorkspaceReply { commands_ask: true, ..on_branch.clone() });
    ground.sandbox.edits = Unasked::Nothing;
    let all_ask = WorkspaceReply { commands_ask: true, edits_ask: true, ..on_branch };
    assert_eq!(look(&ground), all_ask);
    fs::write(ground.path(".git/HEAD"), "0123456789012345678901234567890123456789\n").unwrap();
    assert_eq!(look(&ground).branch, None);
    let missing = ground.tools.look_at("/no/such/folder", &ground.sandbox, None);
    assert!(missing.is_err());
}

#[test]
fn without_a_full_sandbox_all_asks() {
    let seen = look(&Ground::with_landlock_only());
    assert!(seen.edits_ask && seen.commands_ask && seen.can_allow, "{seen:?}");
    let mut ground = Ground::with_landlock_only();
    ground.sandbox.require = abide_protocol::sandbox::SandboxLevel::Full;
    assert!(!look(&ground).can_allow);
}

#[test]
fn edits_are_allowed_in_advance_and_commands_are_not() {
    let mut ground = Ground::new().asking_by_policy();
    let permissions = |ground: &Ground, file: &str| {
        let write = json!({ "path": file, "content": "x" });
        let assessed = ground.assess(&[("write", write), ("shell", json!({ "command": "true" }))]);
        assessed.into_iter().map(|call| call.permission).collect::<Vec<_>>()
    };
    for (approvals, edit, command) in [
        (Approvals::Ask, Permission::Ask, Permission::Ask),
        (Approvals::AllowEdits, Permission::Yes, Permission::Ask),
        (Approvals::Allow, Permission::Yes, Permission::Yes),
    ] {
        ground.approvals = approvals;
        assert_eq!(permissions(&ground, "a"), [edit, command], "{approvals:?}");
    }
    ground.approvals = Approvals::AllowEdits;
    assert_eq!(permissions(&ground, ".vscode/tasks.json")[0], Permission::Ask, "other programs run it");
}
