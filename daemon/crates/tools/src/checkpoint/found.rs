//! The person's repository around a workspace. The repository is only read, and without git: what it
//! configures must not run.

use crate::sandbox::git::{Repository, common_folder, git_folder, id_length, shared_index};
use std::{
    fs, io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// What checkpoints need of the person's repository. Checkpoints write nothing to it, so any repository that
/// git would accept serves, even one that a task's command has made.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) top: PathBuf,
    /// The git folder of the work tree.
    pub(super) folder: PathBuf,
    /// The git folder that the repository shares among its work trees.
    pub(super) common: PathBuf,
    pub(super) is_sha256: bool,
    /// A file with the person's patterns of ignored files.
    pub(super) excludes: Option<PathBuf>,
}

impl Found {
    /// The innermost repository whose work tree holds this folder, a path without links.
    pub(super) fn of(workspace: &Path, home: &Path, config_home: Option<&Path>) -> Option<Self> {
        workspace.ancestors().find_map(|top| Self::at(top, home, config_home))
    }

    /// The repository whose work tree has this top folder.
    pub(super) fn at(top: &Path, home: &Path, config_home: Option<&Path>) -> Option<Self> {
        let folder = git_folder(&top.join(".git"))?;
        let common = common_folder(&folder)?;
        if !folder.join("HEAD").exists() || !common.join("objects").is_dir() {
            return None;
        }
        let repository = Repository {
            top: top.to_owned(),
            entry: top.join(".git"),
            folders: vec![folder.clone(), common.clone()],
        };
        let of_person =
            || config_home.map_or_else(|| home.join(".config"), Path::to_owned).join("git/ignore");
        let excludes = repository.named(home).excludes.unwrap_or_else(of_person);
        Some(Self {
            top: top.to_owned(),
            is_sha256: id_length(&common) == 32,
            excludes: excludes.is_file().then_some(excludes),
            folder,
            common,
        })
    }

    /// The folders of objects: the repository's own, and those from which it borrows.
    pub(super) fn objects(&self) -> Vec<PathBuf> {
        let mut all = vec![self.common.join("objects")];
        let mut at = 0;
        while let Some(folder) = all.get(at).cloned() {
            let borrowed = fs::read_to_string(folder.join("info/alternates")).unwrap_or_default();
            for line in borrowed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                if let Ok(other) = fs::canonicalize(folder.join(line))
                    && !all.contains(&other)
                {
                    all.push(other);
                }
            }
            at += 1;
        }
        all
    }

    /// The repository's patterns of ignored files, and a pattern for its git folder, which is never kept.
    pub(super) fn exclude(&self) -> Vec<u8> {
        let mut patterns = fs::read(self.common.join("info/exclude")).unwrap_or_default();
        for folder in [&self.folder, &self.common] {
            if let Ok(within) = folder.strip_prefix(&self.top)
                && within != Path::new(".git")
            {
                patterns.extend(b"\n/");
                patterns.extend(literal(within));
                patterns.extend(b"/\n");
            }
        }
        patterns
    }

    /// Copies the repository's index to a file in this folder. Returns whether the repository has an index.
    pub(super) fn copy_index(&self, folder: &Path, name: &str) -> io::Result<bool> {
        let id_length = if self.is_sha256 { 32 } else { 20 };
        match fs::copy(self.folder.join("index"), folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            copied => copied?,
        };
        // A split index has most of its entries in another file.
        if let Some(shared) = shared_index(&self.folder, id_length)? {
            fs::copy(self.folder.join(&shared), folder.join(shared))?;
        }
        Ok(true)
    }
}

/// A path as a pattern that matches this path alone.
fn literal(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes().iter();
    let escaped =
        bytes.flat_map(|byte| if b"\\*?[ ".contains(byte) { vec![b'\\', *byte] } else { vec![*byte] });
    escaped.collect()
}
