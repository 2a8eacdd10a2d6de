//! The daemon's program on disk: whether it is still the one that runs.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// How much of two files is compared at a time, in bytes.
const PIECE: usize = 64 * 1024;

/// Leads to the running program even if its file has been removed or replaced, proc_pid_exe(5).
const RUNNING: &str = "/proc/self/exe";

/// The program that this process runs.
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    /// The file that was found to be the one that runs.
    known: Option<Identity>,
}

/// A file as it was at one moment. Another content has another identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    /// Nanoseconds since the epoch.
    modified: i128,
    length: u64,
}

impl Program {
    /// The path must be that of this process's start: what the kernel calls the running file changes when another replaces it.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, known: Identity::of(Path::new(RUNNING)).ok() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file at the path, if it is another program than the one that runs. `None` also while there is no file: a package manager may
    /// be replacing it.
    pub(super) fn replaced_by(&mut self) -> Option<Identity> {
        let found = Identity::of(&self.path).ok()?;
        if self.known == Some(found) {
            return None;
        }
        if runs(&self.path).unwrap_or(false) {
            self.known = Some(found);
            return None;
        }
        Some(found)
    }
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path)?;
        // Opening a pipe would wait for its other end.
        if !found.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
            modified: i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec()),
            length: found.len(),
        })
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether the file has the content of the program that runs. (The same program may be installed again.)
fn runs(path: &Path) -> io::Result<bool> {
    let (mut running, mut found) = (File::open(RUNNING)?, File::open(path)?);
    if running.metadata()?.len() != found.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let read = running.read(&mut one)?;
        if read == 0 {
            return Ok(true);
        }
        found.read_exact(&mut other[..read])?;
        if one[..read] != other[..read] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_the_same_content_is_the_same_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abided");
        let running = std::env::current_exe().unwrap();
        fs::copy(&running, &path).unwrap();
        let mut program = Program::of(path.clone());
        assert_eq!(program.replaced_by(), None);

        fs::remove_file(&path).unwrap();
        assert_eq!(program.replaced_by(), None, "no file is no program to go over to");
        fs::copy(&running, &path).unwrap();
        assert_eq!(program.replaced_by(), None, "installed again");

        let mut longer = fs::read(&running).unwrap();
        longer.push(0);
        fs::remove_file(&path).unwrap();
        fs::write(&path, &longer).unwrap();
        let first = program.replaced_by();
        assert!(first.is_some());
        assert_eq!(program.replaced_by(), first);
        longer[0] ^= 1;
        longer.pop();
        fs::remove_file(&path).unwrap();
        fs::write(&path, &longer).unwrap();
        assert!(program.replaced_by().is_some(), "as long as the one that runs, and different");
    }
}
