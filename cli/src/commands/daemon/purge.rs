//! Deletes the data: what Abide made in its folders, and nothing else that is there.

use super::report::{Action, Report};
use crate::{
    error::CommandError,
    output::{measure, screen, text},
    prompt::Terminal,
};
use abide_host::Home;
use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// What Abide makes in each of its folders; a name that ends with a point stands for all that begin with it.
const CONFIG: &[&str] = &["config.toml", "keys.toml", "tokens.toml", "prompts", "personas"];
const DATA: &[&str] = &[
    "abide.",
    "spool",
    "checkpoints",
    "sandbox",
    "scratch",
    "worktrees",
    "embedding-model",
    "embedding-model.",
];
const STATE: &[&str] = &[
    "alive",
    "log",
    "gui",
    "config-last-good.",
    "config-edit.",
    "start.",
    "chat-history",
    "lingers-by-install",
];
const RUN: &[&str] = &["abide."];

/// What a person has agreed to delete.
pub(super) struct Purge {
    home: Home,
    folders: Vec<Folder>,
}

struct Folder {
    path: PathBuf,
    /// What Abide made there.
    own: Vec<PathBuf>,
    /// Bytes of it.
    size: u64,
}

impl Purge {
    /// Names the folders and asks. `None`: the person said no. `unfinished`: tasks that wait or are paused,
    /// if a daemon runs.
    pub(super) async fn agreed(
        home: &Home,
        unfinished: Option<u64>,
        yes: bool,
        json: bool,
    ) -> Result<Option<Self>, CommandError> {
        check_ours(home)?;
        check_worktrees(home)?;
        // The data last, and in it the lock: until then no daemon can start. The socket's folder may be
        // beneath the state's.
        let folders = [
            (&home.config_dir, CONFIG),
            (&home.run_dir, RUN),
            (&home.state_dir, STATE),
            (&home.data_dir, DATA),
        ];
        let folders = folders
            .into_iter()
            .map(|(path, names)| Folder::look(path, names))
            .collect::<Result<Vec<_>, _>>()?;
        let purge = Self { home: home.clone(), folders };
        if yes {
            return Ok(Some(purge));
        }
        let terminal = Terminal::open().filter(|_| !json);
        let Some(terminal) = terminal else {
            return Err(CommandError::needs_person(
                "deleting everything needs a yes, and there is no terminal; nothing was changed",
            )
            .hinted("`abide daemon uninstall --purge --yes` deletes without asking"));
        };
        let mut screen = screen::Screen::new();
        screen.note(&purge.question(unfinished))?;
        screen.prompt("Delete all of this? [y/N] ")?;
        let typed = terminal.line().await?.unwrap_or_default();
        if ["y", "yes"].contains(&typed.trim().to_lowercase().as_str()) {
            return Ok(Some(purge));
        }
        screen.note("nothing was changed")?;
        Ok(None)
    }

    fn question(&self, unfinished: Option<u64>) -> String {
        let mut lines = String::from(
            "This cannot be undone. It deletes the configuration, stored keys, all conversations and their scratch folders:",
        );
        for folder in self.folders.iter().filter(|folder| !folder.own.is_empty()) {
            let path = text::one_line(&folder.path.display().to_string());
            let names = folder.own.iter().filter_map(|own| own.file_name()?.to_str());
            let names = text::one_line(&names.collect::<Vec<_>>().join(", "));
            lines.push_str(&format!("\n  {path}: {} ({names})", measure::bytes(folder.size)));
        }
        if let Some(unfinished) = unfinished.filter(|n| *n > 0) {
            lines.push_str(&format!("\nAmong them: {}", measure::counted(unfinished, "unfinished task")));
        }
        lines
    }

    /// No daemon may run any more.
    pub(super) fn carry_out(self, report: &mut Report) -> Result<(), CommandError> {
        // A daemon that a client starts meanwhile finds the lock taken and ends.
        let _lock = lock(&self.home)?;
        for folder in &self.folders {
            for path in &folder.own {
                delete(path)
                    .map_err(|e| CommandError::failed(format!("cannot delete {}: {e}", path.display())))?;
            }
            if folder.own.is_empty() && !folder.path.exists() {
                continue;
            }
            if fs::remove_dir(&folder.path).is_ok() {
                report.did(
                    Action::Removed,
                    format!("{}, {}", folder.path.display(), measure::bytes(folder.size)),
                )?;
            } else {
                if !folder.own.is_empty() {
                    report.did(
                        Action::Removed,
                        format!(
                            "what Abide made in {}, {}",
                            folder.path.display(),
                            measure::bytes(folder.size)
                        ),
                    )?;
                }
                report.note(format!(
                    "kept {}, because there are files that Abide did not make",
                    folder.path.display()
                ))?;
            }
        }
        if let Some(root) = self.home.root() {
            // Only if nothing is left in it.
            drop(fs::remove_dir(root));
        }
        report.note("not deleted: keys in the system's keyring")
    }
}

/// Work in a git worktree may be nowhere else.
fn check_worktrees(home: &Home) -> Result<(), CommandError> {
    let folder = home.worktrees_dir();
    let left = fs::read_dir(&folder).into_iter().flatten().count();
    if left == 0 {
        return Ok(());
    }
    let left = measure::counted(left as u64, "git worktree");
    Err(CommandError::failed(format!("{} has {left} of tasks; nothing was changed", folder.display()))
        .hinted("merge or remove them first: `abide worktree` lists them"))
}

/// A folder in which no daemon has ever run may have files of the same names that are somebody else's.
fn check_ours(home: &Home) -> Result<(), CommandError> {
    let is_file = |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if is_file(home.database()) || is_file(home.lock_file()) {
        return Ok(());
    }
    let words =
        format!("no daemon has ever run with its data in {}; nothing was changed", home.data_dir.display());
    Err(CommandError::failed(words).hinted("what is there is not known to be Abide's; is ABIDE_HOME right?"))
}

impl Folder {
    fn look(path: &Path, names: &[&str]) -> Result<Self, CommandError> {
        if path.is_symlink() {
            let words = format!("{} is a link to another folder; nothing was changed", path.display());
            return Err(
                CommandError::failed(words).hinted("delete by hand what Abide has made there, and the link")
            );
        }
        let failed = |e: io::Error| CommandError::failed(format!("cannot read {}: {e}", path.display()));
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), own: Vec::new(), size: 0 });
            }
            Err(e) => return Err(failed(e)),
        };
        let mut own = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if is_own(&entry.file_name(), names) {
                own.push(entry.path());
            }
        }
        own.sort_by_key(|path| (path.extension() == Some(OsStr::new("lock")), path.clone()));
        let size = own.iter().map(|path| size(path)).sum();
        Ok(Self { path: path.to_owned(), own, size })
    }
}

fn is_own(name: &OsStr, names: &[&str]) -> bool {
    let Some(name) = name.to_str() else { return false };
    names.iter().any(|own| name == *own || own.ends_with('.') && name.starts_with(own))
}

/// The bytes of a file, or of all files beneath a folder. What cannot be read counts nothing.
fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
        }
        Ok(found) => found.len(),
        Err(_) => 0,
    }
}

/// A link is removed, not followed.
fn delete(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// The daemon's lock; `None`: there is no file to lock, so no daemon has ever run.
fn lock(home: &Home) -> Result<Option<File>, CommandError> {
    let path = home.lock_file();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(CommandError::failed(format!("cannot open {}: {e}", path.display()))),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(_) => Err(CommandError::failed("a daemon was started meanwhile; nothing was deleted")
            .hinted("try again, or stop the client that starts it")),
    }
}
