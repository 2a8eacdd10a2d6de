//! The files of a database.

use crate::{
    disk::beside,
    migrate::{CURRENT, backup_suffix},
};
use std::path::{Path, PathBuf};

/// All files that the store may create for this database: the database, log, reserve, newest-record mark, and
/// backups made before migrations. The files need not exist.
#[must_use]
pub fn files(database: &Path) -> Vec<PathBuf> {
    let fixed = ["", "-wal", "-shm", "-new", "-renewed", "-reserve", "-newest"].map(str::to_owned);
    let backups = (1..CURRENT).map(backup_suffix);
    fixed.into_iter().chain(backups).map(|suffix| beside(database, &suffix)).collect()
}
