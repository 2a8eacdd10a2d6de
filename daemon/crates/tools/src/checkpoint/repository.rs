use super::{
    CheckpointFolders, NoCheckpoint, Place,
    found::Found,
    git::{Git, GitDir},
    plain::measure,
    plan::{Change, parse_raw},
};
use crate::{command::find, run::CallRunner, sandbox::git::is_git_folder, workspace::Workspace};
use abide_protocol::{ConversationId, checkpoint::SavedTree};
use rustix::fs::{AtFlags, Stat, statat};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::{
            ffi::OsStrExt as _,
            fs::{DirBuilderExt as _, OpenOptionsExt as _},
        },
    },
    path::{Path, PathBuf},
    sync::Arc,
};

/// The attributes of our git directory, which precede all others: git keeps and shows contents as they are.
const ATTRIBUTES: &str = "* -text -crlf -eol -ident -filter !diff !working-tree-encoding\n";

/// A workspace's work tree, and our git directory for it.
pub(super) struct Repository<'a> {
    git: Git<'a>,
    /// The work tree's root, open.
    root: OwnedFd,
    top: String,
    /// The workspace, relative to the top.
    pub(super) workspace: PathBuf,
    /// Our git directory.
    pub(super) folder: String,
    /// The person's repository. `None`: the work tree is a scratch folder, or in no repository.
    pub(super) found: Option<Found>,
    /// Abide made the work tree, so nobody else works in it.
    pub(super) is_ours: bool,
}

/// The work tree to which one of our git directories belongs, and its git.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) work_tree: String,
    pub(super) program: String,
}

impl<'a> Repository<'a> {
    pub(super) fn open(
        runner: &'a CallRunner,
        folders: &CheckpointFolders,
        place: &'a Place,
        earlier: Option<&SavedTree>,
    ) -> Result<Self, NoCheckpoint> {
        let path = PathBuf::from(&place.workspace);
        let open = |top: &str| Workspace::open(top, Arc::clone(&runner.closed));
        let unusable = |error: crate::workspace::PathError| NoCheckpoint::Io {
            path: path.clone(),
            source: io::Error::other(error.to_string()),
        };
        let workspace = runner.workspace(&place.workspace).map_err(unusable)?;
        let program = git_for(&workspace, place).ok_or(NoCheckpoint::NoGit)?;
        let variable =
            |name: &str| place.environment.get(name).filter(|value| !value.is_empty()).map(Path::new);
        let home = variable("HOME").unwrap_or(&runner.planner.home);
        let config_home = variable("XDG_CONFIG_HOME");
        let real = workspace.real();
        let (is_scratch, is_worktree) = (runner.is_scratch(&workspace), runner.is_worktree(&workspace));
        let kept = earlier.and_then(|earlier| kept_with(&folders.kept, &earlier.commit, real));
        let (found, top, kept) = match kept {
            Some((kept, top)) => {
                let is_repository = kept != folders.kept.join(name_of_plain(&top));
                let found = if is_repository { Found::at(&top, home, config_home) } else { None };
                (found, top, kept)
            }
            None => {
                // A home folder that is a work tree is not the project of the folders in it.
                let found =
                    || Found::of(real, home, config_home).filter(|found| !workspace.is_broad_at(&found.top));
                let found = if is_scratch { None } else { found() };
                let top = found.as_ref().map_or(real, |found| &found.top).to_owned();
                let kept = folders.kept.join(match &found {
                    Some(found) => name(&[
                        &top.to_string_lossy(),
                        &found.common.to_string_lossy(),
                        if found.is_sha256 { "sha256" } else { "sha1" },
                    ]),
                    None => name_of_plain(&top),
                });
                if found.is_none() && !is_scratch {
                    refuse_plain(&workspace, &kept)?;
                }
                (found, top, kept)
            }
        };
        let top = top.to_str().ok_or(NoCheckpoint::NotUtf8)?.to_owned();
        let tree = open(&top).map_err(unusable)?;
        if tree.is_broad() {
            return Err(NoCheckpoint::Broad(top.into()));
        }
        let root = tree.root().map_err(NoCheckpoint::io(&path))?;
        let owner = Owner { work_tree: top.clone(), program: program.clone() };
        prepare(&kept, found.as_ref(), &owner).map_err(NoCheckpoint::io(&kept))?;
        // Work trees that Abide made lie in a hidden folder, so git must be shown them.
        let is_made = found.is_none() || is_worktree;
        let plan = runner.plan_git(&[&kept], is_made.then(|| tree.real()));
        let folder = kept.into_os_string().into_string().map_err(|_| NoCheckpoint::NotUtf8)?;
        let git = Git {
            helpers: &runner.helpers,
            live: &runner.live,
            program,
            environment: &place.environment,
            directory: root.try_clone().map_err(NoCheckpoint::io(&path))?,
            cancel: place.cancel.clone(),
            directory_path: tree.real().display().to_string(),
            plan,
        };
        let workspace = workspace.real().strip_prefix(tree.real()).unwrap_or(Path::new("")).to_owned();
        let is_ours = is_scratch || is_worktree;
        Ok(Self { git, root, top, workspace, folder, found, is_ours })
    }

    /// Refuses a workspace that git ignores.
    pub(super) fn refuse_ignored(&self) -> Result<(), NoCheckpoint> {
        let Some(workspace) = self.workspace.to_str() else { return Err(NoCheckpoint::NotUtf8) };
        let index = self.file("index");
        if !workspace.is_empty()
            && self
                .git
                .start(self.ours(&index), &["check-ignore", "-q", "--", workspace], &[])?
                .finish()?
                .code
                == 0
        {
            return Err(NoCheckpoint::Ignored(self.top().join(workspace)));
        }
        Ok(())
    }

    pub(super) fn git(&self) -> &Git<'a> {
        &self.git
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    pub(super) fn top(&self) -> &Path {
        Path::new(&self.top)
    }

    /// The workspace.
    pub(super) fn workspace(&self) -> PathBuf {
        self.top().join(&self.workspace)
    }

    /// The path of a file in our git directory.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Runs a command on our index of the work tree.
    pub(super) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, NoCheckpoint> {
        self.run_on(&self.file("index"), arguments, input)
    }

    /// Runs a command on another index of ours.
    pub(super) fn run_on(
        &self,
        index: &str,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, NoCheckpoint> {
        self.git.run(self.ours(index), arguments, input)
    }

    pub(super) fn ours<'b>(&'b self, index: &'b str) -> GitDir<'b> {
        GitDir::Ours { folder: &self.folder, work_tree: &self.top, index }
    }

    /// Sets a reference of a conversation to this commit.
    pub(super) fn refer(&self, name: &str, commit: &str) -> Result<(), NoCheckpoint> {
        self.run(&["update-ref", "--no-deref", name, commit], &[]).map(drop)
    }

    /// The commit of a reference, if there is one.
    pub(super) fn referred(&self, name: &str) -> Result<Option<String>, NoCheckpoint> {
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let done = self.git.start(self.ours(""), &arguments, &[])?.finish()?;
        if done.code == 0 { id(&done.stdout, "rev-parse").map(Some) } else { Ok(None) }
    }

    /// Notes that the conversation has references here.
    pub(super) fn note(&self, conversation: ConversationId) -> Result<(), NoCheckpoint> {
        let path = PathBuf::from(self.file(super::forget::CONVERSATIONS)).join(conversation.to_string());
        private(&path).map(drop).map_err(NoCheckpoint::io(&path))
    }

    /// The differences between two trees.
    pub(super) fn diff(&self, before: &str, after: &str) -> Result<Vec<Change>, NoCheckpoint> {
        let arguments = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--ignore-submodules=all",
            before,
            after,
        ];
        let raw = self.run(&arguments, &[])?;
        parse_raw(raw.split(|byte| *byte == 0)).ok_or(NoCheckpoint::Answer { what: "diff-tree" })
    }

    /// The index's tree. The tree may list files that are left out, and objects that git has collected in the
    /// person's repository.
    pub(super) fn write_tree(&self, index: &str) -> Result<String, NoCheckpoint> {
        id(&self.run_on(index, &["write-tree", "--missing-ok"], &[])?, "write-tree")
    }

    /// A file's metadata; a link is not followed.
    pub(super) fn stat(&self, path: &[u8]) -> Option<Stat> {
        statat(&self.root, OsStr::from_bytes(path), AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}

/// The git program of a task that works here, but none that the task could have made.
pub(crate) fn git_for(workspace: &Workspace, place: &Place) -> Option<String> {
    find("git", place.environment.get("PATH").map(String::as_str))
        .filter(|program| crate::command::is_trusted(program.as_ref(), workspace, &[]))
        .or_else(|| find("git", None))
}

/// The id that a command has printed.
pub(super) fn id(output: &[u8], what: &'static str) -> Result<String, NoCheckpoint> {
    let text = str::from_utf8(output).map(str::trim).unwrap_or_default();
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Ok(text.to_owned()) } else { Err(NoCheckpoint::Answer { what }) }
}

/// Refuses a folder outside of repositories that is too large or too broad. A folder that already has a
/// checkpoint is accepted.
fn refuse_plain(workspace: &Workspace, kept: &Path) -> Result<(), NoCheckpoint> {
    let folder = workspace.real();
    if workspace.is_broad() {
        return Err(NoCheckpoint::Broad(folder.to_owned()));
    }
    if let Some(git) = folder.ancestors().find(|above| is_git_folder(above)) {
        return Err(NoCheckpoint::GitFolder(git.to_owned()));
    }
    if kept.join("index").exists() { Ok(()) } else { measure(folder) }
}

/// Our git directory that has this commit, and its work tree, which holds the workspace.
fn kept_with(all: &Path, commit: &str, workspace: &Path) -> Option<(PathBuf, PathBuf)> {
    let (start, rest) = commit.split_at_checked(2)?;
    let object = Path::new("objects").join(start).join(rest);
    let with = fs::read_dir(all)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|kept| kept.join(&object).exists());
    let holding = with.filter_map(|kept| {
        let top = PathBuf::from(super::forget::owner(&kept).ok()?.work_tree);
        workspace.starts_with(&top).then_some((kept, top))
    });
    holding.max_by_key(|(_, top)| top.components().count())
}

/// The name of our git directory for a work tree.
fn name(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The name of our git directory for a work tree outside of repositories.
fn name_of_plain(top: &Path) -> String {
    name(&[&top.to_string_lossy(), "", "sha1"])
}

/// Opens a file of ours, empty.
pub(super) fn private(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes our git directory, or completes one whose making was interrupted. The directory borrows the objects
/// of the person's repository.
fn prepare(folder: &Path, found: Option<&Found>, owner: &Owner) -> io::Result<()> {
    for name in ["", "objects", "objects/info", "refs", "info", super::forget::CONVERSATIONS] {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join(name))?;
    }
    let format = if found.is_some_and(|found| found.is_sha256) { "sha256" } else { "sha1" };
    let excludes = found.and_then(|found| found.excludes.as_deref()).unwrap_or(Path::new("/dev/null"));
    // All objects are synced: a record names them from now on.
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfileMode = true\n\tsymlinks = true\n\tautocrlf = false\n\
         \tsharedRepository = 0600\n\texcludesFile = {}\n\
         \tfsync = objects,reference,index\n\tfsyncMethod = batch\n[extensions]\n\tobjectFormat = {format}\n[gc]\n\tauto = 0\n",
        quoted(&excludes.to_string_lossy())
    );
    let alternates = found.map(Found::objects).unwrap_or_default();
    let alternates: String =
        alternates.iter().map(|objects| format!("{}\n", quoted(&objects.to_string_lossy()))).collect();
    let owner = serde_json::to_string(owner)?;
    let exclude = found.map(Found::exclude).unwrap_or_default();
    let files = [
        ("HEAD", b"ref: refs/heads/none\n".as_slice()),
        ("config", config.as_bytes()),
        ("info/attributes", ATTRIBUTES.as_bytes()),
        ("info/exclude", &*exclude),
        ("objects/info/alternates", alternates.as_bytes()),
        (super::forget::OWNER, owner.as_bytes()),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        if !fs::read(&path).is_ok_and(|there| there == content) {
            private(&path)?.write_all(content)?;
        }
    }
    Ok(())
}

/// A path as git's files have it.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}
