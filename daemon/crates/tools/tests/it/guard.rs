//! What a command leaves behind does not run with the person's rights.

use crate::ground::{Ground, data, wait_until};
use abide_protocol::{record::Permission, task::Approvals};
use abide_tools::{Finished, Place, Take};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
};
use tokio_util::sync::CancellationToken;

/// A work tree with a commit, and a program that leaves a mark when it runs. `{root}` in a command is the
/// work tree.
struct Site(Ground);

impl Site {
    fn new() -> Self {
        let site = Self::plain();
        site.git(&["init", "-q", "-b", "main"]);
        site.git(&["config", "user.name", "me"]);
        site.git(&["config", "user.email", "me@localhost"]);
        fs::write(site.0.path("file"), "one\n").unwrap();
        site.git(&["add", "file", "evil.sh"]);
        site.git(&["commit", "-qm", "first"]);
        site
    }

    fn plain() -> Self {
        let ground = Ground::new();
        let mark = ground.root().join("ran");
        fs::write(ground.path("evil.sh"), format!("#!/bin/sh\ntouch {}\ncat\n", mark.display())).unwrap();
        fs::set_permissions(ground.path("evil.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        Self(ground)
    }

    async fn shell(&self, command: &str) -> Finished {
        let command = command.replace("{root}", self.0.path("").to_str().unwrap().trim_end_matches('/'));
        let identity =
            "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ";
        self.0.call("shell", json!({ "command": format!("{identity}{command}") })).await
    }

    /// What a person does.
    #[expect(clippy::disallowed_methods, reason = "a person's git, which no sandbox confines")]
    fn git_in(&self, folder: &Path, arguments: &[&str]) -> bool {
        let git = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
        git.status.success()
    }

    fn git(&self, arguments: &[&str]) {
        assert!(self.git_in(&self.0.path(""), arguments), "{arguments:?}");
    }

    /// Nothing has run, also after a person looks everywhere.
    fn nothing_runs(&self, what: &str) {
        let mut folders = vec![self.0.path("")];
        while let Some(folder) = folders.pop() {
            for arguments in [&["status"][..], &["diff", "HEAD"], &["log", "-1"]] {
                self.git_in(&folder, arguments);
            }
            let inner =
                fs::read_dir(&folder).unwrap().flatten().filter(|entry| entry.file_type().unwrap().is_dir());
            folders.extend(inner.map(|entry| entry.path()).filter(|path| !path.ends_with("objects")));
        }
        assert!(!self.0.root().join("ran").exists(), "{what}");
    }
}

fn told(finished: &Finished) -> String {
    finished.result.diagnostics.join("\n")
}

/// Makes a repository in the folder `sub` with a commit.
const SUB: &str = "git init -q sub && echo x > sub/x && git -C sub add . && git -C sub commit -qm x";

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_a_command_makes_runs_nothing() {
    for (what, command) in [
        ("gitlink", format!("{SUB} && git -C sub config core.fsmonitor {{root}}/evil.sh && git add sub")),
        ("no gitlink", format!("{SUB} && git -C sub config core.fsmonitor {{root}}/evil.sh")),
        ("ignored", format!("echo sub > .gitignore && {SUB} && git -C sub config core.fsmonitor {{root}}/evil.sh")),
        ("deep", format!("mkdir -p a/b/c && cd a/b/c && {SUB} && git -C sub config core.fsmonitor {{root}}/evil.sh")),
        ("hook", format!("{SUB} && cp evil.sh sub/.git/hooks/post-index-change && touch sub/x && git add sub")),
        ("filter", format!("{SUB} && git -C sub config filter.t.clean {{root}}/evil.sh && echo '* filter=t' > sub/.gitattributes && git add sub && echo y > sub/x")),
        ("include", format!("{SUB} && printf '[core]\\nfsmonitor = {{root}}/evil.sh\\n' > c && git -C sub config include.path {{root}}/c && git add sub")),
        ("worktree configuration", format!("{SUB} && git -C sub config extensions.worktreeConfig true && git -C sub config --worktree core.fsmonitor {{root}}/evil.sh && git add sub")),
        ("modules", format!("{SUB} && mv sub m && mkdir -p .git/modules && mv m/.git .git/modules/m && echo 'gitdir: ../.git/modules/m' > m/.git \
                             && git add m && git config -f .git/modules/m/config core.worktree ../../../m \
                             && git config -f .git/modules/m/config core.fsmonitor {{root}}/evil.sh")),
        ("bare", "git init -q --bare b && git config -f b/config core.bare false && git config -f b/config core.worktree {root} \
                  && git config -f b/config core.fsmonitor {root}/evil.sh".to_owned()),
        ("a work tree of none", format!("{SUB} && mkdir c && mv sub/.git/objects sub/.git/refs c && printf '[core]\\nrepositoryformatversion=0\\nfsmonitor = {{root}}/evil.sh\\n' > c/config \
                                          && mkdir c/worktrees && mv sub/.git c/worktrees && echo ../.. > c/worktrees/.git/commondir && rm c/worktrees/.git/config")),
        ("elsewhere", format!("{SUB} && mkdir e && cp -r sub/.git/objects sub/.git/refs e && printf '[core]\\nrepositoryformatversion=0\\nfsmonitor = {{root}}/evil.sh\\n' > e/config \
                               && echo ../../e > sub/.git/commondir && git add sub")),
    ] {
        let site = Site::new();
        let finished = site.shell(&command).await;
        site.nothing_runs(what);
        assert!(told(&finished).contains("set aside"), "{what}: {finished:?}");
        assert!(site.git_in(&site.0.path(""), &["status"]), "{what}: git still works");
    }
    // In a folder that is no work tree.
    let site = Site::plain();
    let finished = site.shell("git init -q && git config core.fsmonitor {root}/evil.sh").await;
    site.nothing_runs("plain");
    assert!(told(&finished).contains("core.fsmonitor"), "{finished:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_runs_nothing_is_left_alone() {
    let site = Site::new();
    let finished = site
        .shell(&format!("{SUB} && git -C sub config user.name x && git clone -q sub copy && git add sub"))
        .await;
    assert_eq!((told(&finished).as_str(), finished.result.ok), ("", true), "{finished:?}");
    // From now on it is protected as the outer one.
    let finished = site.shell("git -C sub config core.fsmonitor x").await;
    assert!(!finished.result.ok, "{finished:?}");
    let finished = site.shell("git -C sub checkout -q -b topic && echo y > sub/y && git -C sub add . && git -C sub commit -qm y").await;
    assert!(finished.result.ok, "{finished:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_ends_when_a_person_s_git_would_run_something_of_it() {
    for command in [
        format!("{SUB} && git -C sub config core.fsmonitor {{root}}/evil.sh && git add sub"),
        format!("{SUB} && git add sub && git -C sub config core.fsmonitor {{root}}/evil.sh"),
        format!("{SUB} && git add sub && cd sub && {SUB} && git add sub && git -C sub config core.fsmonitor {{root}}/evil.sh"),
        "rm -rf .git/hooks; mkdir -p d && printf '[core]\\nfsmonitor = {root}/evil.sh\\n' > d/config && echo ../d > .git/commondir".to_owned(),
    ] {
        let site = Site::new();
        let finished = site.shell(&format!("{command}; sleep 600")).await;
        assert!(finished.result.message.contains("ended at once"), "{command}: {finished:?}");
        site.nothing_runs(&command);
    }
    let site = Site::plain();
    let finished = site.shell("git init -q && git config core.fsmonitor {root}/evil.sh; sleep 600").await;
    assert!(finished.result.message.contains("ended at once"), "{finished:?}");
    site.nothing_runs("plain");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_replaces_while_a_command_runs_stays_protected() {
    for (name, line) in [(".git/config", "[core]\\n\\tfsmonitor = {root}/evil.sh\\n"), (".envrc", "evil\\n")]
    {
        let site = Site::new();
        fs::write(site.0.path(".envrc"), "mine\n").unwrap();
        let before = site.0.text(name);
        let command = format!("touch begun; while :; do printf '{line}' >> {name}; done 2>/dev/null");
        let command = command.replace("{root}", site.0.path("").to_str().unwrap().trim_end_matches('/'));
        let running = site.0.start(&command);
        wait_until("the command to begin", || site.0.path("begun").exists()).await;
        // As editors and `git config` write a file.
        fs::write(site.0.path("new"), &before).unwrap();
        fs::rename(site.0.path("new"), site.0.path(name)).unwrap();
        let finished = running.end().await;
        assert!(finished.result.message.contains("ended at once"), "{name}: {finished:?}");
        // The head of a section may be left.
        assert_eq!(
            site.0.text(name).replace("[core]", "").trim_end(),
            before.replace("[core]", "").trim_end(),
            "{name}"
        );
        site.nothing_runs(name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_programs_run_is_set_aside_at_any_depth_and_kept() {
    let site = Site::new();
    let finished = site.shell("mkdir -p pkg/.vscode && echo task > pkg/.vscode/tasks.json && echo evil > pkg/.envrc && echo evil > .mcp.json").await;
    assert!(finished.result.ok);
    for name in ["pkg/.vscode", "pkg/.envrc", ".mcp.json"] {
        assert!(fs::symlink_metadata(site.0.path(name)).is_err(), "{name}");
        assert!(told(&finished).contains(&format!("`{name}` was taken away")), "{finished:?}");
    }
    let folder =
        told(&finished).split_once("set aside in ").unwrap().1.split_once(". What").unwrap().0.to_owned();
    assert_eq!(fs::read_to_string(Path::new(&folder).join("pkg_.vscode/tasks.json")).unwrap(), "task\n");
    // What is there is protected at any depth, too.
    fs::write(site.0.path("pkg/.envrc"), "mine\n").unwrap();
    let finished = site.shell("echo evil > pkg/.envrc").await;
    assert!(!finished.result.ok && site.0.text("pkg/.envrc") == "mine\n");
    // What a person makes before a command is theirs.
    fs::create_dir(site.0.path(".vscode")).unwrap();
    let finished = site.shell("ls -d .vscode").await;
    assert_eq!((data(&finished)["stdout"].as_str(), told(&finished).as_str()), (Some(".vscode\n"), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_stands_in_a_workspace_for_what_is_missing() {
    let site = Site::new();
    let finished = site.shell("ls -A; ls -A .git").await;
    let listed = data(&finished)["stdout"].as_str().unwrap().to_owned();
    for name in [".envrc", ".vscode", ".mcp.json", "commondir", "config.worktree"] {
        assert!(!listed.lines().any(|line| line == name), "{listed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_protected_link_and_what_it_leads_to_are_protected() {
    let mut site = Site::new();
    fs::create_dir(site.0.path("settings")).unwrap();
    fs::write(site.0.path("settings/tasks.json"), "{}").unwrap();
    symlink("settings", site.0.path(".vscode")).unwrap();
    symlink("nowhere", site.0.path(".claude")).unwrap();
    site.0.approvals = Approvals::Ask;
    let assessed = site.0.assess_one("shell", json!({ "command": "make" }));
    assert_eq!(assessed.permission, Permission::Sandbox, "{assessed:?}");
    for command in [
        "echo evil > settings/tasks.json",
        "rm .vscode && mkdir .vscode && echo evil > .vscode/tasks.json",
        "mkdir nowhere",
    ] {
        let _ = site.shell(command).await;
        assert_eq!(fs::read_link(site.0.path(".vscode")).unwrap(), Path::new("settings"), "{command}");
        assert_eq!(site.0.text("settings/tasks.json"), "{}", "{command}");
        assert!(!site.0.path("nowhere").exists(), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_git_s_configuration_names_cannot_be_changed_unasked() {
    let site = Site::new();
    fs::create_dir(site.0.path("tools")).unwrap();
    fs::write(site.0.path("tools/clean.sh"), "cat\n").unwrap();
    site.git(&["config", "filter.t.clean", "./tools/clean.sh"]);
    for command in [
        "cat evil.sh > tools/clean.sh",
        "cp --remove-destination evil.sh tools/clean.sh",
        "mv tools t && mkdir tools && cp evil.sh tools/clean.sh",
    ] {
        let _ = site.shell(command).await;
        assert_eq!(site.0.text("tools/clean.sh"), "cat\n", "{command}");
    }
    // One that is missing.
    site.git(&["config", "filter.t.smudge", "./tools/smudge.sh"]);
    let _ = site.shell("cp evil.sh tools/smudge.sh").await;
    assert!(!site.0.path("tools/smudge.sh").exists());
    let edit = site.0.assess_one("write", json!({ "path": "tools/clean.sh", "content": "x" }));
    assert_eq!(edit.permission, Permission::Ask, "{edit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_git_folder_asks_whatever_its_name() {
    let mut site = Site::new();
    site.0.approvals = Approvals::Ask;
    site.git(&["init", "-q", "--bare", "b"]);
    for folder in ["half/objects", "half/refs", "src"] {
        fs::create_dir_all(site.0.path(folder)).unwrap();
    }
    for path in ["b/config", "b/hooks/post-commit", "b/commondir", "half/HEAD", "half/config"] {
        let edit = site.0.assess_one("write", json!({ "path": path, "content": "x" }));
        assert_eq!(edit.permission, Permission::Ask, "{path}");
    }
    for path in ["config", "src/config", "HEAD"] {
        let edit = site.0.assess_one("write", json!({ "path": path, "content": "x" }));
        assert_eq!(edit.permission, Permission::Sandbox, "{path}");
    }
}

/// The daemon's own git neither enters a repository within the work tree nor runs what it configures.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_enters_no_repository() {
    let site = Site::new();
    site.git(&["init", "-q", "sub"]);
    fs::write(site.0.path("sub/x"), "x").unwrap();
    // Where git of a checkpoint could write.
    let (filter, mark) = (site.0.root().join("filter.sh"), site.0.path(".git/entered"));
    fs::write(&filter, format!("#!/bin/sh\ntouch {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&filter, fs::Permissions::from_mode(0o755)).unwrap();
    let sub = site.0.path("sub");
    for arguments in [
        &["config", "user.name", "x"][..],
        &["config", "user.email", "x"],
        &["add", "."],
        &["commit", "-qm", "x"],
        &["config", "filter.t.clean", filter.to_str().unwrap()],
    ] {
        assert!(site.git_in(&sub, arguments));
    }
    fs::write(site.0.path(".gitignore"), "sub\n").unwrap();
    site.git(&["add", "-f", "sub"]);
    fs::write(sub.join(".gitattributes"), "* filter=t\n").unwrap();
    fs::write(sub.join("x"), "y").unwrap();
    let place = Place {
        workspace: site.0.workspace(),
        environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        cancel: CancellationToken::new(),
    };
    let id = |n: u128| format!("0199aaaa-0000-7000-8000-{n:012}");
    let take = Take {
        conversation: id(1).parse().unwrap(),
        task: id(2).parse().unwrap(),
        previous: None,
        ran: None,
        label: "first".to_owned(),
    };
    site.0.tools.checkpoints().take(&place, &take).unwrap();
    assert!(!mark.exists());
}

/// A task in a folder above can put a link in the place of another conversation's workspace.
#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_whose_folder_became_a_link_is_not_used() {
    let site = Site::new();
    let assessed = site.0.assess_one("shell", json!({ "command": "touch mark" }));
    let other = site.0.root().join("other");
    fs::rename(site.0.path(""), &other).unwrap();
    symlink(&other, site.0.root().join("workspace")).unwrap();
    let finished = site.0.finish(assessed).await;
    assert!(!finished.result.ok && finished.result.message.contains("a link on its way"), "{finished:?}");
    assert!(!other.join("mark").exists());
    let written = site.0.assess_one("write", json!({ "path": "mark", "content": "x" }));
    assert!(matches!(written.permission, Permission::Denied(_)), "{written:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_leaves_in_another_writable_folder_is_set_aside_too() {
    let mut site = Site::new();
    let other = site.0.root().join("other");
    fs::create_dir(&other).unwrap();
    site.0.sandbox.writable = vec![other.clone()];
    let other = other.display();
    let finished = site
        .shell(&format!(
            "git init -q {other}/sub && git -C {other}/sub config core.fsmonitor x && touch {other}/.envrc"
        ))
        .await;
    assert!(finished.result.ok, "{finished:?}");
    assert!(told(&finished).contains("core.fsmonitor") && told(&finished).contains(".envrc"), "{finished:?}");
}
