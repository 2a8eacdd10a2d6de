use crate::{args::PromptsArgs, error::CommandError, exit::Exit, replace::become_daemon};
use std::ffi::OsStr;

/// Runs the daemon's program, which knows the built-in prompts and needs no running daemon for this.
pub(crate) fn prompts(args: &PromptsArgs, json: bool) -> Result<Exit, CommandError> {
    let flags = [("--json", json), ("--write", args.write)];
    let flags = flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| OsStr::new(flag));
    let arguments: Vec<&OsStr> = std::iter::once(OsStr::new("prompts")).chain(flags).collect();
    become_daemon(&arguments)
}
