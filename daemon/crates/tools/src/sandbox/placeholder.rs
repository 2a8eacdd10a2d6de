//! Placeholders: what stands, while commands run, where a protected path is missing. A folder that is created later would not be
//! protected, so an empty one is created before, and mounted read-only.
//!
//! They are in the workspace itself, because a mount needs a place. They are noted before they are made, counted while helpers
//! use them, and removed with the last one, or at the next start. One that somebody has filled meanwhile stays.

use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A placeholder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Placeholder {
    pub(super) path: PathBuf,
    /// The text of a file; without one it is a folder.
    text: Option<String>,
}

/// The placeholders that exist now.
#[derive(Debug, Clone)]
pub(crate) struct Placeholders(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    /// Where they are noted.
    note: PathBuf,
    /// With how many helpers use each.
    used: BTreeMap<Placeholder, usize>,
}

/// As long as it lives, no placeholder is made or removed, but through it. So what is found in a workspace stays true until its
/// placeholders are counted.
pub(super) struct Still<'p> {
    all: &'p Placeholders,
    inner: MutexGuard<'p, Inner>,
}

/// Placeholders in use. Dropping it removes those that nobody else uses.
#[derive(Debug)]
pub(crate) struct Placed {
    all: Placeholders,
    placeholders: Vec<Placeholder>,
}

impl Placeholder {
    pub(super) const fn folder(path: PathBuf) -> Self {
        Self { path, text: None }
    }

    pub(super) fn file(path: PathBuf, text: &str) -> Self {
        Self { path, text: Some(text.to_owned()) }
    }

    fn make(&self) -> io::Result<()> {
        match &self.text {
            None => fs::DirBuilder::new().mode(0o700).create(&self.path),
            Some(text) => {
                let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path);
                file?.write_all(text.as_bytes())
            }
        }
    }

    /// Removes it, if it is as it was made.
    fn remove(&self) {
        let removed = match &self.text {
            None => fs::remove_dir(&self.path),
            Some(text) if is_text(&self.path, text) => fs::remove_file(&self.path),
            Some(_) => Ok(()),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(path = %self.path.display(), %error, "a placeholder stays");
            }
            _ => {}
        }
    }
}

/// Whether this is a file, not a link, with exactly this text.
fn is_text(path: &Path, text: &str) -> bool {
    let is_file =
        fs::symlink_metadata(path).is_ok_and(|there| there.is_file() && there.len() == text.len() as u64);
    is_file && fs::read(path).is_ok_and(|found| found == text.as_bytes())
}

impl Placeholders {
    /// Removes those that an earlier daemon left. Blocking.
    pub(crate) fn open(note: PathBuf) -> Self {
        if let Ok(left) = fs::read(&note) {
            let left: Vec<Placeholder> = serde_json::from_slice(&left).unwrap_or_default();
            left.iter().for_each(Placeholder::remove);
            let _ = fs::remove_file(&note);
        }
        Self(Arc::new(Mutex::new(Inner { note, used: BTreeMap::new() })))
    }

    /// Blocking, while another thread holds them still.
    pub(super) fn still(&self) -> Still<'_> {
        Still { all: self, inner: self.0.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl Still<'_> {
    /// Makes those that do not exist. Blocking.
    pub(super) fn place(self, placeholders: Vec<Placeholder>) -> io::Result<Placed> {
        let Self { all, mut inner } = self;
        let is_any_new = placeholders.iter().any(|placeholder| !inner.used.contains_key(placeholder));
        for placeholder in &placeholders {
            *inner.used.entry(placeholder.clone()).or_default() += 1;
        }
        // Whatever fails from here on, what was counted is given back.
        let placed = Placed { all: all.clone(), placeholders };
        let made = if is_any_new { inner.note() } else { Ok(()) };
        // Also those that others use: the folder that they were in may have been replaced.
        let made = made.and_then(|()| {
            placed.placeholders.iter().try_for_each(|placeholder| match placeholder.make() {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                made => made,
            })
        });
        drop(inner);
        made.map(|()| placed)
    }

    /// The placeholder at this path or above it, if there is one.
    pub(super) fn at(&self, path: &Path) -> Option<Placeholder> {
        self.inner.used.keys().find(|placeholder| path.starts_with(&placeholder.path)).cloned()
    }
}

impl Inner {
    fn note(&self) -> io::Result<()> {
        if self.used.is_empty() {
            return match fs::remove_file(&self.note) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let all: Vec<&Placeholder> = self.used.keys().collect();
        let new = self.note.with_extension("new");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(&all)?)?;
        fs::rename(new, &self.note)
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        let mut inner = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_any_gone = false;
        for placeholder in &self.placeholders {
            if let Some(users) = inner.used.get_mut(placeholder) {
                *users -= 1;
                if *users == 0 {
                    inner.used.remove(placeholder);
                    placeholder.remove();
                    is_any_gone = true;
                }
            }
        }
        if is_any_gone && let Err(error) = inner.note() {
            tracing::warn!(%error, "the note of placeholders cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_go_with_their_last_user_and_what_was_filled_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let all = Placeholders::open(at("note"));
        let two = || vec![Placeholder::folder(at("a")), Placeholder::file(at("b"), ".\n")];
        let first = all.still().place(two()).unwrap();
        let second = all.still().place(two()).unwrap();
        assert!(at("a").is_dir() && at("b").is_file() && at("note").is_file());
        drop(first);
        assert!(at("a").is_dir() && at("b").is_file());
        fs::write(at("b"), "of a person").unwrap();
        drop(second);
        assert!(!at("a").exists() && at("b").is_file() && !at("note").exists());
    }

    #[test]
    fn the_next_start_removes_what_a_killed_daemon_left() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let placed =
            Placeholders::open(at("note")).still().place(vec![Placeholder::folder(at("a"))]).unwrap();
        std::mem::forget(placed);
        assert!(at("a").is_dir());
        Placeholders::open(at("note"));
        assert!(!at("a").exists() && !at("note").exists());
    }
}
