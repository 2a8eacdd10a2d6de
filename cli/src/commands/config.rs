use crate::{args::ConfigCommand, error::CommandError, exit::Exit, replace::become_daemon};
use std::ffi::OsStr;

/// The daemon's program knows its configuration.
pub(crate) fn config(command: &ConfigCommand) -> Result<Exit, CommandError> {
    let what = match command {
        ConfigCommand::Check => "check",
        ConfigCommand::Reference => "reference",
    };
    become_daemon(&[OsStr::new("config"), OsStr::new(what)])
}
