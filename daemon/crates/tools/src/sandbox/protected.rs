//! Files in writable folders that a command may not change: programs outside of the sandbox take from them
//! what they run. Missing files cannot be protected; [`crate::guard`] looks for new ones after the command.

use super::confinement::Protected;
use crate::guard::Seen;
use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Entries of a git folder from which git takes programs and configuration.
const OF_GIT: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "gitdir"];

/// A path that should be protected and cannot be.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be looked at: {source}", .path.display())]
pub(crate) struct ProtectError {
    path: PathBuf,
    source: io::Error,
}

/// The existing protected files and folders.
pub(super) fn protected(seen: &Seen) -> Result<Vec<Protected>, ProtectError> {
    let of_git = seen.repositories.iter().flat_map(|folder| OF_GIT.map(|name| folder.join(name)));
    let mut all: Vec<Protected> = Vec::new();
    // The protected entries of a git folder that a link leads to are named above.
    let is_git_folder =
        |path: &Path| seen.leads.contains_key(path) && fs::metadata(path).is_ok_and(|there| there.is_dir());
    let files = seen.files.keys().filter(|path| !is_git_folder(path)).cloned();
    for path in files.chain(of_git) {
        match fs::symlink_metadata(&path) {
            // A link's target is protected instead. Another link in its place is noticed.
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
    // A protected folder protects everything in it.
    let paths: Vec<PathBuf> = all.iter().map(|protected| protected.path.clone()).collect();
    let is_beneath = |path: &Path| {
        path.ancestors().skip(1).any(|above| paths.binary_search_by(|path| (**path).cmp(above)).is_ok())
    };
    all.retain(|protected| !is_beneath(&protected.path));
    Ok(all)
}
