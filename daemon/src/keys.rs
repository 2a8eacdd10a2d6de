//! The providers' API keys: from the environment, else as stored by `abide key set`, in the system's keyring
//! or, if there is none, in a file (0600).
//!
//! * A key never shows in an error, a log or `Debug`.
//! * Looking up a key never waits: the keyring's keys are fetched ahead ([`KeyStore::fetch`]) and cached. The
//!   key file names the providers whose keys are in the keyring; if it names none, the daemon never contacts
//!   the keyring.
//! * The daemon never makes a keyring ask for a password: a locked one counts as absent until it is unlocked.

mod configured;
mod file;
mod keyring;

pub use configured::ConfiguredKeys;

use abide_model::{Keys, Secret};
use abide_protocol::{
    key::{self, KeyFault},
    provider::is_provider_name,
};
use file::KeyFile;
use keyring::{Keyring, KeyringError};
use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
    time::Duration,
};

/// How long the keyring may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a key cannot be stored, or stored keys cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("others can read or change {}; run `chmod 600` on it, and consider its keys exposed", path.display())]
    Exposed { path: PathBuf },
    #[error("{} is not a file of this user's own; move it away and set the keys again", path.display())]
    NotOurs { path: PathBuf },
    #[error("{} is no key file ({what}); correct it, or move it away and set the keys again", path.display())]
    Malformed { path: PathBuf, what: String },
    #[error("a provider's name has 1 to 64 of the characters a-z A-Z 0-9 - _ .")]
    BadName,
    #[error("that is no API key: {0}")]
    BadKey(#[from] KeyFault),
    #[error(
        "the key is in the system's keyring, and {0}; remove it there, or try again when the keyring is unlocked"
    )]
    Keyring(String),
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// This variable of the daemon's environment.
    Environment(String),
    Keyring,
    File,
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(variable) => write!(f, "{variable} is set"),
            Self::Keyring => f.write_str("its key is in the system's keyring"),
            Self::File => f.write_str("its key is in the daemon's key file"),
        }
    }
}

/// The result of setting or removing a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetKey {
    /// Where the provider's key is now, in words.
    pub stored_in: String,
    /// There was a key before.
    pub had_key: bool,
}

/// The keys stored by `abide key set`.
pub struct KeyStore {
    path: PathBuf,
    kept: RwLock<BTreeMap<String, Kept>>,
    keyring: Keyring,
    /// Held while the file is changed.
    writing: tokio::sync::Mutex<()>,
    /// Notified when a key was looked up that the keyring has not given yet.
    missed: tokio::sync::Notify,
}

/// A stored key.
#[derive(Clone)]
enum Kept {
    InFile(String),
    /// `None`: not fetched yet.
    InKeyring(Option<String>),
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStore").field("names", &self.names()).finish_non_exhaustive()
    }
}

impl KeyStore {
    /// Reads the key file.
    ///
    /// # Errors
    /// The file cannot be read, or others can read it.
    pub fn open(path: &Path) -> Result<Self, KeyError> {
        Self::open_with(path, Keyring::of_home(path))
    }

    fn open_with(path: &Path, keyring: Keyring) -> Result<Self, KeyError> {
        let file = KeyFile::load(path)?;
        let in_file = file.keys.into_iter().map(|(name, key)| (name, Kept::InFile(key)));
        let in_keyring = file.keyring.into_iter().map(|name| (name, Kept::InKeyring(None)));
        Ok(Self {
            path: path.to_owned(),
            kept: RwLock::new(in_file.chain(in_keyring).collect()),
            keyring,
            writing: tokio::sync::Mutex::new(()),
            missed: tokio::sync::Notify::new(),
        })
    }

    /// Where the provider's key is stored.
    fn origin(&self, provider: &str) -> Option<KeyOrigin> {
        self.read().get(provider).map(|kept| match kept {
            Kept::InFile(_) => KeyOrigin::File,
            Kept::InKeyring(_) => KeyOrigin::Keyring,
        })
    }

    /// The providers that have a key.
    fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// Fetches the keyring's keys that are not cached yet; takes a few seconds at most, and no time if there
    /// are none.
    pub async fn fetch(&self) {
        let wanted: Vec<String> = self
            .read()
            .iter()
            .filter(|(_, kept)| matches!(kept, Kept::InKeyring(None)))
            .map(|(name, _)| name.clone())
            .collect();
        for name in wanted {
            match bounded(self.keyring.get(&name)).await {
                Ok(key) => {
                    // Unless it was changed meanwhile.
                    if let Some(kept @ Kept::InKeyring(None)) = self.write().get_mut(&name) {
                        *kept = Kept::InKeyring(key);
                    }
                }
                Err(e) => {
                    tracing::warn!(provider = name, error = %e, "a key is in the keyring and cannot be fetched");
                    return;
                }
            }
        }
    }

    /// Fetches again after a lookup missed a key (a locked keyring, for example), at most every ten seconds.
    /// Never ends.
    pub async fn keep_fetching(&self) {
        loop {
            self.missed.notified().await;
            self.fetch().await;
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
    }

    /// Stores the provider's key, or removes it.
    async fn set(&self, provider: &str, key: Option<&str>) -> Result<SetKey, KeyError> {
        if !is_provider_name(provider) {
            return Err(KeyError::BadName);
        }
        let _writing = self.writing.lock().await;
        let had_key = self.origin(provider).is_some();
        let Some(key) = key else {
            self.remove(provider).await?;
            return Ok(SetKey { stored_in: "nowhere".to_owned(), had_key });
        };
        let key = key::read(key)?;
        let (kept, stored_in) = match bounded(self.keyring.set(provider, key)).await {
            Ok(()) => (Kept::InKeyring(Some(key.to_owned())), "the system's keyring".to_owned()),
            Err(e) => {
                let words = format!("{} (only you can read it; {e})", self.path.display());
                (Kept::InFile(key.to_owned()), words)
            }
        };
        self.change(provider, Some(kept))?;
        Ok(SetKey { stored_in, had_key })
    }

    async fn remove(&self, provider: &str) -> Result<(), KeyError> {
        let kept = self.read().get(provider).cloned();
        match kept {
            None => return Ok(()),
            Some(Kept::InFile(_)) => {}
            Some(Kept::InKeyring(_)) => {
                bounded(self.keyring.remove(provider)).await.map_err(|e| KeyError::Keyring(e.to_string()))?;
            }
        }
        self.change(provider, None)
    }

    /// First on disk, then in memory.
    fn change(&self, provider: &str, kept: Option<Kept>) -> Result<(), KeyError> {
        let mut all = self.read().clone();
        match kept {
            Some(kept) => all.insert(provider.to_owned(), kept),
            None => all.remove(provider),
        };
        let mut file = KeyFile::default();
        for (name, kept) in &all {
            match kept {
                Kept::InFile(key) => {
                    file.keys.insert(name.clone(), key.clone());
                }
                Kept::InKeyring(_) => {
                    file.keyring.insert(name.clone());
                }
            }
        }
        file.save(&self.path)?;
        *self.write() = all;
        Ok(())
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Kept>> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Kept>> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys for KeyStore {
    fn key(&self, provider: &str) -> Option<Secret> {
        match self.read().get(provider)? {
            Kept::InFile(key) | Kept::InKeyring(Some(key)) => Some(Secret::new(key)),
            Kept::InKeyring(None) => {
                self.missed.notify_one();
                None
            }
        }
    }
}

async fn bounded<T>(asked: impl Future<Output = Result<T, KeyringError>>) -> Result<T, KeyringError> {
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(KeyringError::Silent))
}

#[cfg(test)]
mod tests;
