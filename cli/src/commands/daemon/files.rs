//! Writes the files of an installation: all of them or none.

use super::report::{Action, Report};
use crate::error::CommandError;
use abide_host::{
    login::{Found, marked},
    replace_file,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Files that were written, with what was there before.
#[derive(Default)]
pub(super) struct Written(Vec<(PathBuf, Option<String>)>);

impl Written {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the text with its mark, unless the file is there already. One that others have written or
    /// edited is kept, and named.
    pub(super) fn write(&mut self, path: &Path, text: &str, report: &mut Report) -> Result<(), CommandError> {
        let text = marked(text);
        let before = match Found::at(path).map_err(|e| cannot("read", path, &e))? {
            Found::Ours(there) if there == text => return Ok(()),
            Found::Others => return report.kept(path),
            Found::Ours(there) => Some(there),
            Found::Nothing => None,
        };
        put(path, &text).map_err(|e| cannot("write", path, &e))?;
        let action = if before.is_some() { Action::Replaced } else { Action::Wrote };
        self.0.push((path.to_owned(), before));
        report.did(action, path.display().to_string())
    }

    /// Puts back what was there. Best effort: the error that is the reason for it is reported.
    pub(super) fn undo(self, report: &mut Report) -> Result<(), CommandError> {
        for (path, before) in self.0.into_iter().rev() {
            let undone = before.as_deref().map_or_else(|| fs::remove_file(&path), |text| put(&path, text));
            if undone.is_ok() {
                let action = if before.is_some() { Action::Replaced } else { Action::Removed };
                report.did(action, format!("{} again", path.display()))?;
            }
        }
        Ok(())
    }
}

/// Removes the file if it is as install wrote it; another is kept, and named. Whether it is gone.
pub(super) fn remove(path: &Path, report: &mut Report) -> Result<bool, CommandError> {
    match Found::at(path).map_err(|e| cannot("read", path, &e))? {
        Found::Nothing => Ok(true),
        Found::Others => report.kept(path).map(|()| false),
        Found::Ours(_) => {
            fs::remove_file(path).map_err(|e| cannot("remove", path, &e))?;
            report.did(Action::Removed, path.display().to_string()).map(|()| true)
        }
    }
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    #[cfg(unix)]
    let permissions = Some(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    #[cfg(not(unix))]
    let permissions = None;
    replace_file(path, text, permissions)
}

fn cannot(doing: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("cannot {doing} {}: {error}", path.display()))
}
