//! What a command may not change although it lies where it may write: files from which programs outside of the sandbox take what
//! they run.

use super::{confinement::Protected, git::Repository, placeholder::Placeholder};
use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// How deep folders of submodules are followed.
const MODULES_DEPTH: usize = 8;

/// The protected paths of a workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ProtectedPaths {
    pub(super) existing: Vec<Protected>,
    /// Those that are not there. Each gets a placeholder, which a command can neither change nor replace.
    pub(super) missing: Vec<Placeholder>,
}

/// A protected path that cannot be protected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProtectError {
    #[error("`{}` is a symbolic link, which the sandbox cannot protect", .0.display())]
    Link(PathBuf),
    #[error("`{}` cannot be looked at: {source}", .path.display())]
    Look { path: PathBuf, source: io::Error },
}

impl ProtectedPaths {
    /// Those of a workspace, with further ones of the configuration, which are relative to it.
    pub(super) fn of(
        workspace: &Path,
        repository: Option<&Repository>,
        home: &Path,
        further: &[PathBuf],
    ) -> Result<Self, ProtectError> {
        let mut paths = Self::default();
        for name in abide_rules::PROTECTED.iter().filter(|name| **name != ".git") {
            paths.add_folder(workspace.join(name))?;
        }
        for path in further {
            paths.add_folder(workspace.join(path))?;
        }
        if let Some(repository) = repository {
            for folder in &repository.folders {
                paths.add_git(folder, 0)?;
            }
            if repository.entry.is_file() {
                paths.add(repository.entry.clone(), None)?;
            }
            let named = repository.named(home);
            let is_of_it = |path: &&PathBuf| {
                path.starts_with(&repository.top)
                    || repository.folders.iter().any(|folder| path.starts_with(folder))
            };
            for path in named.hooks.iter().filter(is_of_it) {
                paths.add_folder(path.clone())?;
            }
            for path in named.included.iter().filter(is_of_it) {
                paths.add(path.clone(), Some(Placeholder::file(path.clone(), "")))?;
            }
        }
        paths.existing.sort();
        paths.existing.dedup();
        // What lies in a protected folder is protected with it.
        let all: Vec<PathBuf> = paths.existing.iter().map(|protected| protected.path.clone()).collect();
        let is_beneath = |path: &Path| all.iter().any(|above| path != above && path.starts_with(above));
        paths.existing.retain(|protected| !is_beneath(&protected.path));
        paths.missing.retain(|missing| !all.iter().any(|above| missing.path.starts_with(above)));
        paths.missing.sort();
        paths.missing.dedup();
        Ok(paths)
    }

    fn add_folder(&mut self, path: PathBuf) -> Result<(), ProtectError> {
        self.add(path.clone(), Some(Placeholder::folder(path)))
    }

    fn add(&mut self, path: PathBuf, placeholder: Option<Placeholder>) -> Result<(), ProtectError> {
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => Err(ProtectError::Link(path)),
            Ok(there) => {
                self.existing.push(Protected { device: there.dev(), inode: there.ino(), path });
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let first_missing = path.ancestors().skip(1).take_while(|above| !above.exists()).last();
                self.missing.extend(match first_missing {
                    Some(folder) => placeholder.map(|_| Placeholder::folder(folder.to_owned())),
                    None => placeholder,
                });
                Ok(())
            }
            Err(source) => Err(ProtectError::Look { path, source }),
        }
    }

    /// What git takes programs from in one of its folders.
    fn add_git(&mut self, folder: &Path, depth: usize) -> Result<(), ProtectError> {
        if folder.parent().is_some_and(|parent| parent.ends_with("worktrees")) {
            return self.add_linked(folder);
        }
        self.add_folder(folder.join("hooks"))?;
        // With `commondir` git takes hooks and configuration from the folder that it names. The placeholder names its own.
        for (name, text) in [("config", ""), ("config.worktree", ""), ("commondir", ".\n")] {
            let path = folder.join(name);
            self.add(path.clone(), Some(Placeholder::file(path, text)))?;
        }
        for linked in folders(&folder.join("worktrees"))? {
            self.add_linked(&linked)?;
        }
        self.add_modules(&folder.join("modules"), depth)
    }

    /// The folder of a linked work tree. It has hooks and configuration from the folder that it names.
    fn add_linked(&mut self, folder: &Path) -> Result<(), ProtectError> {
        self.add(folder.join("commondir"), None)?;
        self.add(folder.join("gitdir"), None)?;
        let path = folder.join("config.worktree");
        self.add(path.clone(), Some(Placeholder::file(path, "")))
    }

    /// A submodule's name may have slashes, so its folder may lie deeper.
    fn add_modules(&mut self, folder: &Path, depth: usize) -> Result<(), ProtectError> {
        if depth >= MODULES_DEPTH {
            return Ok(());
        }
        for module in folders(folder)? {
            if module.join("HEAD").exists() {
                self.add_git(&module, depth + 1)?;
            } else {
                self.add_modules(&module, depth + 1)?;
            }
        }
        Ok(())
    }
}

impl Protected {
    /// The file or folder that is there now.
    pub(super) fn there(path: PathBuf) -> Result<Self, ProtectError> {
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => Err(ProtectError::Link(path)),
            Ok(there) => Ok(Self { device: there.dev(), inode: there.ino(), path }),
            Err(source) => Err(ProtectError::Look { path, source }),
        }
    }
}

/// The folders in a folder, which may be missing.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, ProtectError> {
    let look = |source| ProtectError::Look { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(look)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(look)?;
        if entry.file_type().map_err(look)?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
