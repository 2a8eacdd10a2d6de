//! The folder that a task works in. Paths are resolved by descriptor beneath it, never compared as text.

mod closed;
mod error;
mod file;

pub(crate) use closed::Closed;
pub(crate) use error::PathError;
pub(crate) use file::MAX_FILE;

use cap_std::{ambient_authority, fs::Dir};
use std::{
    fs, io,
    os::{fd::AsRawFd as _, unix::ffi::OsStrExt as _},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

/// An open workspace.
pub(crate) struct Workspace {
    root: Dir,
    /// As the task names it.
    given: PathBuf,
    /// Without links.
    real: PathBuf,
    closed: Arc<Closed>,
}

/// Where a path leads, as far as it exists: links are followed, nothing is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Beneath the root, without links; `.` for the root.
    pub(crate) relative: PathBuf,
    /// The same from the file system's root.
    pub(crate) real: PathBuf,
    /// How many of the last components do not exist.
    pub(crate) missing: usize,
}

/// How far a path leads: other tasks may make or remove something at any moment after that.
struct Reached<'p> {
    /// What there is, without links.
    found: PathBuf,
    /// What there is not.
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

    /// Whether it holds so much of a person's or Abide's own things that even reading asks.
    pub(crate) fn is_broad(&self) -> bool {
        self.closed.is_broad(&self.real)
    }

    /// Whether this place is closed to tools.
    pub(crate) fn is_closed(&self, relative: &Path) -> bool {
        self.closed.contains(&self.real.join(relative))
    }

    /// Finds the place that a model's path means. It lies beneath the root and is not closed.
    pub(crate) fn resolve(&self, path: &str) -> Result<Spot, PathError> {
        let wanted = self.beneath(path)?;
        if self.closed.contains(&self.real.join(&wanted)) {
            return Err(PathError::Closed(wanted));
        }
        let reached = self.reach(&wanted)?;
        self.spot(&wanted, reached)
    }

    /// How far a path leads.
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

    /// The place of a path that leads so far.
    fn spot(&self, wanted: &Path, Reached { found, rest }: Reached<'_>) -> Result<Spot, PathError> {
        let wanted = wanted.to_owned();
        // There may be a file of such a name; none is made.
        if rest.iter().any(|name| name.as_os_str().as_bytes().contains(&b'\\')) {
            return Err(PathError::Backslash(wanted));
        }
        if rest.contains(&Component::ParentDir) {
            return Err(PathError::Missing(wanted));
        }
        // What is no link was made since the look above, by another task: it was missing then.
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

    /// The path as written, relative to the root, without a look at the disk.
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

    /// Opens the folder at a spot, and makes sure that it is still the one that was found.
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

    /// Creates the folder at a spot, and those above it that are missing. Says whether there was anything to do.
    pub(crate) fn create_folder(&self, spot: &Spot) -> Result<bool, PathError> {
        if spot.missing > 0 {
            self.root.create_dir_all(&spot.relative).map_err(|e| PathError::of(&spot.relative, e))?;
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

/// Whether this is an absolute path of Windows (`C:\x`, `C:/x`, `\\host\share`, `\\?\x`, `\x`), which here would be taken as a name.
fn is_foreign(path: &str) -> bool {
    match path.as_bytes() {
        [b'\\', ..] | [b'a'..=b'z' | b'A'..=b'Z', b':'] => true,
        [b'a'..=b'z' | b'A'..=b'Z', b':', separator, ..] => matches!(separator, b'\\' | b'/'),
        _ => false,
    }
}

/// Where an open folder lies.
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

    /// Between the two looks at the disk another task makes what was missing at the first.
    #[test]
    fn a_file_that_appears_while_its_path_is_resolved_is_no_link_that_leads_to_nothing() {
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
