use super::{PathError, Spot, Workspace};
use abide_fail_point::{Point, pass};
use cap_std::fs::{
    Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _,
};
use rustix::fs::OFlags;
use std::{
    ffi::{OsStr, OsString},
    fmt,
    io::{self, Read as _, Write as _},
    path::Path,
};

/// The largest file that is read and edited, in bytes.
pub(crate) const MAX_FILE: u64 = 10 << 20;

/// A file's permission bits: the lowest nine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode(u32);

impl Mode {
    /// The file's owner may not write to it.
    pub(crate) const fn is_read_only(self) -> bool {
        self.0 & 0o200 == 0
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03o}", self.0)
    }
}

/// An existing file.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) content: Vec<u8>,
    pub(crate) mode: Mode,
    /// How many names (hard links) the file has.
    pub(crate) links: u64,
}

impl Found {
    /// How a file is written: in the place of an existing file, or of none.
    pub(crate) fn written(content: Vec<u8>, before: Option<&Self>) -> Self {
        Self { content, mode: before.map_or(Mode(0o600), |before| before.mode), links: 1 }
    }
}

impl Workspace {
    /// The file; `None` if there is none.
    pub(crate) fn read(&self, spot: &Spot) -> Result<Option<Found>, PathError> {
        if spot.missing > 0 {
            return Ok(None);
        }
        let (folder, name) = self.folder_and_name(spot)?;
        let fail = |error| PathError::of(&spot.relative, error);
        // The kind is checked before opening, because opening a device may have effects, and after, because
        // the file may have been replaced.
        check(&folder.symlink_metadata(&name).map_err(fail)?, &spot.relative)?;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file: File = folder.open_with(&name, &options).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        check(&metadata, &spot.relative)?;
        let mut content = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut content).map_err(fail)?;
        if content.len() as u64 > MAX_FILE {
            return Err(PathError::TooBig { path: spot.relative.clone(), size: metadata.len() });
        }
        let mode = Mode(metadata.permissions().mode() & 0o777);
        Ok(Some(Found { content, mode, links: metadata.nlink() }))
    }

    /// Replaces a file as a whole: readers see the old or the new content, also after a crash. Other names of
    /// the file keep the old content. Missing folders are made.
    ///
    /// `mark` is unique to the attempt.
    pub(crate) fn replace(
        &self,
        spot: &Spot,
        content: &[u8],
        mode: Option<Mode>,
        mark: &str,
    ) -> Result<(), PathError> {
        if spot.missing > 1 {
            self.create_folder(&above(spot))?;
        }
        let (folder, name) = self.folder_and_name(spot)?;
        let new = new_name(mark);
        let placed = write_new(&folder, &new, content, mode).and_then(|()| {
            pass(Point::EditWritten);
            folder.rename(&new, &folder, &name)?;
            pass(Point::EditDone);
            // Flushes the rename too.
            folder.open(".")?.sync_all()
        });
        placed.map_err(|error| {
            let _ = folder.remove_file(&new);
            PathError::of(&spot.relative, error)
        })
    }

    /// Removes the temporary file that a crash may have left of [`Self::replace`].
    pub(crate) fn clean_up(&self, spot: &Spot, mark: &str) {
        if let Ok((folder, _)) = self.folder_and_name(spot) {
            let _ = folder.remove_file(new_name(mark));
        }
    }

    /// The open folder of the spot, and the spot's name in it.
    fn folder_and_name(&self, spot: &Spot) -> Result<(Dir, OsString), PathError> {
        let Some(name) = spot.relative.file_name() else {
            return Err(PathError::IsFolder(spot.relative.clone()));
        };
        let folder = self.folder(&Spot { missing: 0, ..above(spot) })?;
        Ok((folder, name.to_owned()))
    }
}

/// The folder of a file.
fn above(spot: &Spot) -> Spot {
    let relative = super::or_dot(spot.relative.parent().unwrap_or(Path::new("")).to_owned());
    let real = spot.real.parent().unwrap_or(Path::new("/")).to_owned();
    Spot { relative, real, missing: spot.missing.saturating_sub(1) }
}

fn check(metadata: &Metadata, path: &Path) -> Result<(), PathError> {
    let path = path.to_owned();
    if metadata.is_dir() {
        Err(PathError::IsFolder(path))
    } else if metadata.is_symlink() {
        Err(PathError::Moved(path))
    } else if !metadata.is_file() {
        Err(PathError::Special(path))
    } else if metadata.len() > MAX_FILE {
        Err(PathError::TooBig { path, size: metadata.len() })
    } else {
        Ok(())
    }
}

fn new_name(mark: &str) -> String {
    format!(".abide-{mark}.new")
}

fn write_new(folder: &Dir, name: impl AsRef<OsStr>, content: &[u8], mode: Option<Mode>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if let Some(Mode(mode)) = mode {
        // At no time more permissive than in the end.
        options.mode(mode & 0o700);
    }
    let mut file = folder.open_with(name.as_ref(), &options)?;
    file.write_all(content)?;
    if let Some(Mode(mode)) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}
