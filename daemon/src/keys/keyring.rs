//! The system's keyring: on Linux the Secret Service (GNOME Keyring, KWallet, KeePassXC) over the session
//! bus, with the bus library that notifications need anyway. (The crate `oo7` does the same on zbus 5: a
//! second D-Bus stack, and a cryptography of its own.) Other systems have none yet.

/// Why the keyring failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeyringError {
    #[error("there is no keyring here")]
    Absent,
    #[error("the keyring is locked")]
    Locked,
    #[error("the keyring does not answer")]
    Silent,
    #[error("the keyring failed: {0}")]
    Failed(String),
}

#[cfg(target_os = "linux")]
mod secret_service;
#[cfg(target_os = "linux")]
pub(super) use secret_service::Keyring;

#[cfg(not(target_os = "linux"))]
pub(super) struct Keyring;

#[cfg(not(target_os = "linux"))]
impl Keyring {
    pub(super) fn of_home(_: &std::path::Path) -> Self {
        Self
    }

    pub(super) async fn get(&self, _: &str) -> Result<Option<String>, KeyringError> {
        Err(KeyringError::Absent)
    }

    pub(super) async fn set(&self, _: &str, _: &str) -> Result<(), KeyringError> {
        Err(KeyringError::Absent)
    }

    pub(super) async fn remove(&self, _: &str) -> Result<(), KeyringError> {
        Err(KeyringError::Absent)
    }
}
