use crate::instance::{Instance, InstanceError};
use abide_host::home::Home;
use abide_store::{Loss, OpenError, Store};
use std::fmt;

/// A database that has lost its newest records. While this value exists, no daemon can run.
#[derive(Debug)]
pub struct TruncatedDatabase {
    home: Home,
    loss: Loss,
    _instance: Instance,
}

/// Why a loss was not found or not accepted. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum LossError {
    #[error("{}{}", .0, .0.advice())]
    Instance(#[from] InstanceError),
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl TruncatedDatabase {
    /// Checks for a loss; `None` if no record is missing. Blocks.
    ///
    /// # Errors
    /// See [`LossError`].
    pub fn find(home: &Home) -> Result<Option<Self>, LossError> {
        let instance = Instance::take(home.lock_file())?;
        let loss = Store::loss(&home.database())?;
        Ok(loss.map(|loss| Self { home: home.clone(), loss, _instance: instance }))
    }

    #[must_use]
    pub const fn loss(&self) -> Loss {
        self.loss
    }

    /// Accepts the loss: the next start goes on from the records that are left. Blocks.
    ///
    /// # Errors
    /// See [`LossError`].
    pub fn accept(self) -> Result<Loss, LossError> {
        Store::accept_loss(&self.home.database(), self.loss)?;
        Ok(self.loss)
    }
}

impl fmt::Display for TruncatedDatabase {
    /// The lost records, and the consequences of going on without them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loss { newest, noted } = self.loss;
        let (database, first) = (self.home.database(), newest.0 + 1);
        let database = database.display();
        if newest.0 == 0 {
            let state = if self.home.database().exists() { "holds no record" } else { "is missing" };
            write!(
                f,
                "{database} {state}: all records, up to {}, are lost. The next start begins without any conversation.",
                noted.0
            )
        } else {
            write!(
                f,
                "{database} ends with record {}; records {first} to {}, at most {}, are lost. Tasks resume from record {}; commands that ran \
                 later may run again.",
                newest.0,
                noted.0,
                self.loss.at_most(),
                newest.0
            )
        }
    }
}
