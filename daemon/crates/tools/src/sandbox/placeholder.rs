//! Placeholders: what stands, while commands run, where a protected path is missing. A folder that is created later would not be
//! protected, so an empty one is created before, and mounted read-only.
//!
//! They are in the workspace itself, because a mount needs a place. They are noted before they are made, counted while helpers
//! use them, and removed with the last one, or at the next start. One that somebody has filled meanwhile stays.
//!
//! A git that sees the file `commondir` and then cannot read it fails. So this file comes with its text, and a git of ours keeps what it may
//! have seen.

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat, fstat, linkat, mkdirat, openat, openat2, unlinkat},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::OpenOptionsExt as _,
    },
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
    /// By folder: its time of change after one was last made or removed in it.
    changed: BTreeMap<PathBuf, ChangeTime>,
}

/// Seconds and nanoseconds.
type ChangeTime = (i64, i64);

/// Of so many folders it is remembered when placeholders were made or removed in them.
const MAX_CHANGED: usize = 1024;

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

    /// Makes it in its folder, unless something is there.
    fn make(&self, folder: &OwnedFd) -> io::Result<()> {
        let made = match self.path.file_name() {
            None => Err(io::ErrorKind::InvalidInput.into()),
            Some(name) => self.make_as(folder, name),
        };
        made.or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    }

    fn make_as(&self, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
        match &self.text {
            None => Ok(mkdirat(folder, name, Mode::RWXU)?),
            Some(text) => {
                let mode = Mode::RUSR | Mode::WUSR;
                let unnamed = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
                match openat(folder, ".", unnamed, mode) {
                    Ok(file) => {
                        let mut file = File::from(file);
                        file.write_all(text.as_bytes())?;
                        let made = format!("/proc/self/fd/{}", file.as_raw_fd());
                        Ok(linkat(CWD, made, folder, name, AtFlags::SYMLINK_FOLLOW)?)
                    }
                    // A file system without files that have no name: a reader may find this one empty for a moment.
                    Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                        let named = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                        File::from(openat(folder, name, named, mode)?).write_all(text.as_bytes())
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// Removes it, if it is as it was made. Returns the time of change that its folder has then.
    fn remove(&self) -> Option<ChangeTime> {
        let removed = self.place().and_then(|(folder, name)| {
            match &self.text {
                None => unlinkat(&folder, name, AtFlags::REMOVEDIR)?,
                Some(text) if is_text(&folder, name, text)? => unlinkat(&folder, name, AtFlags::empty())?,
                Some(_) => return Ok(None),
            }
            Ok(Some(change_time(&fstat(folder)?)))
        });
        match removed {
            Ok(changed) => changed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::debug!(path = %self.path.display(), %error, "a placeholder stays");
                None
            }
        }
    }

    /// Its folder, opened through no link, and its name: a command may change what is on the way meanwhile.
    fn place(&self) -> io::Result<(OwnedFd, &OsStr)> {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok((openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?, name))
    }
}

fn change_time(stat: &Stat) -> ChangeTime {
    #[expect(clippy::useless_conversion, reason = "the types differ between platforms")]
    (i64::from(stat.st_ctime), i64::try_from(stat.st_ctime_nsec).unwrap_or_default())
}

/// Makes them, those of a folder one after the other; `changed` gets each folder's time of change.
fn make_all(
    placeholders: &[Placeholder],
    mut changed: impl FnMut(&Placeholder, ChangeTime),
) -> io::Result<()> {
    for of_one_folder in placeholders.chunk_by(|one, next| one.path.parent() == next.path.parent()) {
        let [first, ..] = of_one_folder else { continue };
        let (folder, _) = first.place()?;
        of_one_folder.iter().try_for_each(|placeholder| placeholder.make(&folder))?;
        changed(first, change_time(&fstat(&folder)?));
    }
    Ok(())
}

/// Whether this is a file, not a link, with exactly this text.
fn is_text(folder: &OwnedFd, name: &OsStr, text: &str) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty())?);
    let there = file.metadata()?;
    let mut found = Vec::new();
    file.take(text.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(there.is_file() && found == text.as_bytes())
}

impl Placeholders {
    /// Removes those that an earlier daemon left. Blocking.
    pub(crate) fn open(note: PathBuf) -> Self {
        if let Ok(left) = fs::read(&note) {
            let left: Vec<Placeholder> = serde_json::from_slice(&left).unwrap_or_default();
            for placeholder in left {
                placeholder.remove();
            }
            let _ = fs::remove_file(&note);
        }
        Self(Arc::new(Mutex::new(Inner { note, used: BTreeMap::new(), changed: BTreeMap::new() })))
    }

    /// Whether what last changed this folder was a placeholder that was made or removed. `stat` is called while none can be made or
    /// removed. Blocking, while another thread holds them still.
    pub(crate) fn have_changed(&self, folder: &Path, stat: impl FnOnce() -> Option<Stat>) -> bool {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = inner.changed.get(folder);
        changed.is_some() && changed == stat().map(|now| change_time(&now)).as_ref()
    }

    /// Blocking, while another thread holds them still.
    pub(super) fn still(&self) -> Still<'_> {
        Still { all: self, inner: self.0.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Keeps the files among those that exist now, for a program that may read them. Blocking, as above.
    pub(crate) fn keep_files(&self) -> Placed {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let files = inner.used.iter_mut().filter(|(placeholder, _)| placeholder.text.is_some());
        let placeholders = files.map(|(file, users)| {
            *users += 1;
            file.clone()
        });
        Placed { all: self.clone(), placeholders: placeholders.collect() }
    }
}

impl Still<'_> {
    /// Makes those that are missing, and counts them with `there`, which others use and which are as they left them. Blocking.
    pub(super) fn place(self, there: &[Placeholder], missing: &[Placeholder]) -> io::Result<Placed> {
        let Self { all, mut inner } = self;
        // Some that others use may be missing: the folder that they were in may have been replaced.
        let is_any_new = missing.iter().any(|placeholder| !inner.used.contains_key(placeholder));
        let placeholders = [missing, there].concat();
        for placeholder in &placeholders {
            *inner.used.entry(placeholder.clone()).or_default() += 1;
        }
        // Whatever fails from here on, what was counted is given back.
        let placed = Placed { all: all.clone(), placeholders };
        let made = if is_any_new { inner.note() } else { Ok(()) };
        let made =
            made.and_then(|()| make_all(missing, |placeholder, time| inner.has_changed(placeholder, time)));
        drop(inner);
        made.map(|()| placed)
    }

    /// The placeholder at this path or above it, if there is one.
    pub(super) fn at(&self, path: &Path) -> Option<Placeholder> {
        self.inner.used.keys().find(|placeholder| path.starts_with(&placeholder.path)).cloned()
    }
}

impl Inner {
    /// The placeholder was made or removed.
    fn has_changed(&mut self, placeholder: &Placeholder, time: ChangeTime) {
        let Some(folder) = placeholder.path.parent() else { return };
        if self.changed.len() >= MAX_CHANGED {
            self.changed.clear();
        }
        self.changed.insert(folder.to_owned(), time);
    }

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
                    if let Some(time) = placeholder.remove() {
                        inner.has_changed(placeholder, time);
                    }
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
    use std::{
        os::unix::fs::symlink,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    #[test]
    fn they_go_with_their_last_user_and_what_was_filled_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let all = Placeholders::open(at("note"));
        let two = || vec![Placeholder::folder(at("a")), Placeholder::file(at("b"), ".\n")];
        let first = all.still().place(&[], &two()).unwrap();
        let second = all.still().place(&[], &two()).unwrap();
        assert!(at("a").is_dir() && at("b").is_file() && at("note").is_file());
        drop(first);
        assert!(at("a").is_dir() && at("b").is_file());
        fs::write(at("b"), "of a person").unwrap();
        drop(second);
        assert!(!at("a").exists() && at("b").is_file() && !at("note").exists());
    }

    /// Makes and removes the same file again and again while `look` runs again and again.
    fn beside_a_file_that_comes_and_goes(look: impl Fn(&Placeholders, &Path)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("commondir");
        let all = Placeholders::open(folder.path().join("note"));
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2000 {
                    drop(all.still().place(&[], &[Placeholder::file(file.clone(), ".\n")]).unwrap());
                }
                is_over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {
                look(&all, &file);
            }
        });
        assert!(!file.exists(), "it goes with the last that uses or reads it");
    }

    #[test]
    fn a_file_has_its_text_as_soon_as_it_has_its_name() {
        beside_a_file_that_comes_and_goes(|_, file| {
            if let Ok(text) = fs::read_to_string(file) {
                assert_eq!(text, ".\n");
            }
        });
    }

    #[test]
    fn a_file_that_somebody_reads_stays() {
        beside_a_file_that_comes_and_goes(|all, file| {
            let kept = all.keep_files();
            if !kept.placeholders.is_empty() {
                (0..10).for_each(|_| assert!(file.exists()));
            }
        });
    }

    #[test]
    fn none_is_made_or_removed_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["inside", "outside", "outside/mine"] {
            fs::create_dir(at(name)).unwrap();
        }
        let all = Placeholders::open(at("note"));
        let placed = all.still().place(&[], &[Placeholder::folder(at("inside/mine"))]).unwrap();
        fs::rename(at("inside"), at("away")).unwrap();
        symlink(at("outside"), at("inside")).unwrap();
        for new in [Placeholder::folder(at("inside/new")), Placeholder::file(at("inside/new"), "")] {
            assert!(all.still().place(&[], &[new]).is_err());
        }
        drop(placed);
        assert!(at("outside/mine").is_dir() && !at("outside/new").exists());
    }

    #[test]
    fn the_next_start_removes_what_a_killed_daemon_left() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let placed =
            Placeholders::open(at("note")).still().place(&[], &[Placeholder::folder(at("a"))]).unwrap();
        std::mem::forget(placed);
        assert!(at("a").is_dir());
        Placeholders::open(at("note"));
        assert!(!at("a").exists() && !at("note").exists());
    }
}
