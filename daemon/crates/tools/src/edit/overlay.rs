use super::Edit;
use crate::workspace::{Found, PathError, Spot, Workspace};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// The changes that the assessed calls of one reply will make to the workspace. None is on disk.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    /// By real path.
    files: HashMap<PathBuf, Found>,
    folders: HashSet<PathBuf>,
}

impl Overlay {
    /// The file after the calls assessed so far; `None` if there will be no file, but a folder to hold it.
    pub(crate) fn file(&self, workspace: &Workspace, spot: &Spot) -> Result<Option<Found>, PathError> {
        if let Some(file) = self.files.get(&spot.real) {
            return Ok(Some(file.clone()));
        }
        if self.folders.contains(&spot.real) {
            return Err(PathError::IsFolder(spot.relative.clone()));
        }
        let parent = spot.real.parent().unwrap_or(Path::new("/"));
        if spot.missing > 1 && !self.folders.contains(parent) {
            return Err(PathError::NoFolder(spot.relative.parent().unwrap_or(Path::new(".")).to_owned()));
        }
        workspace.read(spot)
    }

    /// The content that the calls assessed so far write to the file at this path; `None` if they leave it as it is.
    pub(crate) fn written(&self, real: &Path) -> Option<&[u8]> {
        self.files.get(real).map(|file| &*file.content)
    }

    pub(crate) fn write(&mut self, Edit { spot, before, after }: Edit) {
        self.files.insert(spot.real, Found::written(after, before.as_ref()));
    }

    /// Adds a folder and those above it.
    pub(crate) fn create_folder(&mut self, spot: &Spot) -> Result<(), PathError> {
        let new = spot.real.ancestors().take(spot.missing);
        if let Some(file) = new.clone().find(|path| self.files.contains_key(*path)) {
            return Err(PathError::NotAFolder(file.to_owned()));
        }
        self.folders.extend(new.map(Path::to_owned));
        Ok(())
    }
}
