//! Folders of a conversation's commands: their `/tmp`, their `/var/tmp`, and what they change in caches.

use super::{
    confinement::{Cache, Private},
    links::without_links,
};
use abide_protocol::{CallId, ConversationId};
use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Temporary folders, with the name of what takes their place.
const TEMPORARY: [(&str, &str); 2] = [("/tmp", "tmp"), ("/var/tmp", "var-tmp")];

/// Caches, relative to the home, with the name of their changes.
const CACHES: [(&str, &str); 4] = [
    (".cache", "cache"),
    (".cargo/registry", "cargo-registry"),
    (".cargo/git", "cargo-git"),
    (".npm", "npm"),
];

/// Where changes of caches are moved before they are removed.
const DROPPED: &str = "dropped";

/// What a conversation's commands change in caches is kept up to this much, in bytes.
const MAX_CACHES: u64 = 2 << 30;

/// The private folders of all conversations.
#[derive(Debug)]
pub(crate) struct PrivateFolders {
    root: PathBuf,
    /// The leased slots of each conversation.
    leased: Arc<Mutex<HashMap<ConversationId, BTreeSet<usize>>>>,
}

/// The changes of caches that one helper uses. Two overlays must not share them, so each helper gets the first free slot; commands
/// that follow each other find their own changes again.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) caches: Vec<Cache>,
    conversation: ConversationId,
    slot: usize,
    leased: Arc<Mutex<HashMap<ConversationId, BTreeSet<usize>>>>,
}

/// Whether commands find at this path what their conversation has put there.
pub(crate) fn is_private(path: &Path, home: &Path) -> bool {
    TEMPORARY.iter().any(|(at, _)| path.starts_with(at))
        || CACHES.iter().any(|(name, _)| path.starts_with(home.join(name)))
}

impl PrivateFolders {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, leased: Arc::default() }
    }

    /// The folder of all of them.
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
        // Whatever fails from here on, the slot is given back.
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

    /// Those of a conversation, created where they are missing. Blocking.
    pub(super) fn of(&self, conversation: ConversationId) -> io::Result<Vec<Private>> {
        let mut private = Vec::new();
        for (at, name) in TEMPORARY {
            // One may be a link to the other.
            if let Ok(at) = fs::canonicalize(at)
                && private.iter().all(|other: &Private| other.at != at)
            {
                private.push(Private { folder: self.make(conversation, name)?, at });
            }
        }
        Ok(private)
    }

    /// Where is kept what a call has left for others to run. It may not exist.
    pub(crate) fn aside(&self, conversation: ConversationId, call: CallId) -> PathBuf {
        self.root.join(conversation.to_string()).join("set-aside").join(call.to_string())
    }

    /// Removes what a conversation has changed in caches, if it is too much and no helper uses it. Blocking.
    pub(crate) fn trim(&self, conversation: ConversationId) {
        self.trim_to(conversation, MAX_CACHES);
    }

    fn trim_to(&self, conversation: ConversationId, most: u64) {
        let folder = self.root.join(conversation.to_string());
        let caches = CACHES.map(|(_, name)| folder.join(name));
        if fits(&caches, most) {
            return;
        }
        let dropped = folder.join(DROPPED);
        // What an earlier daemon began.
        remove(&dropped);
        {
            // Every new helper waits for this lock, so the folders are only moved while it is held.
            let leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner);
            if leased.contains_key(&conversation) || fs::create_dir(&dropped).is_err() {
                return;
            }
            for (cache, (_, name)) in caches.iter().zip(CACHES) {
                let _ = fs::rename(cache, dropped.join(name));
            }
        }
        tracing::info!(%conversation, "its changes of caches are dropped: they are more than {most} bytes");
        remove(&dropped);
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

/// Whether what is in these folders, which may be missing, takes at most this much of the disk, in bytes.
fn fits(folders: &[PathBuf], most: u64) -> bool {
    let mut folders = folders.to_vec();
    let mut size = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(there) = entry.metadata() else { continue };
            size += there.blocks() * 512;
            if there.is_dir() {
                folders.push(entry.path());
            }
        }
        if size > most {
            return false;
        }
    }
    true
}

/// Commands may have left folders in it that cannot be listed, so it may take two passes.
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
}
