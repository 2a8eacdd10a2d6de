use crate::{args::DoctorArgs, error::CommandError, exit::Exit, replace::replace};
use abide_client::program;
use std::ffi::OsStr;

/// The daemon's program looks at its home itself, also when it cannot run.
pub(crate) fn doctor(args: &DoctorArgs, json: bool) -> Result<Exit, CommandError> {
    let Some(program) = program::daemon() else {
        let words =
            "cannot find the daemon's program `abided`: it is neither beside this program nor in PATH";
        return Err(CommandError::failed(words).hinted("set ABIDE_DAEMON to its path"));
    };
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
    replace(&program, &arguments)
}
