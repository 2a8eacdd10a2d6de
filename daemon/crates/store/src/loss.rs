//! Lost records: a database that ends before its newest-record mark, and how to go on without them.

use crate::{Store, error::OpenError, examine::open_complete, high_water};
use abide_protocol::Seq;
use std::path::Path;

/// Records that had been stored and are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The newest record that is left; 0 if the database is missing.
    pub newest: Seq,
    /// The newest record that had been stored.
    pub noted: Seq,
}

impl Loss {
    /// The most records that can be missing. Records of deleted conversations are counted, too.
    #[must_use]
    pub const fn at_most(&self) -> u64 {
        self.noted.0 - self.newest.0
    }
}

impl Store {
    /// The records missing from the database, if any. Changes nothing. Blocks.
    ///
    /// # Errors
    /// The database cannot be opened for another reason, which has to be fixed first.
    pub fn loss(path: &Path) -> Result<Option<Loss>, OpenError> {
        match open_complete(path) {
            Ok(_) => Ok(None),
            Err(OpenError::Missing { noted, .. }) => Ok(Some(Loss { newest: Seq(0), noted })),
            Err(OpenError::Behind { newest, noted, .. }) => Ok(Some(Loss { newest, noted })),
            Err(error) => Err(error),
        }
    }

    /// Gives up the lost records, so that the database can be opened. No store may have it open. Blocks.
    ///
    /// # Errors
    /// The mark cannot be written; the database stays refused.
    pub fn accept_loss(path: &Path, loss: Loss) -> Result<(), OpenError> {
        high_water::accept_newest(path, loss.newest)
    }
}
