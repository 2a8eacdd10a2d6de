//! Our git index of a work tree: brought up to date with the files, and written as a tree.

use super::{Index, MAX_NEW, NoCheckpoint, plan::Entry, repository::Repository};
use rustix::{
    fs::{Access, AtFlags, FileType, Stat, accessat},
    process::geteuid,
};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// The first digits of the id of a file whose content is not kept. The chance that a content has such an id
/// is 1 in 2^64.
const LEFT_OUT: &str = "ab1de0ff00000000";

/// Commands whose failure means that the index is damaged.
const OF_INDEX: [&str; 4] = ["diff-files", "ls-files", "update-index", "write-tree"];

impl Entry {
    /// The content is not kept, because the file was too large or could not be read.
    pub(super) fn is_left_out(&self) -> bool {
        self.id.starts_with(LEFT_OUT)
    }
}

impl Repository<'_> {
    /// The tree of the files as they are. `is_first`: our index may be old or missing, so tracked files are
    /// looked at again.
    pub(super) fn current_tree(&self, index: &mut Index, is_first: bool) -> Result<String, NoCheckpoint> {
        self.clear_locks();
        self.update(index, is_first).or_else(|error| match error {
            NoCheckpoint::Failed { what, words } if OF_INDEX.contains(&&*what) => {
                tracing::warn!(work_tree = %self.top().display(), "git {what}: {words}; making the index of checkpoints anew");
                index.tree = None;
                let _ = fs::remove_file(self.file("index"));
                self.clear_locks();
                self.update(index, false)
            }
            error => Err(error),
        })
    }

    /// Removes the locks of killed git processes. No git runs here now, because the lock of the work tree is
    /// held.
    pub(super) fn clear_locks(&self) {
        let mut folders = vec![PathBuf::from(&self.folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (name, path) = (entry.file_name(), entry.path());
                if Path::new(&name).extension().is_some_and(|extension| extension == "lock") {
                    let _ = fs::remove_file(path);
                } else if (name == "refs" || folder.starts_with(self.file("refs"))) && path.is_dir() {
                    folders.push(path);
                }
            }
        }
    }

    fn update(&self, index: &mut Index, is_first: bool) -> Result<String, NoCheckpoint> {
        let ours = self.file("index");
        let mut listed = if is_first { self.begin()? } else { BTreeSet::new() };
        if is_first {
            index.tree = None;
        }
        // Two commands at the same time: `ls-files` looks at each folder, `diff-files` at each file of our
        // index.
        let others =
            self.git().start(self.ours(&ours), &["ls-files", "-z", "-o", "--exclude-standard"], &[])?;
        let changed = self.run(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"], &[])?;
        let others = others.succeed()?;
        listed.extend(paths(&changed));
        listed.extend(paths(&others));
        // A repository within the work tree, which git lists with a slash.
        listed.retain(|path| !path.ends_with(b"/"));
        if listed.is_empty() {
            if let Some(tree) = &index.tree {
                return Ok(tree.clone());
            }
        } else {
            index.tree = None;
            self.put(&listed)?;
        }
        let tree = self.write_tree(&ours)?;
        index.tree = Some(tree.clone());
        Ok(tree)
    }

    /// Puts files into our index as they are, and takes missing files out.
    fn put(&self, paths: &BTreeSet<Vec<u8>>) -> Result<(), NoCheckpoint> {
        let mut kept: Vec<(&[u8], u64)> = Vec::new();
        let mut left_out: Vec<(&[u8], Stat)> = Vec::new();
        for path in paths {
            match self.stat(path) {
                Some(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => {
                    if self.can_read(path, &stat) {
                        kept.push((path, stat.st_size.unsigned_abs()));
                    } else {
                        left_out.push((path, stat));
                    }
                }
                _ => kept.push((path, 0)),
            }
        }
        let mut bytes: u64 = kept.iter().map(|(_, size)| size).sum();
        if bytes > MAX_NEW {
            kept.sort_by_key(|(_, size)| *size);
            while bytes > MAX_NEW
                && let Some((path, size)) = kept.pop()
            {
                bytes -= size;
                left_out.extend(self.stat(path).map(|stat| (path, stat)));
            }
        }
        let input: Vec<u8> = kept.iter().flat_map(|(path, _)| [*path, b"\0"].concat()).collect();
        self.run(&["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], &input)?;
        let entries: Vec<(&[u8], Entry)> =
            left_out.iter().map(|(path, stat)| (*path, self.left_out(stat))).collect();
        if entries.is_empty() {
            return Ok(());
        }
        self.set_entries(&self.file("index"), entries.iter().map(|(path, entry)| (*path, Some(entry))))
    }

    /// Whether git can read a file. Git runs without privileges, even if this process has some.
    fn can_read(&self, path: &[u8], stat: &Stat) -> bool {
        let can = accessat(self.root(), OsStr::from_bytes(path), Access::READ_OK, AtFlags::EACCESS).is_ok();
        let bits = match (stat.st_uid == 0, stat.st_gid == 0) {
            (true, _) => 0o400,
            (false, true) => 0o044,
            (false, false) => 0o004,
        };
        can && (!geteuid().is_root() || stat.st_mode & bits != 0)
    }

    /// The entry of a file whose content is not kept. The entry changes when the file changes.
    fn left_out(&self, stat: &Stat) -> Entry {
        let marks = format!("{} {} {} {}", stat.st_ino, stat.st_size, stat.st_ctime, stat.st_ctime_nsec);
        let length = if self.found.as_ref().is_some_and(|found| found.is_sha256) { 64 } else { 40 };
        let digest: String = Sha256::digest(marks).iter().map(|byte| format!("{byte:02x}")).collect();
        let id = format!("{LEFT_OUT}{}", digest.get(..length - LEFT_OUT.len()).unwrap_or_default());
        let mode = if stat.st_mode & 0o100 == 0 { "100644" } else { "100755" };
        Entry { mode: mode.to_owned(), id }
    }

    /// If our index is missing, begins it as a copy of the repository's index, so that unchanged files need
    /// not be read. Returns files that must be looked at although git would not list them.
    fn begin(&self) -> Result<BTreeSet<Vec<u8>>, NoCheckpoint> {
        let Some(found) = &self.found else { return self.track_ignored(false) };
        let folder = Path::new(&self.folder);
        let copy = |name: &str| {
            // Without the copy the checkpoint is only slower.
            found.copy_index(folder, name).unwrap_or_else(|error| {
                tracing::info!(work_tree = %self.top().display(), %error, "the index of the repository cannot be used");
                false
            })
        };
        let mut listed = BTreeSet::new();
        if !folder.join("index").exists() && copy("index") {
            let entries = self.run(&["ls-files", "-z", "-v", "-s"], &[])?;
            let odd: Vec<&[u8]> = entries.split(|byte| *byte == 0).filter(|entry| is_odd(entry)).collect();
            let path = |entry: &&[u8]| Some(entry.splitn(2, |byte| *byte == b'\t').nth(1)?.to_vec());
            let gone: BTreeSet<Vec<u8>> = odd.iter().filter_map(path).collect();
            self.take_out(&gone)?;
            listed
                .extend(odd.into_iter().filter(|entry| !is_gitlink(entry)).filter_map(|entry| path(&entry)));
        }
        listed.extend(self.track_ignored(copy(THEIRS))?);
        Ok(listed)
    }

    /// Ignored files that the repository tracks belong to the checkpoint. Returns those that our index lacks,
    /// and takes other ignored files out of our index.
    fn track_ignored(&self, has_theirs: bool) -> Result<BTreeSet<Vec<u8>>, NoCheckpoint> {
        let ignored = ["ls-files", "-z", "-c", "-i", "--exclude-standard"];
        let ours: BTreeSet<Vec<u8>> = paths(&self.run(&ignored, &[])?).collect();
        let theirs = if has_theirs { self.run_on(&self.file(THEIRS), &ignored, &[])? } else { Vec::new() };
        let theirs: BTreeSet<Vec<u8>> = paths(&theirs).collect();
        self.take_out(&ours.difference(&theirs).cloned().collect())?;
        Ok(theirs.difference(&ours).cloned().collect())
    }

    fn take_out(&self, paths: &BTreeSet<Vec<u8>>) -> Result<(), NoCheckpoint> {
        if paths.is_empty() {
            return Ok(());
        }
        let input: Vec<u8> = paths.iter().flat_map(|path| [&**path, b"\0"].concat()).collect();
        self.run(&["update-index", "-z", "--force-remove", "--stdin"], &input).map(drop)
    }

    /// Repositories within the work tree that have changed since this time, in ms. Their files are not kept.
    pub(super) fn inner_repositories(&self, since: i64) -> Result<Vec<Vec<u8>>, NoCheckpoint> {
        let others = self.run(&["ls-files", "-z", "-o", "--exclude-standard"], &[])?;
        let has_changed = |path: &Vec<u8>| {
            let git = [&**path, b".git"].concat();
            [&**path, &*git]
                .into_iter()
                .filter_map(|path| self.stat(path))
                .any(|stat| super::take::changed_at(&stat) >= since)
        };
        Ok(paths(&others).filter(|path| path.ends_with(b"/")).filter(has_changed).collect())
    }
}

/// The name of the copy of the repository's index, in our folder.
const THEIRS: &str = "theirs.index";

fn paths(listed: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec)
}

/// Whether an entry of `ls-files -v -s` is assumed to be unchanged, is no file, or is not merged.
fn is_odd(entry: &[u8]) -> bool {
    let is_plain = entry.first() == Some(&b'H');
    let is_merged = entry.split(|byte| *byte == b'\t').next().is_some_and(|head| head.ends_with(b" 0"));
    !entry.is_empty() && (!is_plain || !is_merged || is_gitlink(entry))
}

/// Whether an entry of `ls-files -v -s` is a repository of its own.
fn is_gitlink(entry: &[u8]) -> bool {
    entry.get(2..).is_some_and(|entry| entry.starts_with(b"160000 "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_git_would_not_look_at_are_odd() {
        let id = "0".repeat(40);
        for (entry, expected) in [
            (format!("H 100644 {id} 0\ta"), false),
            (format!("h 100644 {id} 0\ta"), true),
            (format!("S 100644 {id} 0\ta"), true),
            (format!("M 100644 {id} 2\ta"), true),
            (format!("H 160000 {id} 0\ta"), true),
            (String::new(), false),
        ] {
            assert_eq!(is_odd(entry.as_bytes()), expected, "{entry}");
        }
    }
}
