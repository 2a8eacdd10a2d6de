//! The current branch and commit of a person's repository, read without git.

use super::found::Found;
use std::{fmt, fs, path::Path};

/// The beginning of the line that notes a head in a checkpoint's commit.
pub(super) const HEAD: &str = "HEAD ";

/// A branch, its commit, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// `None`: the head is on no branch.
    branch: Option<String>,
    /// In hex; `None`: the branch has no commit yet.
    commit: Option<String>,
}

impl Head {
    /// The head as a line, without a line end.
    pub(super) fn line(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".to_owned());
        format!("{HEAD}{} {}", part(&self.commit), part(&self.branch))
    }

    /// A head from its line, without [`HEAD`].
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (commit, branch) = line.split_once(' ')?;
        let part = |part: &str| (part != "-").then(|| part.to_owned());
        Some(Self { branch: part(branch), commit: part(commit) })
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.as_deref().map(|commit| commit.get(..7).unwrap_or(commit));
        match (self.branch.as_deref(), commit) {
            (Some(branch), Some(commit)) => write!(f, "{branch} ({commit})"),
            (Some(branch), None) => write!(f, "{branch}, without a commit"),
            (None, commit) => write!(f, "{}, on no branch", commit.unwrap_or("nothing")),
        }
    }
}

impl Found {
    /// The repository's head. `None`: its references have a form that is not known here.
    pub(super) fn head(&self) -> Option<Head> {
        let head = fs::read_to_string(self.folder.join("HEAD")).ok()?;
        let Some(name) = head.trim_end().strip_prefix("ref: ") else {
            return is_id(head.trim_end())
                .then(|| Head { branch: None, commit: Some(head.trim_end().to_owned()) });
        };
        let branch = name.strip_prefix("refs/heads/")?;
        // A repository with reftables has this name in place of all references.
        let commit = (branch != ".invalid").then(|| commit_of(&self.common, name))?;
        Some(Head { branch: Some(branch.to_owned()), commit })
    }
}

/// The commit of a branch.
fn commit_of(common: &Path, name: &str) -> Option<String> {
    if let Ok(loose) = fs::read_to_string(common.join(name)) {
        return Some(loose.trim_end().to_owned()).filter(|id| is_id(id));
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed
        .lines()
        .find_map(|line| line.split_once(' ').filter(|(_, of)| *of == name))
        .map(|(id, _)| id.to_owned())
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
