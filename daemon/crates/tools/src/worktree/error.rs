use super::Unmerged;
use crate::{checkpoint::NoCheckpoint, text::one_line};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a worktree cannot be made or removed; in words for a person.
#[derive(Debug, thiserror::Error)]
pub enum NoWorktree {
    #[error("there is no `git` in the folders of the task's PATH")]
    NoGit,
    #[error("{} is in no git work tree, so there is nothing to make a worktree of", shown(.0))]
    NoRepository(PathBuf),
    #[error("{} holds more than a project, so no worktree of it is made", shown(.0))]
    Broad(PathBuf),
    #[error("the repository of {} has no commit yet, and a worktree begins with one; make a commit first", shown(.0))]
    NoCommit(PathBuf),
    #[error("{0:?} is not a valid name of a branch")]
    BranchName(String),
    #[error("`copy` of [worktree] in config.toml names {path:?}: {why}")]
    Copy { path: PathBuf, why: String },
    #[error("the worktree {} has {what}; commit and merge what is of use, then remove it again", shown(.path))]
    Unmerged { path: PathBuf, what: Unmerged },
    #[error(
        "{} is no longer a worktree of {}, so what is in it cannot be compared with other branches; look into it, and delete \
         the folder yourself if nothing in it is needed",
        shown(.path),
        shown(.repository)
    )]
    Cut { path: PathBuf, repository: PathBuf },
    #[error("{}: {source}", shown(.path))]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Git(#[from] NoCheckpoint),
    #[error("a path of the repository is not valid UTF-8")]
    NotUtf8,
}

impl NoWorktree {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 200)
}
