//! No path leads out of the workspace or into a closed folder, and none makes a tool hang.

use crate::ground::Ground;
use abide_protocol::record::Permission;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use std::{fs, os::unix::fs::symlink, path::Path};

fn refusal(ground: &Ground, tool: &str, path: &str) -> Option<String> {
    let arguments = match tool {
        "write" => json!({"path": path, "content": "x"}),
        "patch" => json!({"path": path, "old": "a", "new": "b"}),
        "shell" => json!({"command": "true", "working_dir": path}),
        _ => json!({ "path": path }),
    };
    match ground.assess_one(tool, arguments).permission {
        Permission::Denied(why) => Some(why),
        _ => None,
    }
}

/// A workspace with links, pipes and other traps.
fn trapped() -> Ground {
    let ground = Ground::with_own(&["own", "workspace/own"]);
    let root = ground.root().to_owned();
    fs::write(root.join("secret"), "s").unwrap();
    fs::write(root.join("home/.ssh/id"), "s").unwrap();
    fs::create_dir(root.join("workspace-beside")).unwrap();
    fs::create_dir_all(ground.path("own")).unwrap();
    fs::write(ground.path("own/db"), "s").unwrap();
    fs::create_dir(ground.path("sub")).unwrap();
    fs::write(ground.path("sub/file"), "a").unwrap();
    let link = |to: &Path, at: &str| symlink(to, ground.path(at)).unwrap();
    link(&root.join("secret"), "absolute");
    link(Path::new("../secret"), "relative");
    link(Path::new(".."), "up");
    link(Path::new("/proc/self/root"), "magic");
    link(Path::new("own"), "to-own");
    link(Path::new("own/db"), "to-db");
    link(Path::new("sub/file"), "inside");
    link(Path::new("nowhere"), "dangling");
    link(Path::new("loop"), "loop");
    ground
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let ground = trapped();
    let beside = ground.workspace() + "-beside";
    let cases: &[(&str, &str)] = &[
        ("../secret", "leads out of the workspace"),
        ("sub/../../secret", "leads out of the workspace"),
        ("/etc/passwd", "leads out of the workspace"),
        (&beside, "leads out of the workspace"),
        ("absolute", "leads out of the workspace"),
        ("relative", "leads out of the workspace"),
        ("up/secret", "leads out of the workspace"),
        ("magic/etc/passwd", "leads out of the workspace"),
        ("/proc/self/root/etc/passwd", "leads out of the workspace"),
        ("own", "is closed to tools"),
        ("own/db", "is closed to tools"),
        ("sub/../own/db", "is closed to tools"),
        ("to-own/db", "is closed to tools"),
        ("to-own/new", "is closed to tools"),
        ("to-db", "is closed to tools"),
        ("./own/../own/new", "is closed to tools"),
        ("~/x", "`~` is not expanded"),
        (r"C:\x", "a path of another system"),
        (r"c:\", "a path of another system"),
        ("C:", "a path of another system"),
        ("C:/Users/me/x", "a path of another system"),
        (r"\\host\share\x", "a path of another system"),
        (r"\\?\C:\x", "a path of another system"),
        (r"\\.\pipe\x", "a path of another system"),
        (r"\x", "a path of another system"),
        ("//host/share", "leads out of the workspace"),
        (r"sub\new", "separated by `/`"),
        (r"sub/..\..\secret", "separated by `/`"),
        ("a\0b", "NUL"),
        ("dangling", "leads to nothing"),
        ("loop", "symbolic links"),
        ("missing/../sub/file", "does not exist"),
    ];
    for (path, words) in cases {
        for tool in ["read", "write", "patch", "list", "create_dir", "shell"] {
            let why =
                refusal(&ground, tool, path).unwrap_or_else(|| panic!("{tool} {path:?} is let through"));
            assert!(why.contains(words), "{tool} {path:?}: {why}");
        }
    }
}

#[test]
fn paths_inside_are_accepted_however_they_are_written() {
    let ground = trapped();
    let absolute = ground.path("sub/file");
    for path in ["sub/file", "./sub//file", "sub/../sub/file", "inside", absolute.to_str().unwrap()] {
        let assessed = ground.assess_one("patch", json!({"path": path, "old": "a", "new": "b"}));
        assert_eq!(assessed.permission, Permission::Yes, "{path}");
        assert_eq!(assessed.edit.unwrap().path, "sub/file", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_regular_files_are_opened() {
    let ground = trapped();
    mknodat(CWD, ground.path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(ground.path("socket")).unwrap();
    for path in ["fifo", "socket"] {
        let why = refusal(&ground, "write", path).unwrap();
        assert_eq!(why, format!("{path} is not a regular file (a pipe, a socket or a device)"));
        let finished = ground.call("read", json!({ "path": path })).await;
        assert_eq!(finished.result.message, why);
    }
    let finished = ground.call("read", json!({"path": "sub"})).await;
    assert_eq!(finished.result.message, "sub is a folder, not a file");
    assert_eq!(refusal(&ground, "write", ".").unwrap(), ". is a folder, not a file");
    assert_eq!(refusal(&ground, "write", "sub").unwrap(), "sub is a folder, not a file");
    assert_eq!(refusal(&ground, "write", "sub/file/x").unwrap(), "sub/file/x is not a folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_file_names_are_accepted() {
    let ground = Ground::new();
    for name in ["new\nline", "tab\t", "-rf", " ", "\u{202e}gpj.exe", "%s%n", "'; rm -rf *"] {
        let finished = ground.call("write", json!({"path": name, "content": "x"})).await;
        assert!(finished.result.ok, "{name:?}: {}", finished.result.message);
        assert_eq!(ground.text(name), "x");
    }
    fs::write(
        ground
            .path("x")
            .with_file_name(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff")),
        "",
    )
    .unwrap();
    let finished = ground.call("list", json!({})).await;
    let shown = finished.result.text();
    assert!(
        shown.contains("new\\nline") && shown.contains("\\u{202e}gpj.exe") && shown.contains('\u{fffd}'),
        "{shown}"
    );
    let long = "x".repeat(300);
    assert!(refusal(&ground, "write", &long).unwrap().contains("too long"));
    let deep = "a/".repeat(5000);
    assert!(refusal(&ground, "write", &deep).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_is_swapped_in_after_the_assessment_leads_nowhere() {
    let ground = trapped();
    let write = ground.assess_one("write", json!({"path": "sub/new", "content": "x"}));
    let read = ground.assess_one("read", json!({"path": "sub/file"}));
    fs::rename(ground.path("sub"), ground.path("sub-was")).unwrap();
    symlink("..", ground.path("sub")).unwrap();
    for assessed in [write, read] {
        let finished = ground.finish(assessed).await;
        assert!(
            finished.result.message.contains("leads out of the workspace"),
            "{}",
            finished.result.message
        );
    }
    assert!(!ground.root().join("new").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_have_limits() {
    let ground = Ground::new();
    fs::File::create(ground.path("big")).unwrap().set_len(11 << 20).unwrap();
    fs::write(ground.path("binary"), b"\x7fELF\0\0").unwrap();
    let words = "big has 11534336 bytes; files of up to 10485760 bytes can be read and edited";
    assert_eq!(ground.call("read", json!({"path": "big"})).await.result.message, words);
    assert_eq!(refusal(&ground, "write", "big").unwrap(), words);
    let finished = ground.call("read", json!({"path": "binary"})).await;
    assert_eq!(finished.result.message, "binary is not text: a binary file of 6 bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_sorted_and_stays_inside() {
    let ground = trapped();
    fs::create_dir_all(ground.path(".git/objects")).unwrap();
    fs::write(ground.path(".git/objects/x.rs"), "").unwrap();
    fs::create_dir_all(ground.path("sub/deep")).unwrap();
    fs::write(ground.path("sub/deep/b.rs"), "").unwrap();
    fs::write(ground.path("a.rs"), "").unwrap();
    let entries = |finished: &abide_tools::Finished| {
        crate::ground::data(finished)["entries"]
            .as_str()
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let plain = ground.call("list", json!({})).await;
    assert_eq!(plain.result.message, "13 entries in .");
    assert_eq!(entries(&plain)[..4], [".git/", "a.rs", "absolute", "dangling"]);
    let rust = ground.call("list", json!({"glob": "**/*.rs"})).await;
    assert_eq!(entries(&rust), ["a.rs", "sub/deep/b.rs"]);
    let everything = ground.call("list", json!({"glob": "**"})).await;
    assert!(entries(&everything).iter().all(|path| !path.starts_with("own/d") && !path.starts_with("up/")));
    let inner = ground.call("list", json!({"path": "sub", "glob": "*"})).await;
    assert_eq!(entries(&inner), ["deep/", "file"]);
    for number in 0..1100 {
        fs::write(ground.path(&format!("sub/{number}")), "").unwrap();
    }
    let many = ground.call("list", json!({"path": "sub"})).await;
    assert_eq!(entries(&many).len(), 1000);
    assert_eq!(many.result.diagnostics, ["there is more; list a folder further down or use a narrower glob"]);
}

/// On Linux these are ordinary names once a file has them.
#[test]
fn existing_names_that_look_foreign_are_accepted() {
    let ground = trapped();
    for name in [r"a\b", "C:x", "CC:", "1:", "~file", r"sub\file"] {
        fs::write(ground.path(name), "a").unwrap();
        assert_eq!(refusal(&ground, "read", name), None, "{name}");
        assert_eq!(refusal(&ground, "patch", name), None, "{name}");
    }
    let whole = ground.workspace() + "/sub/file";
    assert_eq!(refusal(&ground, "read", &whole), None, "an absolute path beneath the root");
    assert_eq!(refusal(&ground, "write", "C:new"), None, "not a drive's root: a name");
}
