use crate::text::one_line;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a checkpoint of a workspace cannot be made or used, in words for a person.
#[derive(Debug, thiserror::Error)]
pub enum NoCheckpoint {
    #[error("there is no `git` in the folders of the task's PATH")]
    NoGit,
    #[error("{} is a git folder, whose files are git's own", shown(.0))]
    GitFolder(PathBuf),
    #[error("{} is in no git work tree and holds more than {most} files", shown(.folder))]
    ManyFiles { folder: PathBuf, most: usize },
    #[error(
        "{} is in no git work tree and its files hold more than {} MiB: {} of them in {}", shown(.folder), .most >> 20, .bytes >> 20, shown(.largest)
    )]
    ManyBytes {
        folder: PathBuf,
        most: u64,
        /// The largest file.
        largest: PathBuf,
        /// The size of the largest file.
        bytes: u64,
    },
    #[error("{} holds more than a project: your home or Abide's own files", shown(.0))]
    Broad(PathBuf),
    #[error("git ignores {}, so its files would not be in a checkpoint", shown(.0))]
    Ignored(PathBuf),
    #[error("{}: {source}", shown(.path))]
    Io { path: PathBuf, source: io::Error },
    #[error("git could not be started (git {what}): {source}")]
    NotStarted { what: String, source: io::Error },
    #[error("git {what} did not end as it should: {source}")]
    Ended { what: String, source: io::Error },
    #[error("git {what} failed: {words}")]
    Failed { what: String, words: String },
    #[error("git {what} gave an answer that is not understood")]
    Answer { what: &'static str },
    #[error(
        "the changes of {path} have no such part: they are no longer what was shown, so look at the changes again"
    )]
    NoHunk { path: String },
    #[error("a path of the repository is not valid UTF-8")]
    NotUtf8,
}

impl NoCheckpoint {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 200)
}
