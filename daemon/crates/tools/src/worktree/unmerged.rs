//! What only a worktree has.

use super::{NoWorktree, Worktree, Worktrees, git::Ready, tip};
use crate::{
    sandbox::git::{Repository, gitlinks, id_length},
    text::one_line,
};
use abide_protocol::measure::counted;
use std::{collections::BTreeMap, fmt, fs, os::unix::ffi::OsStrExt as _, path::Path};

/// The most files that [`Unmerged`] names.
const NAMED: usize = 3;

/// What would be lost with a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unmerged {
    /// Paths that are changed or new since the last commit, relative to the worktree's top.
    pub files: Vec<String>,
    /// Commits that are on no other branch, and have no tag.
    pub commits: u64,
}

impl Worktrees {
    /// What would be lost with a worktree.
    ///
    /// # Errors
    /// It cannot be found out what would be lost.
    pub fn unmerged(&self, worktree: &Worktree) -> Result<Unmerged, NoWorktree> {
        let environment = BTreeMap::new();
        if !worktree.path.exists() {
            return match self.git(worktree, &environment)? {
                Some(git) => {
                    let commits: Vec<String> = git.commit(&tip(worktree))?.into_iter().collect();
                    Ok(Unmerged { files: Vec::new(), commits: git.only_on(&worktree.branch, &commits)? })
                }
                None => Ok(Unmerged::default()),
            };
        }
        let cut = || NoWorktree::Cut { path: worktree.path.clone(), repository: worktree.repository.clone() };
        let repository = Repository::of(&worktree.path, &|_| false)
            .filter(|repository| repository.top == worktree.path)
            .filter(|repository| repository.folders.last() == Some(&worktree.common))
            .ok_or_else(cut)?;
        let folder = repository.folders.first().ok_or_else(cut)?;
        let git = self.on(worktree, &environment, folder, &worktree.path, &repository)?.ready()?;
        let mut files = changed(&git)?;
        files.retain(|file| !is_as_copied(worktree, file));
        // Git does not look into inner repositories here: what they configure would run.
        let links = gitlinks(folder, id_length(folder)).map_err(NoWorktree::io(folder))?;
        let entered = links.into_iter().filter(|link| worktree.path.join(link).join(".git").exists());
        files.extend(entered.map(|link| link.to_string_lossy().into_owned()));
        files.sort_unstable();
        files.dedup();
        let mut commits = Vec::from_iter(git.commit("HEAD")?);
        commits.extend(git.commit(&tip(worktree))?);
        Ok(Unmerged { files, commits: git.only_on(&worktree.branch, &commits)? })
    }
}

/// The files that git lists as changed or new.
fn changed(git: &Ready<'_>) -> Result<Vec<String>, NoWorktree> {
    let arguments =
        ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
    let listed = git.must(&arguments)?;
    let listed = listed.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    Ok(listed.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
}

/// Whether the file was copied from the person's work tree and is unchanged.
fn is_as_copied(worktree: &Worktree, file: &str) -> bool {
    // Reading a pipe would wait for its writer.
    let read = |top: &Path| {
        let path = top.join(file);
        fs::symlink_metadata(&path).is_ok_and(|there| there.is_file()).then(|| fs::read(path).ok()).flatten()
    };
    worktree.copied.iter().any(|copied| copied.as_os_str().as_bytes() == file.as_bytes())
        && read(&worktree.path).is_some_and(|here| read(&worktree.repository) == Some(here))
}

/// The loss in words for a person.
impl fmt::Display for Unmerged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, commits } = self;
        if !files.is_empty() {
            let named: Vec<String> = files.iter().take(NAMED).map(|file| one_line(file, 60)).collect();
            let more = if files.len() > NAMED { ", …" } else { "" };
            write!(
                f,
                "{} that no commit has ({}{more})",
                counted(files.len() as u64, "file"),
                named.join(", ")
            )?;
        }
        if !files.is_empty() && *commits > 0 {
            f.write_str(" and ")?;
        }
        if *commits > 0 {
            write!(f, "{} that no other branch has", counted(*commits, "commit"))?;
        }
        Ok(())
    }
}
