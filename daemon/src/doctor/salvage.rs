use super::{
    backup::{BackupError, target},
    rebuild::projected,
};
use crate::instance::{Instance, InstanceError};
use abide_host::home::Home;
use abide_store::{Existing, RenewError, Salvaged, Store};
use std::path::Path;

/// Why nothing was salvaged. The damaged database is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    #[error("{}{}", .0, .0.advice())]
    Instance(#[from] InstanceError),
    #[error(transparent)]
    Target(#[from] BackupError),
    #[error("nothing was salvaged: {0}")]
    Renew(#[from] RenewError),
}

/// Writes what can be read of this home's damaged database to a new one. No daemon may run meanwhile. Blocks.
///
/// # Errors
/// See [`SalvageError`].
pub fn salvage(home: &Home, to: &Path, existing: Existing) -> Result<Salvaged, SalvageError> {
    let _instance = Instance::take(home.lock_file())?;
    Ok(Store::salvage(&home.database(), &target(home, to, existing)?, existing, projected)?)
}
