//! Whether the files of a folder outside of repositories can be kept. Nobody has said that such a folder is a
//! project, or which of its files matter.

use super::{MAX_NEW, NoCheckpoint};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The most files and folders in such a folder.
const MAX_ENTRIES: usize = 20_000;

/// Looks at all files of a folder, but not into repositories within it.
///
/// # Errors
/// The files are too many, or together too large to be kept.
pub(super) fn measure(folder: &Path) -> Result<(), NoCheckpoint> {
    let (mut entries, mut bytes) = (0, 0u64);
    let mut largest = (0, PathBuf::new());
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        if at != folder && at.join(".git").exists() {
            continue;
        }
        // What cannot be read cannot be kept, and is left out by name.
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(NoCheckpoint::ManyFiles { folder: folder.to_owned(), most: MAX_ENTRIES });
            }
            let Ok(there) = entry.metadata() else { continue };
            if there.is_dir() {
                waiting.push(entry.path());
            } else if there.is_file() {
                bytes = bytes.saturating_add(there.len());
                if there.len() > largest.0 {
                    largest = (there.len(), entry.path());
                }
            }
        }
    }
    if bytes <= MAX_NEW {
        return Ok(());
    }
    let (bytes, largest) = largest;
    let largest = largest.strip_prefix(folder).unwrap_or(&largest).to_owned();
    Err(NoCheckpoint::ManyBytes { folder: folder.to_owned(), most: MAX_NEW, largest, bytes })
}
