use crate::{args::DoctorArgs, error::CommandError, exit::Exit, replace::become_daemon};
use std::ffi::OsStr;

/// Runs the daemon's program, which checks its home also when no daemon can start.
pub(crate) fn doctor(args: &DoctorArgs, json: bool) -> Result<Exit, CommandError> {
    let mut arguments = vec![OsStr::new("doctor")];
    let flags = [
        ("--json", json),
        ("--rebuild", args.rebuild),
        ("--force", args.force),
        ("--accept-loss", args.accept_loss),
        ("--yes", args.yes),
    ];
    arguments.extend(flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| OsStr::new(flag)));
    if let Some(file) = &args.backup {
        arguments.extend([OsStr::new("--backup"), file.as_os_str()]);
    }
    if let Some(file) = &args.salvage {
        arguments.extend([OsStr::new("--salvage"), file.as_os_str()]);
    }
    become_daemon(&arguments)
}
