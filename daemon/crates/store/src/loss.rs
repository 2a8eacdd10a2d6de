//! A database that ends before the newest record that was stored: what is missing, and going on without it.

use crate::{Store, error::OpenError, examine::whole, high_water};
use abide_protocol::Seq;
use std::path::Path;

/// Records that had been stored and are not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The newest record that is left; 0: none, the database is missing.
    pub newest: Seq,
    /// The newest record that had been stored.
    pub noted: Seq,
}

impl Loss {
    /// How many are missing; less those that had been deleted with their conversation.
    #[must_use]
    pub const fn at_most(&self) -> u64 {
        self.noted.0 - self.newest.0
    }
}

impl Store {
    /// What is missing from the database at that path, if anything is. Changes nothing. Blocks.
    ///
    /// # Errors
    /// Something else is wrong with it, which has to be mended first.
    pub fn loss(path: &Path) -> Result<Option<Loss>, OpenError> {
        match whole(path) {
            Ok(_) => Ok(None),
            Err(OpenError::Missing { noted, .. }) => Ok(Some(Loss { newest: Seq(0), noted })),
            Err(OpenError::Behind { newest, noted, .. }) => Ok(Some(Loss { newest, noted })),
            Err(error) => Err(error),
        }
    }

    /// Lets the database at that path be opened without the records that it has lost. No store of it may be open. Blocks.
    ///
    /// # Errors
    /// It cannot be written down that they are given up: the database stays refused.
    pub fn accept_loss(path: &Path, loss: Loss) -> Result<(), OpenError> {
        high_water::lower(path, loss.newest)
    }
}
