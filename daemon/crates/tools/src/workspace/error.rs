use super::MAX_FILE;
use crate::text::one_line;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a path cannot be used, in words that a model can act on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PathError {
    #[error("the workspace {} cannot be used: {source}", shown(.path))]
    Workspace { path: PathBuf, source: io::Error },
    #[error(
        "the workspace {} is not the folder that was chosen: there is a link on its way now. Nothing is done in the other folder",
        shown(.0)
    )]
    Redirected(PathBuf),
    #[error("the path is empty; the workspace itself is `.`")]
    Empty,
    #[error("the path holds a NUL character")]
    Nul,
    #[error("`~` is not expanded; give a path beneath the workspace")]
    Home,
    #[error(
        "{} is a path of another system (a drive or a share); give one beneath the workspace, separated by `/`",
        shown(.0)
    )]
    Foreign(PathBuf),
    #[error("{} does not exist, and names are separated by `/` here, not by `\\`", shown(.0))]
    Backslash(PathBuf),
    #[error("{} leads out of the workspace; only what lies beneath it can be used", shown(.0))]
    Outside(PathBuf),
    #[error("{} is closed to tools", shown(.0))]
    Closed(PathBuf),
    #[error("{} does not exist", shown(.0))]
    Missing(PathBuf),
    #[error("{} is a link that leads to nothing", shown(.0))]
    Dangling(PathBuf),
    #[error("{} is a folder, not a file", shown(.0))]
    IsFolder(PathBuf),
    #[error("{} is not a folder", shown(.0))]
    NotAFolder(PathBuf),
    #[error("{} is not a regular file (a pipe, a socket or a device)", shown(.0))]
    Special(PathBuf),
    #[error("{} has {size} bytes; files of up to {MAX_FILE} bytes can be read and edited", shown(.path))]
    TooBig { path: PathBuf, size: u64 },
    #[error("{} leads somewhere else than a moment ago; nothing was done", shown(.0))]
    Moved(PathBuf),
    #[error("{}: {source}", shown(.path))]
    Io { path: PathBuf, source: io::Error },
}

impl PathError {
    /// The error for a failure at a path beneath the workspace.
    pub(crate) fn of(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            io::ErrorKind::NotADirectory => Self::NotAFolder(path),
            // An error of the kernel has a number. An error without a number is an attempt to leave the root.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside(path),
            io::ErrorKind::CrossesDevices => Self::Outside(path),
            _ => Self::Io { path, source: error },
        }
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 200)
}
