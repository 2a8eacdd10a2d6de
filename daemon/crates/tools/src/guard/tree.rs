//! The folders of a workspace. A further look lists only the folders that have changed since the look before.

use crate::sandbox::Identity;
use abide_rules::{Effect, Rule};
use rustix::{
    fs::{AtFlags, CWD, FileType, Stat, statat},
    time::{ClockId, clock_gettime},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

/// The longest tick of the kernel, in ns. A folder that has just changed may change again within a tick and
/// keep its time.
const TICK: i128 = 20_000_000;

/// Folders in a git folder that hold no git folder and no configuration.
const OF_GIT: [&str; 5] = ["objects", "refs", "logs", "lfs", "info"];

/// A folder and all beneath it.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    folders: HashMap<PathBuf, Folder>,
    /// The texts of the rules by which the folders were listed.
    denied: Vec<String>,
}

#[derive(Debug)]
struct Folder {
    inode: u64,
    /// The folder's time of change, which nobody can set.
    changed: i128,
    /// The number of the look that has listed the folder.
    listed: u64,
    /// A further change would change the time, too.
    is_settled: bool,
    /// The folders in this folder that are looked at, too.
    folders: Vec<OsString>,
    /// Names of files and folders from which programs take what they run.
    protected: Vec<OsString>,
    /// Names of files and folders that a rule denies to read.
    closed: Vec<OsString>,
    is_repository: bool,
    /// The folder's `.git` is a file or a link.
    has_link: bool,
}

/// What was found beneath the root. The paths are absolute.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) protected: BTreeMap<PathBuf, Identity>,
    /// Git folders.
    pub(super) repositories: BTreeSet<PathBuf>,
    /// Files that name git folders.
    pub(super) links: BTreeSet<PathBuf>,
    /// Files and folders that a rule denies to read.
    pub(super) closed: BTreeSet<PathBuf>,
}

impl Found {
    pub(super) fn extend(&mut self, other: Self) {
        self.protected.extend(other.protected);
        self.repositories.extend(other.repositories);
        self.links.extend(other.links);
        self.closed.extend(other.closed);
    }
}

/// Folders that have changed, by path relative to the root.
pub(crate) type Listings = HashMap<PathBuf, Listing>;

/// What was in a folder at a moment.
#[derive(Debug)]
pub(crate) struct Listing {
    /// When the folder had last changed, in ms since the epoch.
    pub(crate) changed: i64,
    pub(crate) names: HashSet<OsString>,
}

impl Tree {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, folders: HashMap::new(), denied: Vec::new() }
    }

    /// Looks at all folders. Returns what is protected in them, or denied by these rules. `number` is that of
    /// the look. Blocking.
    pub(super) fn look(&mut self, number: u64, denied: &[Rule]) -> Found {
        let texts: Vec<&str> = denied.iter().map(Rule::text).collect();
        if self.denied != texts {
            self.denied = texts.into_iter().map(str::to_owned).collect();
            self.folders.clear();
        }
        let mut found = Found::default();
        let mut next = HashMap::with_capacity(self.folders.len());
        let mut waiting = vec![self.root.clone()];
        while let Some(path) = waiting.pop() {
            let Some(stat) = stat(&path).filter(|stat| FileType::from_raw_mode(stat.st_mode).is_dir()) else {
                continue;
            };
            let known = self.folders.remove(&path).filter(|known| known.is_still(&stat));
            let folder = known.unwrap_or_else(|| {
                let place = FolderToRead {
                    path: &path,
                    relative: path.strip_prefix(&self.root).unwrap_or(&path),
                    denied,
                };
                Folder::list(&place, &stat, number)
            });
            folder.report(&path, &mut found);
            waiting.extend(folder.folders.iter().map(|name| path.join(name)));
            next.insert(path, folder);
        }
        self.folders = next;
        found
    }

    /// As [`Self::look`], by the rules of the last look.
    pub(super) fn look_again(&mut self, number: u64) {
        let rules = self.denied.iter().filter_map(|text| Rule::parse(text, Effect::Deny).ok());
        let rules: Vec<Rule> = rules.collect();
        self.look(number, &rules);
    }

    /// The contents of the folders that changed between the look of this number and the last look. Blocking.
    pub(crate) fn listings_since(&self, number: u64) -> Listings {
        let changed = self.folders.iter().filter(|(_, folder)| folder.listed > number);
        let listing = |(path, folder): (&PathBuf, &Folder)| {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name()).collect();
            let changed = i64::try_from(folder.changed / 1_000_000).unwrap_or(i64::MAX);
            Some((path.strip_prefix(&self.root).ok()?.to_owned(), Listing { changed, names }))
        };
        changed.filter_map(listing).collect()
    }
}

/// Where a folder is, and which rules deny reading beneath the root.
struct FolderToRead<'p> {
    path: &'p Path,
    relative: &'p Path,
    denied: &'p [Rule],
}

impl FolderToRead<'_> {
    fn is_closed(&self, name: &OsStr) -> bool {
        let path = || self.relative.join(name).to_string_lossy().into_owned();
        !self.denied.is_empty() && self.denied.iter().any(|rule| rule.is_about_reading(&path()))
    }
}

impl Folder {
    fn is_still(&self, stat: &Stat) -> bool {
        self.is_settled && self.inode == stat.st_ino && self.changed == changed(stat)
    }

    /// Lists a folder. A folder that cannot be read counts as empty: a command of the same user cannot read
    /// it either.
    fn list(place: &FolderToRead<'_>, stat: &Stat, listed: u64) -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        let now = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
        let mut folders = Vec::new();
        let (mut protected, mut closed) = (Vec::new(), Vec::new());
        let (mut has_head, mut has_objects, mut has_link) = (false, false, false);
        for entry in fs::read_dir(place.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if place.is_closed(&name) {
                closed.push(name.clone());
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name.eq_ignore_ascii_case(".git") {
                has_link |= !is_folder;
            } else if is_protected(&name) {
                protected.push(name);
                continue;
            }
            has_head |= name == "HEAD";
            has_objects |= name == "objects" || name == "commondir";
            if is_folder {
                folders.push(name);
            }
        }
        let is_repository = has_head && has_objects;
        if is_repository {
            folders.retain(|name| !OF_GIT.iter().any(|of_git| name == of_git));
        }
        let (inode, changed) = (stat.st_ino, changed(stat));
        let is_settled = changed + TICK < now;
        Self { inode, changed, listed, is_settled, folders, protected, closed, is_repository, has_link }
    }

    fn report(&self, path: &Path, found: &mut Found) {
        for name in &self.protected {
            let path = path.join(name);
            if let Some(identity) = Identity::of(&path) {
                found.protected.insert(path, identity);
            }
        }
        found.closed.extend(self.closed.iter().map(|name| path.join(name)));
        if self.is_repository {
            found.repositories.insert(path.to_owned());
        }
        if self.has_link {
            found.links.insert(path.join(".git"));
        }
    }
}

/// Whether programs take what they run from a file or folder of this name.
fn is_protected(name: &OsStr) -> bool {
    name.to_str().is_some_and(abide_rules::is_protected)
}

fn stat(path: &Path) -> Option<Stat> {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn changed(stat: &Stat) -> i128 {
    i128::from(stat.st_ctime) * 1_000_000_000 + i128::from(stat.st_ctime_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &Found, root: &Path) -> Vec<String> {
        let all = found.protected.keys().chain(&found.repositories).chain(&found.links);
        all.map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn what_is_new_at_any_depth_is_found_whenever_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::create_dir_all(at(".git/objects/ab")).unwrap();
        fs::write(at(".git/HEAD"), "").unwrap();
        let mut tree = Tree::new(folder.path().to_owned());
        assert_eq!(names(&tree.look(1, &[]), folder.path()), [".git"]);
        fs::create_dir(at("a/b/c/.vscode")).unwrap();
        assert_eq!(names(&tree.look(1, &[]), folder.path()), ["a/b/c/.vscode", ".git"]);
        fs::create_dir_all(at("a/bare/objects")).unwrap();
        assert_eq!(names(&tree.look(1, &[]), folder.path()), ["a/b/c/.vscode", ".git"], "it is none yet");
        fs::write(at("a/bare/HEAD"), "").unwrap();
        fs::write(at("a/b/.git"), "gitdir: ../bare").unwrap();
        assert_eq!(names(&tree.look(1, &[]), folder.path()), ["a/b/c/.vscode", ".git", "a/bare", "a/b/.git"]);
        fs::remove_dir_all(at("a/b")).unwrap();
        assert_eq!(names(&tree.look(1, &[]), folder.path()), [".git", "a/bare"]);
    }

    #[test]
    fn what_a_rule_denies_is_found_and_another_rule_looks_anew() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/secrets")).unwrap();
        for name in [".env", "a/.env", "a/secrets/key"] {
            fs::write(at(name), "").unwrap();
        }
        let mut tree = Tree::new(folder.path().to_owned());
        let mut closed = |rules: &[&str]| {
            let denied: Vec<Rule> =
                rules.iter().map(|rule| Rule::parse(rule, Effect::Deny).unwrap()).collect();
            let found = tree.look(1, &denied);
            found
                .closed
                .iter()
                .map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(closed(&[]), Vec::<String>::new());
        assert_eq!(closed(&["read(**/.env)"]), [".env", "a/.env"]);
        assert_eq!(closed(&["read(a/secrets)", "read(a/secrets/**)"]), ["a/secrets", "a/secrets/key"]);
    }

    #[test]
    fn only_folders_that_have_changed_are_listed_again() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/b", "c"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut tree = Tree::new(folder.path().to_owned());
        let mut number = 0;
        let mut listings = || {
            number += 1;
            tree.look(number, &[]);
            tree.listings_since(number - 1)
        };
        assert_eq!(listings().len(), 4);
        // Until a change would change the time, too.
        while !listings().is_empty() {}
        fs::write(folder.path().join("a/b/file"), "").unwrap();
        let listed = listings();
        assert_eq!(listed.keys().collect::<Vec<_>>(), [Path::new("a/b")]);
        assert_eq!(listed[Path::new("a/b")].names, HashSet::from(["file".into()]));
    }
}
