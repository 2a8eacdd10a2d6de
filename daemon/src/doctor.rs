//! Diagnosis and repair from outside: beside a running daemon, or when none can start.
//!
//! [`examine`] and [`backup`] change nothing. [`rebuild`], [`salvage`] and [`TruncatedDatabase`] need the
//! home for themselves.

mod accept_loss;
mod backup;
mod environment;
mod examine;
mod models;
mod prompts;
mod rebuild;
mod running;
mod salvage;

pub use accept_loss::{LossError, TruncatedDatabase};
pub use backup::{BackupError, backup};
pub use examine::examine;
pub(crate) use rebuild::projected;
pub use rebuild::{RebuildError, Rebuilt, rebuild};
pub use salvage::{SalvageError, salvage};

use abide_host::home::Home;
use serde::Serialize;

/// Whether no daemon has ever stored anything in this home.
#[must_use]
pub fn is_unused(home: &Home) -> bool {
    let is_absent = |name: &str| matches!(home.data_dir.join(name).try_exists(), Ok(false));
    ["abide.db", "abide.db-wal", "abide.db-newest"].into_iter().all(is_absent)
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The subject of the check.
    pub about: &'static str,
    pub health: Health,
    /// For people: the state and, unless it is good, what to do.
    pub words: String,
}

/// The severity of a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Good,
    /// It works, but the user may want to know.
    Noted,
    /// Something does not work.
    Bad,
}

impl Diagnosis {
    fn good(about: &'static str, words: impl Into<String>) -> Self {
        Self { about, health: Health::Good, words: words.into() }
    }

    fn noted(about: &'static str, words: impl Into<String>) -> Self {
        Self { about, health: Health::Noted, words: words.into() }
    }

    fn bad(about: &'static str, words: impl Into<String>) -> Self {
        Self { about, health: Health::Bad, words: words.into() }
    }
}
