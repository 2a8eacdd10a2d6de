//! The private folders of a conversation's commands: `/tmp`, `/var/tmp`, and changes of caches.

use super::{
    confinement::{Cache, Private},
    links::without_links,
};
use abide_protocol::{CallId, ConversationId};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};
use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

/// Temporary folders, with the names of the private folders in their place.
const TEMPORARY: [(&str, &str); 2] = [("/tmp", "tmp"), ("/var/tmp", "var-tmp")];

/// Caches, relative to the home, with the names of the folders for their changes.
const CACHES: [(&str, &str); 4] = [
    (".cache", "cache"),
    (".cargo/registry", "cargo-registry"),
    (".cargo/git", "cargo-git"),
    (".npm", "npm"),
];

/// The folder to which changes of caches are moved before they are removed.
const DROPPED: &str = "dropped";

/// The size in bytes up to which a conversation's changes of caches are kept.
const MAX_CACHES: u64 = 2 << 30;

/// The temporary folders of a conversation are removed when none of its commands was planned for this long.
const UNUSED: Duration = Duration::from_hours(7 * 24);

/// The private folders of all conversations.
#[derive(Debug)]
pub(crate) struct PrivateFolders {
    root: PathBuf,
    /// The leased slots of each conversation.
    leased: Arc<Mutex<HashMap<ConversationId, BTreeSet<usize>>>>,
}

/// The changes of caches that one helper uses. Two overlays must not share changes, so each helper gets the
/// first free slot. Commands that follow each other get the same slot, with their changes.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) caches: Vec<Cache>,
    conversation: ConversationId,
    slot: usize,
    leased: Arc<Mutex<HashMap<ConversationId, BTreeSet<usize>>>>,
}

/// Whether this path lies in a private folder of the conversation.
pub(crate) fn is_private(path: &Path, home: &Path) -> bool {
    TEMPORARY.iter().any(|(at, _)| path.starts_with(at))
        || CACHES.iter().any(|(name, _)| path.starts_with(home.join(name)))
}

impl PrivateFolders {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, leased: Arc::default() }
    }

    /// The folder of all private folders.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A slot for the changes of caches. Blocking.
    pub(super) fn lease(&self, conversation: ConversationId, home: &Path) -> io::Result<Lease> {
        let slot = {
            let mut leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner);
            let slots = leased.entry(conversation).or_default();
            let slot = (0..).find(|slot| !slots.contains(slot)).unwrap_or_default();
            slots.insert(slot);
            slot
        };
        // Dropping the lease on an error gives the slot back.
        let mut lease = Lease { caches: Vec::new(), conversation, slot, leased: Arc::clone(&self.leased) };
        for (path, name) in CACHES {
            if let Some(at) = without_links(&home.join(path)) {
                let make = |part: &str| self.make(conversation, &format!("{name}/{slot}/{part}"));
                lease.caches.push(Cache { at, upper: make("upper")?, work: make("work")? });
            }
        }
        Ok(lease)
    }

    fn make(&self, conversation: ConversationId, name: &str) -> io::Result<PathBuf> {
        let folder = self.root.join(conversation.to_string()).join(name);
        if !folder.is_dir() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        }
        Ok(folder)
    }

    /// The temporary folders of a conversation, created where they are missing. Blocking.
    pub(super) fn of(&self, conversation: ConversationId) -> io::Result<Vec<Private>> {
        // The lock keeps the folders from being removed until their time of use is set.
        let _leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner);
        let mut private = Vec::new();
        for (at, name) in TEMPORARY {
            // One of the two may be a link to the other.
            if let Ok(at) = fs::canonicalize(at)
                && private.iter().all(|other: &Private| other.at != at)
            {
                private.push(Private { folder: self.make(conversation, name)?, at });
            }
        }
        let now = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        };
        utimensat(CWD, self.root.join(conversation.to_string()), &now, AtFlags::empty())?;
        Ok(private)
    }

    /// The folder for files that were set aside after a call. It may not exist.
    pub(crate) fn aside(&self, conversation: ConversationId, call: CallId) -> PathBuf {
        self.root.join(conversation.to_string()).join("set-aside").join(call.to_string())
    }

    /// Removes a conversation's changes of caches, if they are too large and no helper uses them, and the
    /// temporary files of other conversations that have not been used for long. Blocking.
    pub(crate) fn trim(&self, conversation: ConversationId) {
        self.trim_to(conversation, MAX_CACHES);
        let Some(now) = self.used(conversation) else { return };
        for other in self.conversations() {
            let is_unused = || {
                self.used(other)
                    .is_some_and(|used| now.duration_since(used).is_ok_and(|since| since > UNUSED))
            };
            if is_unused() && self.drop(other, &TEMPORARY, is_unused) {
                tracing::info!(conversation = %other, "its temporary files are dropped: they were not used for long");
            }
        }
    }

    /// When the folders of a conversation were last used.
    fn used(&self, conversation: ConversationId) -> Option<SystemTime> {
        fs::metadata(self.root.join(conversation.to_string())).and_then(|folder| folder.modified()).ok()
    }

    fn trim_to(&self, conversation: ConversationId, most: u64) {
        let folder = self.root.join(conversation.to_string());
        let caches = CACHES.map(|(_, name)| folder.join(name));
        if taken(&caches, most, |_| false) <= most {
            return;
        }
        if self.drop(conversation, &CACHES, || true) {
            tracing::info!(%conversation, "its changes of caches are dropped: they are more than {most} bytes");
        }
    }

    /// Removes folders of a conversation, if no helper uses them and `holds` is true. Returns whether there
    /// were any.
    fn drop(&self, conversation: ConversationId, folders: &[(&str, &str)], holds: impl Fn() -> bool) -> bool {
        let folder = self.root.join(conversation.to_string());
        let dropped = folder.join(DROPPED);
        // A removal that an earlier daemon began.
        remove(&dropped);
        let mut found = false;
        {
            // New helpers wait for this lock, so under it the folders are only moved.
            let leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner);
            if leased.contains_key(&conversation) || !holds() || fs::create_dir(&dropped).is_err() {
                return false;
            }
            for (_, name) in folders {
                found |= fs::rename(folder.join(name), dropped.join(name)).is_ok();
            }
        }
        remove(&dropped);
        found
    }

    /// Removes the folders of a conversation. Blocking.
    pub(crate) fn remove(&self, conversation: ConversationId) {
        remove(&self.root.join(conversation.to_string()));
    }

    /// The conversations that have folders. Blocking.
    pub(crate) fn conversations(&self) -> Vec<ConversationId> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slots) = leased.get_mut(&self.conversation) {
            slots.remove(&self.slot);
            if slots.is_empty() {
                leased.remove(&self.conversation);
            }
        }
    }
}

/// The disk space in bytes of these folders, which may be missing. Counting stops above `most`, and leaves
/// out folders for which `is_other` is true.
pub(crate) fn taken(folders: &[PathBuf], most: u64, is_other: impl Fn(&Path) -> bool) -> u64 {
    let mut folders = folders.to_vec();
    let mut size = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(there) = entry.metadata() else { continue };
            size += there.blocks() * 512;
            if there.is_dir() && !is_other(&entry.path()) {
                folders.push(entry.path());
            }
        }
        if size > most {
            break;
        }
    }
    size
}

/// Removes a folder, in two passes if commands have left folders in it that cannot be listed.
fn remove(folder: &Path) {
    let removed = fs::remove_dir_all(folder).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => {
            open_up(folder);
            fs::remove_dir_all(folder)
        }
    });
    if let Err(error) = removed {
        tracing::warn!(folder = %folder.display(), %error, "a conversation's private folder cannot be removed");
    }
}

/// Makes all folders in a folder writable. (An overlay's work folder has no rights at all.)
fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn changes_of_caches_are_bounded_and_dropped_only_when_nobody_uses_them() {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(home.path().join(".cache")).unwrap();
        let folders = PrivateFolders::new(root.path().to_owned());
        let conversation = ConversationId(Uuid::from_u128(1));
        let lease = folders.lease(conversation, home.path()).unwrap();
        let new = lease.caches[0].upper.join("new");
        fs::write(&new, [7; 9000]).unwrap();
        folders.trim_to(conversation, 100);
        assert!(new.exists(), "a helper uses it");
        drop(lease);
        folders.trim_to(conversation, 100_000);
        assert!(new.exists(), "it is not too much");
        folders.trim_to(conversation, 100);
        assert!(!new.exists());
        folders.lease(conversation, home.path()).unwrap();
    }

    #[test]
    fn temporary_files_that_nobody_uses_for_long_are_dropped() {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = PrivateFolders::new(root.path().to_owned());
        let [now, old, leased, again] = [1, 2, 3, 4].map(|number| ConversationId(Uuid::from_u128(number)));
        let files = [now, old, leased, again].map(|conversation| {
            let file = folders.of(conversation).unwrap()[0].folder.join("file");
            fs::write(&file, "").unwrap();
            file
        });
        let lease = folders.lease(leased, home.path()).unwrap();
        for conversation in [old, leased, again] {
            let folder = fs::File::open(root.path().join(conversation.to_string())).unwrap();
            folder.set_modified(folders.used(now).unwrap() - UNUSED - Duration::from_secs(9)).unwrap();
        }
        folders.of(again).unwrap();
        folders.trim(now);
        assert_eq!(files.map(|file| file.exists()), [true, false, true, true]);
        drop(lease);
    }
}
