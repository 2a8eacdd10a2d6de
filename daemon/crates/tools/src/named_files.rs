//! Files that a person names for a task.

use crate::{
    Tools,
    workspace::{PathError, Workspace},
};
use std::{io, sync::Arc};

/// Why a path that a person names cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct UnusablePath(pub(crate) PathError);

impl Tools {
    /// The paths of these files relative to the workspace, without links, each once. Naming a file permits
    /// nothing: a path that tools may not use is refused. Blocking.
    ///
    /// # Errors
    /// A path is no file in the workspace, or is closed to tools.
    pub fn named_files(&self, workspace: &str, paths: &[String]) -> Result<Vec<String>, UnusablePath> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let workspace = Workspace::open(workspace, Arc::clone(&self.runner.closed)).map_err(UnusablePath)?;
        let mut named: Vec<String> = Vec::new();
        for path in paths {
            let path = named_file(&workspace, path).map_err(UnusablePath)?;
            if !named.contains(&path) {
                named.push(path);
            }
        }
        Ok(named)
    }
}

fn named_file(workspace: &Workspace, path: &str) -> Result<String, PathError> {
    let spot = workspace.resolve(path)?;
    let relative = spot.relative;
    if spot.missing > 0 {
        return Err(PathError::Missing(relative));
    }
    let kind = std::fs::symlink_metadata(&spot.real).map_err(|e| PathError::of(&relative, e))?.file_type();
    if kind.is_dir() {
        return Err(PathError::IsFolder(relative));
    }
    if !kind.is_file() {
        return Err(PathError::Special(relative));
    }
    relative.to_str().map(str::to_owned).ok_or_else(|| PathError::Io {
        path: relative.clone(),
        source: io::Error::new(io::ErrorKind::InvalidData, "its name is not valid UTF-8"),
    })
}
