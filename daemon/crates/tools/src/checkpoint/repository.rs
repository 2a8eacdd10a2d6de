use super::{
    CheckpointFolders, MAX_NEW, NoCheckpoint, Place,
    git::{Git, GitDir},
    plan::{Change, parse_raw},
};
use crate::{command::find, run::Runner, workspace::Workspace};
use abide_protocol::ConversationId;
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

/// The attributes of our git directory, which come before all others: contents are taken and shown as they are.
const ATTRIBUTES: &str = "* -text -crlf -eol -ident -filter !diff !working-tree-encoding\n";

/// A workspace's work tree, and where its files are kept.
pub(super) struct Repository<'a> {
    git: Git<'a>,
    /// The work tree's root, open.
    root: OwnedFd,
    top: String,
    /// Our git directory.
    pub(super) folder: String,
    /// Where objects are written.
    objects: String,
    /// The repository's own git directory, the one that its work trees share; `None`: the work tree is a scratch folder.
    theirs: Option<String>,
    /// Files with patterns of ignored files, besides the `.gitignore`s.
    excludes: Vec<String>,
    /// `None`: the work tree is a scratch folder.
    found: Option<Found>,
}

/// What a folder of ours belongs to, so that its references are found again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) work_tree: String,
    pub(super) theirs: Option<String>,
    pub(super) program: String,
}

impl<'a> Repository<'a> {
    pub(super) fn open(
        runner: &'a Runner,
        folders: &CheckpointFolders,
        place: &'a Place,
        known: Option<Found>,
    ) -> Result<Self, NoCheckpoint> {
        let path = PathBuf::from(&place.workspace);
        let open = |top: &str| Workspace::open(top, Arc::clone(&runner.closed));
        let unusable = |error: crate::workspace::PathError| NoCheckpoint::Io {
            path: path.clone(),
            source: io::Error::other(error.to_string()),
        };
        let workspace = open(&place.workspace).map_err(unusable)?;
        let program = find("git", place.environment.get("PATH").map(String::as_str))
            .filter(|program| crate::command::is_trusted(program.as_ref(), &workspace, &[]))
            .or_else(|| find("git", None))
            .ok_or(NoCheckpoint::NoGit)?;
        let git = Git {
            helpers: &runner.helpers,
            live: &runner.live,
            placeholders: &runner.planner.placeholders,
            program,
            environment: &place.environment,
            directory: workspace.root().map_err(NoCheckpoint::io(&path))?,
            cancel: place.cancel.clone(),
            directory_path: workspace.real().display().to_string(),
            plan: runner.plan_git(Vec::new()),
        };
        let is_scratch = runner.is_scratch(&workspace);
        let is_known = known.is_some();
        let found = match known {
            _ if is_scratch => None,
            Some(known) => Some(known),
            None => Some(Found::ask(&git, &path)?),
        };
        let top = match &found {
            Some(found) => found.top.clone(),
            None => workspace.real().to_str().ok_or(NoCheckpoint::NotUtf8)?.to_owned(),
        };
        let tree = open(&top).map_err(unusable)?;
        if tree.is_broad() {
            return Err(NoCheckpoint::Broad(top.into()));
        }
        if !is_known
            && workspace.real() != tree.real()
            && git.start(GitDir::Found, &["check-ignore", "-q", "."], &[])?.finish()?.code == 0
        {
            return Err(NoCheckpoint::Ignored(path));
        }
        let root = tree.root().map_err(NoCheckpoint::io(&path))?;
        let git = Git {
            directory: root.try_clone().map_err(NoCheckpoint::io(&path))?,
            directory_path: tree.real().display().to_string(),
            ..git
        };
        let format = found.as_ref().map_or("sha1", |found| &found.format);
        let owner = Owner {
            work_tree: top.clone(),
            theirs: found.as_ref().map(|found| found.common.clone()),
            program: git.program.clone(),
        };
        let folder = folders.kept.join(name(&[&top, owner.theirs.as_deref().unwrap_or_default(), format]));
        prepare(&folder, format, &owner).map_err(NoCheckpoint::io(&folder))?;
        let folder = folder.into_os_string().into_string().map_err(|_| NoCheckpoint::NotUtf8)?;
        let (objects, excludes) = match &found {
            Some(found) => (found.objects.clone(), found.excludes.clone()),
            None => (format!("{folder}/objects"), Vec::new()),
        };
        let writable = [&top, &folder].into_iter().chain(&owner.theirs).map(PathBuf::from).collect();
        let git = Git { plan: runner.plan_git(writable), ..git };
        Ok(Self { git, root, top, folder, objects, theirs: owner.theirs, excludes, found })
    }

    pub(super) const fn found(&self) -> Option<&Found> {
        self.found.as_ref()
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

    /// A file of ours.
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
        GitDir::Ours { folder: &self.folder, work_tree: &self.top, objects: &self.objects, index }
    }

    /// Sets a reference of a conversation to this commit.
    pub(super) fn refer(&self, name: &str, commit: &str) -> Result<(), NoCheckpoint> {
        self.git.run(self.references(), &["update-ref", "--no-deref", name, commit], &[]).map(drop)
    }

    /// The commit of a reference, if there is one.
    pub(super) fn referred(&self, name: &str) -> Result<Option<String>, NoCheckpoint> {
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let done = self.git.start(self.references(), &arguments, &[])?.finish()?;
        if done.code == 0 { id(&done.stdout, "rev-parse").map(Some) } else { Ok(None) }
    }

    /// The git directory with the references.
    fn references(&self) -> GitDir<'_> {
        match &self.theirs {
            Some(theirs) => GitDir::Theirs(theirs),
            None => self.ours(""),
        }
    }

    /// Notes that the conversation has references here.
    pub(super) fn note(&self, conversation: ConversationId) -> Result<(), NoCheckpoint> {
        let path = PathBuf::from(self.file(super::forget::CONVERSATIONS)).join(conversation.to_string());
        private(&path).map(drop).map_err(NoCheckpoint::io(&path))
    }

    /// The differences between two trees.
    pub(super) fn diff(&self, before: &str, after: &str) -> Result<Vec<Change>, NoCheckpoint> {
        let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", before, after];
        let raw = self.run(&arguments, &[])?;
        parse_raw(raw.split(|byte| *byte == 0)).ok_or(NoCheckpoint::Answer { what: "diff-tree" })
    }

    /// The index's tree.
    pub(super) fn write_tree(&self, index: &str) -> Result<String, NoCheckpoint> {
        id(&self.run_on(index, &["write-tree"], &[])?, "write-tree")
    }

    /// The arguments that leave ignored files out.
    pub(super) fn ignoring(&self) -> Vec<&str> {
        let files = self.excludes.iter().flat_map(|file| ["-X", file.as_str()]);
        ["--exclude-per-directory=.gitignore"].into_iter().chain(files).collect()
    }

    /// Refuses a work tree with too much that git does not have, or with repositories of its own.
    pub(super) fn weigh_untracked(&self) -> Result<(), NoCheckpoint> {
        // Whatever is tracked is in the repository's objects already, or nearly all of it.
        let listed = match self.theirs {
            Some(_) => self.git.run(GitDir::Found, &["ls-files", "-z", "-o", "--exclude-standard"], &[])?,
            None => self.run(&[&["ls-files", "-z", "-o"], &*self.ignoring()].concat(), &[])?,
        };
        self.weigh(listed.split(|byte| *byte == 0))
    }

    /// Refuses too much to keep, and repositories of their own, which git lists with a slash.
    pub(super) fn weigh<'p>(&self, paths: impl Iterator<Item = &'p [u8]>) -> Result<(), NoCheckpoint> {
        let mut bytes = 0u64;
        for path in paths.filter(|path| !path.is_empty()) {
            if path.ends_with(b"/") {
                return Err(NoCheckpoint::Nested(OsStr::from_bytes(path).into()));
            }
            bytes = bytes.saturating_add(self.stat(path).map_or(0, |stat| stat.st_size.unsigned_abs()));
        }
        if bytes > MAX_NEW { Err(NoCheckpoint::TooMuch { bytes }) } else { Ok(()) }
    }

    /// A file's metadata; a link is not followed.
    pub(super) fn stat(&self, path: &[u8]) -> Option<Stat> {
        statat(&self.root, OsStr::from_bytes(path), AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Whether there is a repository of the person's, which may track ignored files.
    pub(super) const fn has_theirs(&self) -> bool {
        self.theirs.is_some()
    }
}

/// The id that a command has printed.
pub(super) fn id(output: &[u8], what: &'static str) -> Result<String, NoCheckpoint> {
    let text = str::from_utf8(output).map(str::trim).unwrap_or_default();
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Ok(text.to_owned()) } else { Err(NoCheckpoint::Answer { what }) }
}

/// The repository around a workspace.
#[derive(Debug, Clone)]
pub(super) struct Found {
    top: String,
    common: String,
    objects: String,
    format: String,
    excludes: Vec<String>,
}

impl Found {
    /// Whether it is where it was found.
    pub(super) fn is_there(&self) -> bool {
        Path::new(&self.common).is_dir() && Path::new(&self.top).join(".git").exists()
    }

    fn ask(git: &Git<'_>, workspace: &Path) -> Result<Self, NoCheckpoint> {
        let arguments = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-common-dir",
            "--git-path",
            "objects",
            "--git-path",
            "info/exclude",
            "--show-object-format",
        ];
        let done = git.start(GitDir::Found, &arguments, &[])?.finish()?;
        if done.code != 0 {
            let is_none = ["not a git repository", "must be run in a work tree"];
            return Err(if is_none.iter().any(|words| done.words.contains(words)) {
                NoCheckpoint::NoRepository(workspace.to_owned())
            } else {
                NoCheckpoint::Failed { what: "rev-parse".to_owned(), words: done.words }
            });
        }
        let text = String::from_utf8(done.stdout).map_err(|_| NoCheckpoint::NotUtf8)?;
        let lines: Vec<&str> = text.lines().collect();
        // A line break in a path makes more lines.
        let [top, common, objects, exclude, format] = *lines else {
            return Err(NoCheckpoint::Answer { what: "rev-parse" });
        };
        let arguments = ["config", "--type=path", "-z", "--get", "core.excludesFile"];
        let done = git.start(GitDir::Found, &arguments, &[])?.finish()?;
        let configured = String::from_utf8(done.stdout).map_err(|_| NoCheckpoint::NotUtf8)?;
        let configured = configured.trim_end_matches('\0');
        let of_user = if configured.is_empty() { user_excludes(git) } else { Some(configured.to_owned()) };
        let is_there = |file: &String| Path::new(file).is_file();
        let excludes = of_user.into_iter().chain([exclude.to_owned()]).filter(is_there).collect();
        Ok(Self {
            top: top.to_owned(),
            common: common.to_owned(),
            objects: objects.to_owned(),
            format: format.to_owned(),
            excludes,
        })
    }
}

/// Where git looks for a person's ignore patterns if nothing is configured.
fn user_excludes(git: &Git<'_>) -> Option<String> {
    let of = |name: &str| git.environment.get(name).filter(|value| !value.is_empty());
    let config = of("XDG_CONFIG_HOME").cloned().or_else(|| Some(format!("{}/.config", of("HOME")?)))?;
    Some(format!("{config}/git/ignore"))
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

/// Opens a file of ours, empty.
pub(super) fn private(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes our git directory, or completes one whose making was interrupted.
fn prepare(folder: &Path, format: &str, owner: &Owner) -> io::Result<()> {
    for name in ["", "objects", "refs", "info", super::forget::CONVERSATIONS] {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join(name))?;
    }
    // What is written into a person's repository has the mode that its other files have.
    let mode = if owner.theirs.is_none() { "0600" } else { "umask" };
    // Objects of the repository are synced as well: a record names them from now on.
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfileMode = true\n\tsymlinks = true\n\tautocrlf = false\n\
         \tsharedRepository = {mode}\n\
         \tfsync = objects,reference,index\n\tfsyncMethod = batch\n[extensions]\n\tobjectFormat = {format}\n[gc]\n\tauto = 0\n"
    );
    let owner = serde_json::to_string(owner)?;
    let files = [
        ("HEAD", "ref: refs/heads/none\n"),
        ("config", &*config),
        ("info/attributes", ATTRIBUTES),
        (super::forget::OWNER, &owner),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        if !fs::read(&path).is_ok_and(|found| found == content.as_bytes()) {
            private(&path)?.write_all(content.as_bytes())?;
        }
    }
    Ok(())
}
