//! Room that is kept for stops and answers on a full disk: a file beside the database, removed when it is needed.

use crate::disk::{beside, create_private};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    bytes: u64,
    held: bool,
}

/// What came of trying to take the room (back).
#[derive(Debug)]
pub(crate) enum Restored {
    Held,
    NoRoom,
    /// Not for lack of room; it has to go without.
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

    /// Gives the room away; says whether there was any to give.
    pub(crate) fn release(&mut self) -> bool {
        std::mem::take(&mut self.held) && fs::remove_file(&self.path).is_ok()
    }
}

/// Takes that much room on the disk for the file. (A length alone takes none.)
fn fill(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        // Not every file system can.
        Err(rustix::io::Errno::OPNOTSUPP) => {}
        done => return Ok(done?),
    }
    let zeros = [0; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
        (&*file).write_all(&zeros[..part])?;
        left -= part as u64;
    }
    file.sync_all()
}
