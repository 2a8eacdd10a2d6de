//! What a full disk lacks, in words.

use std::{
    fmt,
    path::{Path, PathBuf},
};

const MIB: u64 = 1024 * 1024;

/// The room that refused work needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// The database's folder.
    pub folder: PathBuf,
    /// The size of the reserve, in bytes, which has to be made again first.
    pub needed: u64,
}

impl Room {
    pub(crate) fn of(database: &Path, reserve_bytes: u64) -> Self {
        let folder = database.parent().unwrap_or(database).to_owned();
        Self { folder, needed: reserve_bytes.max(MIB) }
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (folder, needed) = (self.folder.display(), self.needed.div_ceil(MIB));
        write!(f, "the disk of {folder} is full: free {needed} MiB there, then try again")
    }
}
