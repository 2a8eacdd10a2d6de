//! The folder that a task works in. Paths are resolved by descriptor beneath it, never compared as text.

mod closed;
mod error;
mod file;

pub(crate) use closed::Closed;
pub(crate) use error::PathError;
pub(crate) use file::{Found, MAX_FILE};

use crate::folders;
use cap_std::{ambient_authority, fs::Dir};
use rustix::fs::{Mode, OFlags, openat};
use std::{
    fs, io,
    os::{
        fd::{AsFd as _, AsRawFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::{Component, Path, PathBuf},
    sync::Arc,
};

/// An open workspace.
pub(crate) struct Workspace {
    root: Dir,
    /// The path that the task names.
    given: PathBuf,
    /// The path without links.
    real: PathBuf,
    closed: Arc<Closed>,
}

/// The place that a path means, with links followed and nothing opened. The last components may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Relative to the root, without links; `.` for the root.
    pub(crate) relative: PathBuf,
    /// The absolute path.
    pub(crate) real: PathBuf,
    /// How many of the last components do not exist.
    pub(crate) missing: usize,
}

/// How much of a path exists, at one moment: other tasks may create or remove files.
struct Reached<'p> {
    /// The part that exists, without links.
    found: PathBuf,
    /// The part that does not exist.
    rest: Vec<Component<'p>>,
}

impl Workspace {
    pub(crate) fn open(path: &str, closed: Arc<Closed>) -> Result<Self, PathError> {
        let given = PathBuf::from(path);
        let fail = |source| PathError::Workspace { path: given.clone(), source };
        if !given.is_absolute() {
            return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "it is not an absolute path")));
        }
        let root = Dir::open_ambient_dir(&given, ambient_authority()).map_err(fail)?;
        let real = real_path(&root).map_err(fail)?;
        if closed.contains(&real) {
            return Err(PathError::Closed(given));
        }
        Ok(Self { root, given, real, closed })
    }

    /// Whether the workspace holds so much of the person's or Abide's own files that even reading needs
    /// approval.
    pub(crate) fn is_broad(&self) -> bool {
        self.closed.is_broad(&self.real)
    }

    /// The workspace's root, opened once more for reading.
    pub(crate) fn root(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(&self.root, ".", flags, Mode::empty())?)
    }

    /// The workspace's path, without links.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// Whether this folder, which is the workspace or above it, is so broad.
    pub(crate) fn is_broad_at(&self, folder: &Path) -> bool {
        self.closed.is_broad(folder)
    }

    /// Whether an absolute path lies in the workspace.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.given) || path.starts_with(&self.real)
    }

    /// An absolute path as people know it: relative to the root, if the path lies beneath the root.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let beneath = [&self.given, &self.real].into_iter().find_map(|root| path.strip_prefix(root).ok());
        beneath.unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The names of a path for rules: as the model wrote it, relative to the root, and without links.
    pub(crate) fn names(&self, path: &str) -> Result<[String; 2], PathError> {
        let mut given = PathBuf::new();
        for part in self.beneath(path)?.components() {
            match part {
                Component::Normal(name) => given.push(name),
                Component::ParentDir => {
                    given.pop();
                }
                _ => {}
            }
        }
        let real = self.resolve(path)?.relative;
        Ok([or_dot(given), real].map(|name| name.to_string_lossy().into_owned()))
    }

    /// Whether this path is closed to tools.
    pub(crate) fn is_closed(&self, relative: &Path) -> bool {
        self.closed.contains(&self.real.join(relative))
    }

    /// Resolves a path of a model. The place is beneath the root and not closed.
    pub(crate) fn resolve(&self, path: &str) -> Result<Spot, PathError> {
        let wanted = self.beneath(path)?;
        if self.closed.contains(&self.real.join(&wanted)) {
            return Err(PathError::Closed(wanted));
        }
        let reached = self.reach(&wanted)?;
        self.spot(&wanted, reached)
    }

    /// Finds out how much of a path exists.
    fn reach<'p>(&self, wanted: &'p Path) -> Result<Reached<'p>, PathError> {
        let mut existing: Vec<Component<'_>> = wanted.components().collect();
        let mut rest = Vec::new();
        let found = loop {
            let prefix = or_dot(existing.iter().collect());
            match self.root.canonicalize(&prefix) {
                Ok(found) => break found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => match existing.pop() {
                    Some(component) => rest.push(component),
                    None => return Err(PathError::Workspace { path: self.given.clone(), source: error }),
                },
                Err(error) => return Err(PathError::of(wanted, error)),
            }
        };
        rest.reverse();
        Ok(Reached { found, rest })
    }

    /// The place of a path of which this much exists.
    fn spot(&self, wanted: &Path, Reached { found, rest }: Reached<'_>) -> Result<Spot, PathError> {
        let wanted = wanted.to_owned();
        // A file on Linux may have such a name, but tools create no such file.
        if rest.iter().any(|name| name.as_os_str().as_bytes().contains(&b'\\')) {
            return Err(PathError::Backslash(wanted));
        }
        if rest.contains(&Component::ParentDir) {
            return Err(PathError::Missing(wanted));
        }
        // If the first missing component now exists and is no link, another task has created it.
        if let Some(first) = rest.first()
            && self
                .root
                .symlink_metadata(or_dot(found.clone()).join(first))
                .is_ok_and(|there| there.is_symlink())
        {
            return Err(PathError::Dangling(wanted));
        }
        let relative: PathBuf =
            found.components().filter(|c| *c != Component::CurDir).chain(rest.iter().copied()).collect();
        let real = self.real.join(&relative);
        if self.closed.contains(&real) {
            return Err(PathError::Closed(wanted));
        }
        Ok(Spot { relative: or_dot(relative), real, missing: rest.len() })
    }

    /// The path relative to the root, without looking at the disk.
    fn beneath(&self, path: &str) -> Result<PathBuf, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.contains('\0') {
            return Err(PathError::Nul);
        }
        if path == "~" || path.starts_with("~/") {
            return Err(PathError::Home);
        }
        if is_foreign(path) {
            return Err(PathError::Foreign(path.into()));
        }
        let path = Path::new(path);
        if !path.is_absolute() {
            return Ok(path.to_owned());
        }
        [&self.given, &self.real]
            .iter()
            .find_map(|root| path.strip_prefix(root).ok())
            .map(|path| or_dot(path.to_owned()))
            .ok_or_else(|| PathError::Outside(path.to_owned()))
    }

    /// Opens the folder at a spot and checks that it is still the same one.
    pub(crate) fn folder(&self, spot: &Spot) -> Result<Dir, PathError> {
        if spot.missing > 0 {
            return Err(PathError::Missing(spot.relative.clone()));
        }
        let fail = |error| PathError::of(&spot.relative, error);
        if !self.root.metadata(&spot.relative).map_err(fail)?.is_dir() {
            return Err(PathError::NotAFolder(spot.relative.clone()));
        }
        let folder = self.root.open_dir(&spot.relative).map_err(fail)?;
        self.same(&folder, &spot.real, &spot.relative)?;
        Ok(folder)
    }

    /// Creates the folder at a spot and the missing folders above. Returns whether any folder was created.
    pub(crate) fn create_folder(&self, spot: &Spot) -> Result<bool, PathError> {
        if spot.missing > 0 {
            let made = folders::make(self.root.as_fd(), &spot.relative);
            made.map_err(|error| PathError::of(&spot.relative, error.into()))?;
        }
        self.folder(&Spot { missing: 0, ..spot.clone() })?;
        Ok(spot.missing > 0)
    }

    fn same(&self, opened: &Dir, real: &Path, shown: &Path) -> Result<(), PathError> {
        match real_path(opened) {
            Ok(now) if now == real => Ok(()),
            _ => Err(PathError::Moved(shown.to_owned())),
        }
    }
}

/// Whether this is an absolute path of Windows (`C:\x`, `C:/x`, `\\host\share`, `\\?\x`, `\x`), which Linux
/// would take for a name.
fn is_foreign(path: &str) -> bool {
    match path.as_bytes() {
        [b'\\', ..] | [b'a'..=b'z' | b'A'..=b'Z', b':'] => true,
        [b'a'..=b'z' | b'A'..=b'Z', b':', separator, ..] => matches!(separator, b'\\' | b'/'),
        _ => false,
    }
}

/// The path of an open folder.
fn real_path(dir: &Dir) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", dir.as_raw_fd()))
}

/// `.` for the empty path.
fn or_dot(path: PathBuf) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another task creates the missing file between the two looks at the disk.
    #[test]
    fn a_file_that_appears_while_its_path_is_resolved_is_not_a_dangling_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let workspace = Workspace::open(root, Arc::new(Closed::new(&[], Path::new("/nonexistent")))).unwrap();

        let wanted = Path::new("new/file");
        let reached = workspace.reach(wanted).unwrap();
        fs::create_dir(folder.path().join("new")).unwrap();
        fs::write(folder.path().join(wanted), "by another task").unwrap();
        let spot = workspace.spot(wanted, reached).unwrap();
        assert_eq!((spot.relative.as_path(), spot.missing), (wanted, 2));

        let wanted = Path::new("link");
        let reached = workspace.reach(wanted).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join(wanted)).unwrap();
        assert!(matches!(workspace.spot(wanted, reached), Err(PathError::Dangling(_))));
    }
}
