//! The daemon's program on disk: whether it is still the one that runs.

#[cfg(unix)]
use crate::instance::{WayIn, kind, way_in};
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

/// What was at the path at one moment. Another content has another identity, and so has another mode: a
/// person may have mended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    /// Nanoseconds since the epoch.
    modified: i128,
    changed: i128,
    length: u64,
}

/// Why what is at the path is not even asked whether it could take over.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error("it is {0}, not a program")]
    Kind(&'static str),
    #[error("{} is a symbolic link now; `abide daemon restart` starts what it leads to", .0.display())]
    Link(PathBuf),
    #[error("{} belongs to another user, who could have put any program there", .0.display())]
    NotOurs(PathBuf),
    #[error(
        "others may write to {path}, so they could have put any program there; if you trust it: chmod go-w {path}",
        path = .0.display()
    )]
    OpenToOthers(PathBuf),
    #[error("cannot look at {}: {source}", path.display())]
    Unseen { path: PathBuf, source: io::Error },
}

impl Program {
    /// The path must be that of this process's start: what the kernel calls the running file changes when
    /// another replaces it.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, known: Identity::of(Path::new(RUNNING)).ok() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is at the path, if it is not the program that runs. `None` also while nothing is there: a package
    /// manager may be replacing it.
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

    /// Checks that only this user and root can have put there what is at the path. It is going to be executed
    /// without anybody asking for it.
    ///
    /// # Errors
    /// It is no program, or others could have.
    #[cfg(unix)]
    pub(super) fn check_fit(&self) -> Result<(), Unfit> {
        // It had no links when this process started.
        for path in self.path.ancestors() {
            let found = fs::symlink_metadata(path)
                .map_err(|source| Unfit::Unseen { path: path.to_owned(), source })?;
            if found.is_symlink() {
                return Err(Unfit::Link(path.to_owned()));
            }
            if path == self.path && !found.is_file() {
                return Err(Unfit::Kind(kind(&found)));
            }
            match way_in(&found) {
                None => {}
                Some(WayIn::Owns) => return Err(Unfit::NotOurs(path.to_owned())),
                Some(WayIn::MayWrite) => return Err(Unfit::OpenToOthers(path.to_owned())),
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(super) fn check_fit(&self) -> Result<(), Unfit> {
        Ok(())
    }
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path)?;
        let since_epoch = |secs, nanos| i128::from(secs) * 1_000_000_000 + i128::from(nanos);
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
            modified: since_epoch(found.mtime(), found.mtime_nsec()),
            changed: since_epoch(found.ctime(), found.ctime_nsec()),
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
    let (mut running, mut found) = (File::open(RUNNING)?, open(path)?);
    let there = found.metadata()?;
    if !there.is_file() || running.metadata()?.len() != there.len() {
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

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Opening a pipe would wait for its other end.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
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
