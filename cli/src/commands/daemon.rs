use crate::{
    args::DaemonCommand,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, measure, screen, status},
};
use abide_client::{
    Home, home,
    protocol::method::{
        Shutdown, Status,
        daemon::{ShutdownParams, ShutdownReply, StatusParams},
    },
};
use std::time::Duration;
use tokio::time::{Instant, interval};

/// Longer than the daemon itself gives its tasks.
const STOP_DEADLINE: Duration = Duration::from_secs(15);
/// The lock can only be looked at, nobody tells when it is let go.
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(crate) async fn daemon(command: DaemonCommand, json: bool) -> Result<Exit, CommandError> {
    match command {
        DaemonCommand::Start => tell(&mut Daemon::started().await?, json).await,
        DaemonCommand::Stop => {
            let reply = stop(&mut Daemon::running().await?).await?;
            if json {
                json::document(&reply)?;
            } else {
                let tasks = measure::counted(reply.unfinished, "unfinished task");
                screen::print(&format!("stopped; {tasks} will go on at the next start\n"))?;
            }
            Ok(Exit::Done)
        }
        DaemonCommand::Restart => {
            if home::is_held(&Home::from_env()?) {
                stop(&mut Daemon::running().await?).await?;
            }
            tell(&mut Daemon::started().await?, json).await
        }
        DaemonCommand::Status => tell(&mut Daemon::running().await?, json).await,
        DaemonCommand::Logs(args) => super::logs::logs(&args, json).await,
    }
}

async fn tell(daemon: &mut Daemon, json: bool) -> Result<Exit, CommandError> {
    let status = daemon.call::<Status>(StatusParams::default()).await?;
    if json {
        json::document(&status)?;
    } else {
        screen::print(&status::daemon(&status))?;
    }
    Ok(Exit::Done)
}

/// Returns when the daemon is gone, so that another can begin at once.
async fn stop(daemon: &mut Daemon) -> Result<ShutdownReply, CommandError> {
    let reply = daemon.call::<Shutdown>(ShutdownParams::default()).await?;
    let deadline = Instant::now() + STOP_DEADLINE;
    let mut look = interval(LOOK_EVERY);
    while home::is_held(daemon.home()) {
        if Instant::now() > deadline {
            return Err(CommandError::failed("the daemon is still there; it was asked to stop")
                .hinted("`abide daemon logs` says what it waits for"));
        }
        look.tick().await;
    }
    Ok(reply)
}
