//! Git worktrees of tasks, in real repositories.

use crate::ground::{Ground, block};
use abide_protocol::ConversationId;
use abide_tools::{NewWorktree, NoWorktree, Place, Run, Unmerged, Worktree, Worktrees};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};
use tokio_util::sync::CancellationToken;

/// A person's repository.
struct Site {
    ground: Ground,
}

impl Site {
    fn new() -> Self {
        Self::on(Ground::new())
    }

    fn on(ground: Ground) -> Self {
        let site = Self { ground };
        site.git(&["init", "-q", "-b", "main"]);
        site.write("d/b", "b\n");
        site.write(".gitignore", "*.log\n");
        site.git(&["add", "-A"]);
        site.git(&["commit", "-q", "-m", "one"]);
        site
    }

    fn top(&self) -> PathBuf {
        self.ground.path("")
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.ground.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.top(), arguments)
    }

    fn worktrees(&self) -> &Worktrees {
        self.ground.tools.worktrees()
    }

    fn make(
        &self,
        folder: &str,
        change: impl FnOnce(&mut NewWorktree),
    ) -> Result<(Worktree, String), NoWorktree> {
        let conversation = "0199aaaa-0000-7000-8000-000000000001".parse().unwrap();
        let mut new = NewWorktree { conversation, task: None, branch: None, copy: Vec::new() };
        change(&mut new);
        let workspace = self.ground.path(folder);
        let place = Place {
            workspace: workspace.to_str().unwrap().trim_end_matches('/').to_owned(),
            environment: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
            cancel: CancellationToken::new(),
        };
        self.worktrees().make(&place, new)
    }

    fn made(&self) -> Worktree {
        self.make("", |_| {}).unwrap().0
    }

    fn refused(&self, worktree: &Worktree) -> Unmerged {
        let error = self.worktrees().remove(worktree).unwrap_err();
        assert!(matches!(error, NoWorktree::Unmerged { .. }), "{error}");
        self.worktrees().unmerged(worktree).unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "the person's git")]
fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=P", "-c", "user.email=p@localhost"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn the_folders_of_one_place_are_those_in_all_work_trees_of_its_repository() {
    let site = Site::new();
    let (worktree, workspace) = site.make("d", |_| {}).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| fs::canonicalize(outside.path()).unwrap().join(name).to_str().unwrap().to_owned();
    site.git(&["worktree", "add", "-q", &at("hand"), "HEAD"]);
    let main = site.ground.workspace();
    let alike = |folder: &str| {
        let mut all = Worktrees::alike(folder);
        all[1..].sort();
        all
    };
    let sorted = |mut all: [String; 3]| {
        all[1..].sort();
        all
    };
    let tops = sorted([main.clone(), worktree.path.to_str().unwrap().to_owned(), at("hand")]);
    let folders = sorted([format!("{main}/d"), workspace, format!("{}/d", at("hand"))]);
    for all in [&tops, &folders] {
        for folder in all {
            assert_eq!(alike(folder), *all);
        }
    }
    // Another repository's work tree does not name this one.
    fs::create_dir(at("other")).unwrap();
    git_in(Path::new(&at("other")), &["init", "-q"]);
    let planted = site.ground.path(".git/worktrees/planted");
    fs::create_dir(&planted).unwrap();
    fs::write(planted.join("gitdir"), format!("{}/.git\n", at("other"))).unwrap();
    assert_eq!(alike(&main), tops);
    assert_eq!(alike(&at("other")), [at("other")]);
    assert_eq!(alike(&at("no-repository")), [at("no-repository")]);
}

fn files(names: &[&str], commits: u64) -> Unmerged {
    Unmerged { files: names.iter().map(|name| (*name).to_owned()).collect(), commits }
}

#[test]
fn it_has_the_commit_a_branch_of_its_own_and_the_files_that_are_named() {
    let site = Site::new();
    site.write("d/b", "changed\n");
    site.write(".env", "SECRET=1\n");
    site.write("big/config", "x");
    symlink("/etc/passwd", site.ground.path("out")).unwrap();
    let copy = |files: &[&str]| files.iter().map(PathBuf::from).collect();
    let (worktree, workspace) =
        site.make("d", |new| new.copy = copy(&[".env", "big/config", "missing", "d/b"])).unwrap();
    assert_eq!(Path::new(&workspace), worktree.path.join("d"), "the folder of the place");
    assert_eq!(fs::read_to_string(worktree.path.join("d/b")).unwrap(), "b\n");
    assert_eq!(fs::read_to_string(worktree.path.join(".env")).unwrap(), "SECRET=1\n");
    assert_eq!(fs::read_to_string(worktree.path.join("big/config")).unwrap(), "x");
    assert_eq!(git_in(&worktree.path, &["branch", "--show-current"]), format!("{}\n", worktree.branch));
    let origin = |workspace: &str| site.worktrees().origin(workspace);
    assert_eq!(origin(&workspace), Some(format!("{}/d", site.ground.workspace())));
    assert_eq!(origin(worktree.path.to_str().unwrap()), Some(site.ground.workspace()));
    assert_eq!(origin(&site.ground.workspace()), None);
    assert!(site.worktrees().holds(&workspace) && !site.worktrees().holds(&site.ground.workspace()));
    assert_eq!(site.ground.text("d/b"), "changed\n");
    // What was copied is no change until it differs.
    assert_eq!(site.worktrees().unmerged(&worktree).unwrap(), Unmerged::default());
    fs::write(worktree.path.join(".env"), "SECRET=2\n").unwrap();
    assert_eq!(site.refused(&worktree), files(&[".env"], 0));

    let error = site.make("", |new| {
        (new.conversation, new.copy) =
            ("0199aaaa-0000-7000-8000-000000000002".parse::<ConversationId>().unwrap(), copy(&["out"]));
    });
    assert!(matches!(error, Err(NoWorktree::Copy { .. })), "{error:?}");
    assert_eq!(site.worktrees().list().len(), 1, "nothing of it is left");
    assert!(!site.git(&["branch"]).contains("00000002"));
}

#[test]
fn it_is_removed_only_if_nothing_is_lost() {
    let site = Site::new();
    let worktree = site.made();
    let at = |name: &str| worktree.path.join(name);
    fs::write(at("x.log"), "ignored").unwrap();
    fs::write(at("new"), "new").unwrap();
    fs::write(at("d/b"), "changed\n").unwrap();
    assert_eq!(site.refused(&worktree), files(&["d/b", "new"], 0));
    git_in(&worktree.path, &["add", "-A"]);
    assert_eq!(site.refused(&worktree), files(&["d/b", "new"], 0));
    git_in(&worktree.path, &["commit", "-q", "-m", "two"]);
    let what = site.refused(&worktree);
    assert_eq!(
        (what.clone(), what.to_string()),
        (files(&[], 1), "1 commit that no other branch has".to_owned())
    );
    // Neither does another commit without a branch, nor one that only the worktree's branch has.
    git_in(&worktree.path, &["checkout", "-q", "--detach"]);
    git_in(&worktree.path, &["commit", "-q", "--allow-empty", "-m", "three"]);
    assert_eq!(site.refused(&worktree), files(&[], 2));
    git_in(&worktree.path, &["checkout", "-q", &worktree.branch]);

    site.git(&["merge", "-q", &worktree.branch]);
    site.worktrees().remove(&worktree).unwrap();
    assert!(!worktree.path.parent().unwrap().exists());
    assert_eq!(site.git(&["branch", "--format=%(refname:short)"]), "main\n");
    assert_eq!(site.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(site.ground.text("new"), "new");
}

#[test]
fn a_named_branch_stays_and_one_that_is_in_use_is_refused() {
    let site = Site::new();
    let named = |name: &str| site.make("", |new| new.branch = Some(name.to_owned()));
    for (name, says) in [("main", "main"), ("a..b", "not a valid name"), ("-x", "not a valid name")] {
        let error = named(name).unwrap_err().to_string();
        assert!(error.contains(says), "{name}: {error}");
    }
    assert!(site.worktrees().list().is_empty());
    let (worktree, _) = named("feature/x").unwrap();
    site.worktrees().remove(&worktree).unwrap();
    let (worktree, _) = named("feature/x").unwrap();
    assert_eq!(worktree.branch, "feature/x");
    site.worktrees().remove(&worktree).unwrap();
    assert!(site.git(&["branch"]).contains("feature/x"));
}

#[test]
fn no_program_of_the_repository_runs() {
    // In a sandbox it could leave no mark.
    let site = Site::on(Ground::unconfined());
    let mark = site.ground.root().join("ran");
    let program = site.ground.root().join("program");
    fs::write(&program, format!("#!/bin/sh\necho $0 $* >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    site.write(".gitattributes", "*.f filter=a.b=c\n*.p filter=p\n");
    site.write("x.f", "x");
    site.write("x.p", "x");
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", "two"]);
    for (name, value) in [
        ("filter.a.b=c.smudge", program),
        ("filter.a.b=c.clean", program),
        ("filter.a.b=c.required", "true"),
        ("filter.p.process", program),
        ("filter.p.required", "true"),
        ("core.fsmonitor", program),
        ("core.sshCommand", program),
        ("core.editor", program),
        ("core.pager", program),
    ] {
        site.git(&["config", name, value]);
    }
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-commit"] {
        let hook = site.ground.path(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(program, hook).unwrap();
    }
    let worktree = site.made();
    assert_eq!(fs::read_to_string(worktree.path.join("x.f")).unwrap(), "x");
    // So that git compares contents.
    fs::write(worktree.path.join("x.f"), "y").unwrap();
    assert_eq!(site.refused(&worktree), files(&["x.f"], 0));
    fs::write(worktree.path.join("x.f"), "x").unwrap();
    site.worktrees().remove(&worktree).unwrap();
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());
}

#[test]
fn without_a_repository_or_a_commit_there_is_none() {
    let ground = Ground::new();
    let site = Site { ground };
    assert!(matches!(site.make("", |_| {}), Err(NoWorktree::NoRepository(_))));
    site.git(&["init", "-q", "-b", "main"]);
    assert!(matches!(site.make("", |_| {}), Err(NoWorktree::NoCommit(_))));
    assert!(site.worktrees().list().is_empty());
}

/// Another `.git` than its own would be compared with branches of the model's choice.
#[test]
fn one_that_is_cut_from_its_repository_stays() {
    let site = Site::new();
    let worktree = site.made();
    fs::remove_file(worktree.path.join(".git")).unwrap();
    git_in(&worktree.path, &["init", "-q"]);
    assert!(matches!(site.worktrees().remove(&worktree), Err(NoWorktree::Cut { .. })));
    assert!(worktree.path.join("d/b").exists());
    // A person has removed it.
    fs::remove_dir_all(&worktree.path).unwrap();
    site.worktrees().remove(&worktree).unwrap();
    assert_eq!(site.git(&["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn a_command_commits_in_it_and_changes_neither_the_person_s_files_nor_what_their_git_runs() {
    let site = Site::new();
    let worktree = site.made();
    let workspace = worktree.path.to_str().unwrap();
    let command = format!(
        "echo c > c && git add -A && git -c user.name=T -c user.email=t@localhost commit -q -m c && git log --format=%s -1; \
         echo x > {}/x; echo >> .git; echo hook > $(git rev-parse --git-common-dir)/hooks/post-commit",
        site.top().display()
    );
    let call = block("shell", &serde_json::json!({ "command": command }).to_string());
    let assessed = site.ground.assess_in(workspace, &[call], &|_| None).pop().unwrap();
    let run = Run { workspace: workspace.to_owned(), ..site.ground.run(assessed) };
    let text = site.ground.start_run(run).end().await.result.text();
    assert!(text.contains("c\n"), "{text}");
    assert_eq!(git_in(&worktree.path, &["log", "--format=%s", "-1"]), "c\n");
    assert!(
        !site.ground.path("x").exists() && !site.ground.path(".git/hooks/post-commit").exists(),
        "{text}"
    );
    assert_eq!(site.git(&["log", "--format=%s", "-1"]), "one\n");
}
