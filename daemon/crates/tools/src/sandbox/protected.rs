//! What a command may not change although it lies where it may write: files from which programs outside of the sandbox take what they
//! run. Those that are not there yet cannot be protected; [`crate::guard`] looks for them after the command.

use super::confinement::Protected;
use crate::guard::Seen;
use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// What git takes programs and configuration from in one of its folders.
const OF_GIT: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "gitdir"];

/// A protected path that cannot be protected.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be looked at: {source}", .path.display())]
pub(crate) struct ProtectError {
    path: PathBuf,
    source: io::Error,
}

/// The protected files and folders that are there.
pub(super) fn protected(seen: &Seen) -> Result<Vec<Protected>, ProtectError> {
    let of_git = seen.repositories.iter().flat_map(|folder| OF_GIT.map(|name| folder.join(name)));
    let mut all: Vec<Protected> = Vec::new();
    // What is protected of a git folder that a link leads to is named above.
    let is_git_folder =
        |path: &Path| seen.leads.contains_key(path) && fs::metadata(path).is_ok_and(|there| there.is_dir());
    let files = seen.files.keys().filter(|path| !is_git_folder(path)).cloned();
    for path in files.chain(of_git) {
        match fs::symlink_metadata(&path) {
            // What it leads to is protected instead. Another one in its place is noticed.
            Ok(there) if there.is_symlink() => {
                if let Ok(path) = fs::canonicalize(&path)
                    && let Ok(there) = fs::metadata(&path)
                {
                    all.push(Protected { device: there.dev(), inode: there.ino(), path });
                }
            }
            Ok(there) => all.push(Protected { device: there.dev(), inode: there.ino(), path }),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(source) => return Err(ProtectError { path, source }),
        }
    }
    all.sort();
    all.dedup();
    // What lies in a protected folder is protected with it.
    let paths: Vec<PathBuf> = all.iter().map(|protected| protected.path.clone()).collect();
    let is_beneath = |path: &Path| {
        path.ancestors().skip(1).any(|above| paths.binary_search_by(|path| (**path).cmp(above)).is_ok())
    };
    all.retain(|protected| !is_beneath(&protected.path));
    Ok(all)
}
