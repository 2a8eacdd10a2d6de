//! `abided check`: whether this program could start in place of the one that runs, or after it.

use super::config;
use crate::{complain, say};
use abide_host::home::Home;
use abide_store::Store;
use std::process::ExitCode;

/// Prints the version, which the daemon that asks reads.
pub(crate) fn run() -> ExitCode {
    match check() {
        Ok(()) => say(&format!("abided {}", env!("CARGO_PKG_VERSION"))),
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn check() -> anyhow::Result<()> {
    config::check()?;
    Store::check_schema(&Home::from_env()?.database())?;
    Ok(())
}
