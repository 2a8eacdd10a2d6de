//! The disk reserve: a file beside the database that is removed on a full disk to make room for stops and
//! answers.

use crate::disk::{beside, create_private};
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    bytes: u64,
    held: bool,
}

/// The result of [`Reserve::restore`].
#[derive(Debug)]
pub(crate) enum Restored {
    Held,
    NoRoom,
    /// The restoring failed for another reason than a full disk. The store goes on without a reserve.
    Impossible(io::Error),
}

impl Reserve {
    pub(crate) fn beside(database: &Path, bytes: u64) -> Self {
        Self { path: beside(database, "-reserve"), bytes, held: false }
    }

    pub(crate) fn restore(&mut self) -> Restored {
        if self.held || self.bytes == 0 {
            return Restored::Held;
        }
        if fs::metadata(&self.path).is_ok_and(|found| found.len() == self.bytes) {
            self.held = true;
            return Restored::Held;
        }
        match create_private(&self.path).and_then(|file| fill(&file, self.bytes)) {
            Ok(()) => {
                self.held = true;
                Restored::Held
            }
            Err(error) => {
                let _ = fs::remove_file(&self.path);
                match error.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Restored::NoRoom,
                    _ => Restored::Impossible(error),
                }
            }
        }
    }

    /// Removes the file. Returns whether there was one.
    pub(crate) fn release(&mut self) -> bool {
        std::mem::take(&mut self.held) && fs::remove_file(&self.path).is_ok()
    }
}

/// Allocates space for the file. (Setting the file's length would allocate none.)
fn fill(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        // Not every file system can allocate.
        Err(rustix::io::Errno::OPNOTSUPP) => {}
        done => return Ok(done?),
    }
    io::copy(&mut io::repeat(0).take(bytes), &mut &*file)?;
    file.sync_all()
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Reserve, Restored};
    use std::{fs, os::unix::fs::MetadataExt as _};

    const BYTES: u64 = 200_000;

    #[test]
    fn the_reserve_is_made_released_once_and_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("abide.db");
        let file = folder.path().join("abide.db-reserve");
        let mut reserve = Reserve::beside(&database, BYTES);
        assert!(!reserve.release(), "nothing is held yet");
        for _ in 0..2 {
            assert!(matches!(reserve.restore(), Restored::Held));
            let found = fs::metadata(&file).unwrap();
            // Blocks are counted in units of 512 bytes (stat(2)).
            assert!(found.len() == BYTES && found.blocks() * 512 >= BYTES, "{found:?}");
            assert!(reserve.release());
            assert!(!file.exists());
            assert!(!reserve.release(), "it was released before");
        }
    }

    #[test]
    fn an_existing_reserve_of_the_right_size_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("abide.db");
        let file = folder.path().join("abide.db-reserve");
        for (length, is_kept) in [(BYTES, true), (BYTES - 1, false), (BYTES + 1, false)] {
            fs::write(&file, vec![1; usize::try_from(length).unwrap()]).unwrap();
            let before = fs::metadata(&file).unwrap().ino();
            let mut reserve = Reserve::beside(&database, BYTES);
            assert!(matches!(reserve.restore(), Restored::Held));
            let after = fs::metadata(&file).unwrap();
            assert_eq!(after.len(), BYTES);
            assert_eq!(after.ino() == before && fs::read(&file).unwrap()[0] == 1, is_kept, "{length}");
        }
    }

    #[test]
    fn a_reserve_of_zero_bytes_makes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::beside(&folder.path().join("abide.db"), 0);
        assert!(matches!(reserve.restore(), Restored::Held));
        assert!(!reserve.release());
        assert!(!folder.path().join("abide.db-reserve").exists());
    }

    #[test]
    fn a_missing_folder_is_not_taken_for_a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::beside(&folder.path().join("missing").join("abide.db"), BYTES);
        assert!(matches!(reserve.restore(), Restored::Impossible(_)));
    }
}
