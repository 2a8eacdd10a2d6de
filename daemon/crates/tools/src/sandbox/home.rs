//! Looks for the hidden files of a home and of the machine.

use super::{
    hidden::{OF_ROOT, SECRETS, SHOWN, SHOWN_BEGINNINGS, SIFTED, SNAPSHOTS},
    links::without_links,
};
use rustix::{
    fs::{Access, access},
    io::Errno,
    process::geteuid,
};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// A home, as it was when it was looked at.
pub(super) struct Home {
    path: PathBuf,
    /// The home, then the folders of [`SIFTED`]; `None` for a missing folder.
    sifted: Vec<Option<Sifted>>,
}

/// A folder of which most entries are hidden.
struct Sifted {
    /// Relative to the home.
    name: &'static str,
    /// Without links.
    path: PathBuf,
    /// The folder's entries (of the home, only dot files), and whether each is a link. `None` if the folder
    /// cannot be listed.
    entries: Option<BTreeMap<OsString, bool>>,
}

/// A path of [`SECRETS`], with the index of its sifted folder, and its first name in that folder.
struct Secret {
    path: &'static str,
    sifted: usize,
    first: &'static str,
}

static SHOWN_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| SHOWN.iter().copied().collect());

static SECRET_PATHS: LazyLock<Vec<Secret>> =
    LazyLock::new(|| SECRETS.iter().map(|path| Secret::at(path)).collect());

impl Home {
    /// Blocking.
    pub(super) fn look(path: &Path) -> Self {
        let path = without_links(path).unwrap_or_else(|| path.to_owned());
        let sifted = [""].iter().chain(SIFTED).map(|name| Sifted::look(&path, name)).collect();
        Self { path, sifted }
    }

    /// Hidden files that no list names: dot files, and folders like `.config` or their entries.
    pub(super) fn unlisted(&self) -> Vec<PathBuf> {
        self.sifted.iter().flatten().flat_map(Sifted::hidden).collect()
    }

    /// Entries of these hidden folders that are shown, because tools need them.
    pub(super) fn shown(&self, hidden: &[PathBuf]) -> Vec<PathBuf> {
        let sifted = self.sifted.iter().flatten().filter(|folder| hidden.contains(&folder.path));
        sifted.flat_map(|folder| folder.shown().map(|(name, _)| folder.path.join(name))).collect()
    }

    /// Listed files of this home and of the machine that exist, except those that these hidden folders hide
    /// already. Paths without links. Blocking.
    pub(super) fn listed(&self, hidden: &[PathBuf]) -> Vec<PathBuf> {
        let hidden: HashSet<&OsStr> = hidden.iter().map(|path| path.as_os_str()).collect();
        let may_be_seen = |secret: &&Secret| {
            self.sifted.get(secret.sifted).and_then(Option::as_ref).is_some_and(|folder| {
                folder.may_have(secret.first)
                    && !hidden.contains(folder.path.join(secret.first).as_os_str())
                    && (folder.shows(secret.first.as_ref()) || !hidden.contains(folder.path.as_os_str()))
            })
        };
        let of_home = SECRET_PATHS.iter().filter(may_be_seen).map(|secret| self.path.join(secret.path));
        let of_root = if geteuid().is_root() { OF_ROOT } else { &[] }.iter().map(PathBuf::from);
        let snapshots = self.path.ancestors().flat_map(|above| SNAPSHOTS.iter().map(|name| above.join(name)));
        let all = of_home.chain(of_root).chain(snapshots).filter(|path| may_be_there(path));
        all.filter_map(|path| without_links(&path)).collect()
    }
}

impl Sifted {
    fn look(home: &Path, name: &'static str) -> Option<Self> {
        // Not with a slash at the end.
        let path = if name.is_empty() { home.to_owned() } else { home.join(name) };
        let path = without_links(&path)?;
        let is_meant = |entry: &fs::DirEntry| !name.is_empty() || is_dot_file(&entry.file_name());
        let entries = fs::read_dir(&path).and_then(|entries| {
            let entries = entries.filter(|entry| entry.as_ref().map_or(true, is_meant));
            entries
                .map(|entry| entry.map(|entry| (entry.file_name(), is_link(&entry))))
                .collect::<io::Result<_>>()
        });
        Some(Self { name, path, entries: entries.ok() })
    }

    /// The folder itself, if all its shown entries can be shown again; else its hidden entries. (A link
    /// cannot be shown again.) Links are left out of the entries: a link reveals nothing by itself, and
    /// hiding its target could hide anything.
    fn hidden(&self) -> Vec<PathBuf> {
        if !self.name.is_empty() && !self.shown().any(|(_, is_link)| is_link) {
            return vec![self.path.clone()];
        }
        let files = self.entries.iter().flatten().filter(|(_, is_link)| !**is_link);
        files.filter(|(name, _)| !self.shows(name)).map(|(name, _)| self.path.join(name)).collect()
    }

    fn shown(&self) -> impl Iterator<Item = (&OsStr, bool)> {
        let entries = self.entries.iter().flatten().filter(|(name, _)| self.shows(name));
        entries.map(|(name, is_link)| (name.as_os_str(), *is_link))
    }

    fn shows(&self, name: &OsStr) -> bool {
        let Some(name) = name.to_str() else { return false };
        if !self.name.is_empty() {
            return SHOWN_NAMES.contains(&*format!("{}/{name}", self.name));
        }
        SHOWN_NAMES.contains(name) || SHOWN_BEGINNINGS.iter().any(|start| name.starts_with(start))
    }

    /// `false` if the folder certainly has no entry of this name.
    fn may_have(&self, name: &str) -> bool {
        let is_unknown = self.name.is_empty() && !is_dot_file(name.as_ref());
        is_unknown || self.entries.as_ref().is_none_or(|entries| entries.contains_key(OsStr::new(name)))
    }
}

impl Secret {
    fn at(path: &'static str) -> Self {
        let rest_in = |folder: &&str| path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        let (sifted, rest) = SIFTED
            .iter()
            .enumerate()
            .find_map(|(index, folder)| Some((index + 1, rest_in(folder)?)))
            .unwrap_or((0, path));
        Self { path, sifted, first: rest.split('/').next().unwrap_or(rest) }
    }
}

/// Most listed files are missing. This test says so faster than [`without_links`].
fn may_be_there(path: &Path) -> bool {
    !matches!(access(path, Access::EXISTS), Err(Errno::NOENT | Errno::NOTDIR))
}

fn is_dot_file(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_link(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_symlink())
}
