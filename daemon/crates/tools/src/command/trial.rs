//! Tries a confinement by running a command in it that does nothing.

use super::{ForkServer, shell};
use crate::{
    helper::{CommandEnd, Fittings, Order, Report},
    sandbox::Plan,
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead as _, BufReader},
    os::fd::{AsFd as _, OwnedFd},
    time::Duration,
};

/// A confinement takes about a millisecond to make.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a command that does nothing, confined by this plan. Blocking.
///
/// # Errors
/// The helper could not be forked or confined, or the command failed in it.
pub(crate) fn try_helper(server: &ForkServer, plan: &Plan) -> io::Result<()> {
    let helper = server.helper(plan)?;
    let nowhere = || Ok::<OwnedFd, io::Error>(File::options().write(true).open("/dev/null")?.into());
    let fittings =
        Fittings { directory: File::open("/")?.into(), stdin: None, stdout: nowhere()?, stderr: nowhere()? };
    let order = Order {
        directory: "/".to_owned(),
        command: [shell(), "-c", ":"].map(str::to_owned).into(),
        environment: BTreeMap::new(),
    };
    let message = order.message()?;
    let connection = helper.connection;
    connection.set_read_timeout(Some(PATIENCE))?;
    // An order as short as this one is sent whole.
    fittings.send(connection.as_fd(), &message)?;
    let mut line = String::new();
    BufReader::new(connection).read_line(&mut line)?;
    match serde_json::from_str::<Report>(&line).map(|report| report.ending) {
        Ok(CommandEnd::Exited(0)) => Ok(()),
        Ok(CommandEnd::NotStarted(why)) => Err(io::Error::other(why)),
        Ok(CommandEnd::Exited(code)) => {
            Err(io::Error::other(format!("a command in it ends with exit code {code}")))
        }
        Ok(CommandEnd::Killed(signal)) => {
            Err(io::Error::other(format!("a command in it is killed by signal {signal}")))
        }
        Err(_) => Err(io::Error::other("its helper does not answer")),
    }
}
