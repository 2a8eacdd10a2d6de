//! The current configuration and its catalog.
//!
//! The file is read whenever the configuration is needed, and parsed again when its text has changed: reading
//! a small file costs less than a watcher, and works with every editor and file system. A request takes one
//! [`Catalog`] and uses nothing else, so it never sees half of a change.

mod last_good;

use crate::{
    catalog::{Catalog, Variable},
    clock,
    config::{self, Config, ConfigError, Problem},
    keys::KeyStore,
};
use abide_host::replace_file;
use abide_protocol::{
    Timestamp,
    method::{
        config::UpdateConfigParams,
        daemon::{ConfigStatus, RefusedConfig},
    },
};
use last_good::LastGood;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// An editor that writes in place empties the file first, so a change counts once two reads this far apart
/// are equal.
const SETTLE: Duration = Duration::from_millis(20);
/// A file that keeps changing is read this often; then the last text counts.
const MAX_LOOKS: usize = 25;
/// For how long [`Settings::recent`] does not read the file again.
const RECENT: Duration = Duration::from_secs(1);

/// Cheap to clone.
#[derive(Clone)]
pub struct Settings {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    last_good: LastGood,
    state: Mutex<CurrentSettings>,
    /// Held while the file is changed, or the text in force is kept.
    changing: tokio::sync::Mutex<()>,
}

struct CurrentSettings {
    catalog: Catalog,
    read_at: Timestamp,
    seen: Seen,
    /// When the last read of the file began.
    looked_at: Instant,
    refused: Option<RefusedConfig>,
}

/// The file's text, `None` if there is no file, or why it cannot be read.
type Seen = Result<Option<String>, String>;

impl Settings {
    /// Reads the file for the first time. If it cannot be read or is invalid, the text that `last_good` keeps
    /// is in force.
    ///
    /// # Errors
    /// It cannot be read or is invalid, and no other text is kept.
    pub fn open(
        path: &Path,
        last_good: PathBuf,
        keys: Arc<KeyStore>,
        variable: Variable,
    ) -> Result<Self, ConfigError> {
        let last_good = LastGood::at(last_good);
        let read = Config::read(path);
        let seen = read.as_ref().map(Clone::clone).map_err(ToString::to_string);
        let found = read.and_then(|text| Ok((Config::of_file(path, text.as_deref())?, text)));
        let (config, refused) = match found {
            Ok((config, text)) => {
                last_good.keep(text.as_deref());
                (config, None)
            }
            Err(error) => {
                let kept = last_good.read().and_then(|kept| Config::of_file(path, Some(&kept)).ok());
                let Some(config) = kept else { return Err(error) };
                tracing::error!("the configuration is refused, the one before stays in force: {error}");
                (config, Some(RefusedConfig::from(&error)))
            }
        };
        let catalog = Catalog::new(config, keys, variable);
        let state =
            CurrentSettings { catalog, read_at: clock::now(), seen, looked_at: Instant::now(), refused };
        Ok(Self {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                last_good,
                state: Mutex::new(state),
                changing: tokio::sync::Mutex::new(()),
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, CurrentSettings> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current configuration, after reading the file.
    pub async fn now(&self) -> Catalog {
        self.look().await;
        self.state().catalog.clone()
    }

    /// The current configuration, read at most a second ago. A task's steps use this: reading the file for
    /// each would cost two thread switches.
    pub async fn recent(&self) -> Catalog {
        let is_recent = self.state().looked_at.elapsed() < RECENT;
        if is_recent { self.state().catalog.clone() } else { self.now().await }
    }

    /// The file's path, when it was read, and why its newest text is refused, if it is.
    #[must_use]
    pub fn status(&self) -> ConfigStatus {
        let state = self.state();
        ConfigStatus {
            path: self.inner.path.display().to_string(),
            read_at: state.read_at,
            refused: state.refused.clone(),
        }
    }

    /// Writes a change into the file and applies it. An invalid file is not changed.
    ///
    /// # Errors
    /// The file is invalid, another program is changing it, or it cannot be written.
    pub async fn change(&self, change: UpdateConfigParams) -> Result<(), ChangeError> {
        let _changing = self.inner.changing.lock().await;
        let path = self.inner.path.clone();
        let written = tokio::task::spawn_blocking(move || write(&path, &change)).await;
        let text = written.map_err(|_| ChangeError::ShuttingDown)??;
        self.apply(Ok(Some(text)));
        self.keep().await;
        Ok(())
    }

    async fn look(&self) {
        self.state().looked_at = Instant::now();
        let Some(mut found) = self.read().await else { return };
        if self.state().seen == found {
            return;
        }
        for _ in 1..MAX_LOOKS {
            tokio::time::sleep(SETTLE).await;
            let Some(again) = self.read().await else { return };
            if again == found {
                break;
            }
            found = again;
        }
        self.apply(found);
        let _changing = self.inner.changing.lock().await;
        self.keep().await;
    }

    /// Keeps the text in force for the next start. Called under the lock, so that an older text does not
    /// replace a newer one.
    async fn keep(&self) {
        let text = match &*self.state() {
            CurrentSettings { seen: Ok(text), refused: None, .. } => text.clone(),
            _ => return,
        };
        let settings = self.clone();
        let kept = move || settings.inner.last_good.keep(text.as_deref());
        // It fails only if the daemon is ending.
        let _ = tokio::task::spawn_blocking(kept).await;
    }

    /// `None`: the daemon is ending.
    async fn read(&self) -> Option<Seen> {
        let path = self.inner.path.clone();
        let read = tokio::task::spawn_blocking(move || Config::read(&path).map_err(|e| e.to_string()));
        read.await.ok()
    }

    fn apply(&self, found: Seen) {
        let path = &self.inner.path;
        let mut state = self.state();
        // Another task may have applied it meanwhile.
        if state.seen == found {
            return;
        }
        let config = match &found {
            Ok(text) => Config::of_file(path, text.as_deref()).map_err(|e| RefusedConfig::from(&e)),
            Err(why) => Err(RefusedConfig { message: why.clone(), line: None, key: None }),
        };
        match config {
            Ok(config) => {
                tracing::info!(file = %path.display(), "the configuration was read again");
                state.catalog = state.catalog.renewed(config);
                state.read_at = clock::now();
                state.refused = None;
            }
            Err(refused) => {
                tracing::error!(
                    "the new configuration is refused, the one before stays: {}",
                    refused.message
                );
                state.refused = Some(refused);
            }
        }
        state.seen = found;
    }
}

/// Why a change was not written.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("the configuration was not changed, because the file is invalid: {0}")]
    Refused(#[from] ConfigError),
    #[error("{} is being changed by another program; try again", .0.display())]
    Busy(PathBuf),
    #[error("cannot write {}: {source}; make it writable, or change it by hand", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("the daemon is shutting down")]
    ShuttingDown,
}

/// Writes the change into the file.
fn write(path: &Path, change: &UpdateConfigParams) -> Result<String, ChangeError> {
    let before = Config::read(path)?;
    let problem = |problem: Problem| ConfigError::Wrong { path: path.to_owned(), problem };
    let text = config::changed(before.as_deref().unwrap_or_default(), change).map_err(problem)?;
    if before.as_ref() == Some(&text) {
        return Ok(text);
    }
    replace(path, before.as_deref(), &text)?;
    Ok(text)
}

/// Replaces the file's text, which must still be `before`. Its mode stays, and a symbolic link is followed.
///
/// # Errors
/// Another program has changed it, or it cannot be written.
pub fn replace(path: &Path, before: Option<&str>, text: &str) -> Result<(), ChangeError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let permissions = fs::metadata(&target).ok().map(|found| found.permissions());
    if Config::read(path)?.as_deref() != before {
        return Err(ChangeError::Busy(path.to_owned()));
    }
    replace_file(&target, text, permissions).map_err(|source| ChangeError::Write { path: target, source })
}

impl From<&ConfigError> for RefusedConfig {
    fn from(error: &ConfigError) -> Self {
        let problem = error.problem();
        Self {
            message: error.to_string(),
            line: problem.and_then(|p| p.line).and_then(|line| u32::try_from(line).ok()),
            key: problem.and_then(|p| p.key.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
