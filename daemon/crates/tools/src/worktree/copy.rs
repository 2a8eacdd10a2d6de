//! Copies files that git does not track, which a person has named, into a new worktree.

use super::NoWorktree;
use cap_std::fs::{OpenOptionsExt as _, PermissionsExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

/// The largest file, in bytes.
const MAX: u64 = 16 << 20;

/// Copies these files from one folder to another. Existing files stay. Links that lead out of a folder are
/// not followed. Returns the copied files.
pub(super) fn copy(from: &Path, to: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>, NoWorktree> {
    let open = |path: &Path| Dir::open_ambient_dir(path, ambient_authority()).map_err(NoWorktree::io(path));
    let (source, target) = (open(from)?, open(to)?);
    let mut copied = Vec::new();
    for file in files {
        let failed = |error: io::Error| NoWorktree::Copy { path: file.clone(), why: error.to_string() };
        if copy_one(&source, &target, file).map_err(failed)? {
            copied.push(file.clone());
        }
    }
    Ok(copied)
}

/// Whether a file was copied.
fn copy_one(source: &Dir, target: &Dir, file: &Path) -> io::Result<bool> {
    let there = match source.metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        there => there?,
    };
    if !there.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if target.symlink_metadata(file).is_ok() {
        return Ok(false);
    }
    let mut content = Vec::new();
    source.open(file)?.take(MAX + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX {
        return Err(io::Error::other(format!("it has more than {} MiB", MAX >> 20)));
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        target.create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(there.permissions().mode() & 0o777);
    target.open_with(file, &options)?.write_all(&content)?;
    Ok(true)
}
