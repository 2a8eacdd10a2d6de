//! What is well and what is not, seen from outside: beside a running daemon as well as when none can start.
//!
//! [`examine`] and [`backup`] change nothing. [`rebuild`] and [`Cut`] need the home for themselves.

mod accept_loss;
mod backup;
mod examine;
mod models;
mod rebuild;

pub use accept_loss::{Cut, LossError};
pub use backup::{BackupError, backup};
pub use examine::examine;
pub use rebuild::{RebuildError, Rebuilt, rebuild};

use serde::Serialize;

/// What was found out about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What was looked at.
    pub about: &'static str,
    pub health: Health,
    /// For people: what is so and, unless all is well, what to do.
    pub words: String,
}

/// How well something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Good,
    /// It works, but a person may want to know.
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
