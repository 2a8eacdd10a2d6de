use super::Edit;
use crate::workspace::{Found, PathError, Spot, Workspace};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// The changes that the assessed calls of one reply will make to the workspace. Nothing is on disk yet.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    /// By real path.
    files: HashMap<PathBuf, Found>,
    folders: HashSet<PathBuf>,
}

impl Overlay {
    /// The file after the calls assessed so far; `None` if there will be no file.
    pub(crate) fn file(&self, workspace: &Workspace, spot: &Spot) -> Result<Option<Found>, PathError> {
        if let Some(file) = self.files.get(&spot.real) {
            return Ok(Some(file.clone()));
        }
        if self.folders.contains(&spot.real) {
            return Err(PathError::IsFolder(spot.relative.clone()));
        }
        self.has_room_for(&new_folders(spot))?;
        workspace.read(spot)
    }

    /// The content that the calls assessed so far write to this file; `None` if they do not change the file.
    pub(crate) fn written(&self, real: &Path) -> Option<&[u8]> {
        self.files.get(real).map(|file| &*file.content)
    }

    /// Adds an edit and the folders that it makes.
    pub(crate) fn write(&mut self, Edit { spot, before, after }: Edit) {
        self.folders.extend(new_folders(&spot));
        self.files.insert(spot.real, Found::written(after, before.as_ref()));
    }

    /// Adds a folder and the folders above it.
    pub(crate) fn create_folder(&mut self, spot: &Spot) -> Result<(), PathError> {
        let new: Vec<PathBuf> = spot.real.ancestors().take(spot.missing).map(Path::to_owned).collect();
        self.has_room_for(&new)?;
        self.folders.extend(new);
        Ok(())
    }

    /// Checks that none of these folders will be a file.
    fn has_room_for(&self, folders: &[PathBuf]) -> Result<(), PathError> {
        match folders.iter().find(|folder| self.files.contains_key(*folder)) {
            Some(file) => Err(PathError::NotAFolder(file.clone())),
            None => Ok(()),
        }
    }
}

/// The missing folders above a file.
fn new_folders(spot: &Spot) -> Vec<PathBuf> {
    spot.real.ancestors().take(spot.missing).skip(1).map(Path::to_owned).collect()
}
