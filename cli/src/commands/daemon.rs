mod files;
mod inherited;
mod install;
mod purge;
mod report;
mod uninstall;

use crate::{
    args::DaemonCommand,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, measure, screen, status},
    systemd::UserManager,
};
use abide_client::protocol::{
    method::{
        Shutdown, Status,
        daemon::{ShutdownParams, ShutdownReply, StatusParams},
    },
    start::{AtLogin, StartedBy},
};
use abide_host::{Home, home, login, program};
use inherited::Inherited;
use std::time::Duration;
use tokio::time::{Instant, interval};

/// How long running work may go on before it is cut off, in ms.
const PATIENCE_MS: u64 = 5_000;
/// How long the process may take to end after its work has ended.
const STOP_DEADLINE: Duration = Duration::from_secs(15);
/// The lock has to be polled: its release is not notified.
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(crate) async fn daemon(command: DaemonCommand, json: bool) -> Result<Exit, CommandError> {
    match command {
        DaemonCommand::Start => {
            let home = Home::from_env()?;
            if !home::is_held(&home) {
                start_unit(&home, json).await?;
            } else if !json {
                screen::note("it is running already")?;
            }
            print_status(&mut Daemon::started().await?, json).await
        }
        DaemonCommand::Stop => {
            let stopped = stop_if_running(json).await?;
            match (json, &stopped) {
                (true, _) => json::document(&stopped)?,
                (false, Some(left)) => screen::print(&status::stopped(left))?,
                (false, None) => screen::print("it was not running\n")?,
            }
            if !json
                && stopped.is_some()
                && matches!(login::at_login(&Home::from_env()?), AtLogin::Systemd(_))
            {
                screen::note(
                    "the next client starts it again; `abide daemon uninstall` leaves systemd out of it",
                )?;
            }
            Ok(Exit::Done)
        }
        DaemonCommand::Restart => {
            let home = Home::from_env()?;
            // A person restarts the daemon for a change of the configuration: it is not stopped for one that
            // would not apply.
            if let Err(error) = program::check(&home, None).await {
                let error = CommandError::failed(error.to_string());
                let is_running = home::is_held(&home);
                return Err(if is_running {
                    error.hinted("the daemon that runs was left alone")
                } else {
                    error
                });
            }
            let before = running_pid().await.map(Inherited::of_process).unwrap_or_default();
            if let Some(left) = stop_if_running(json).await?
                && !json
            {
                screen::note(status::stopped(&left).trim_end())?;
            }
            start_unit(&home, json).await?;
            let mut daemon = Daemon::started().await?;
            if !json {
                say_inherited(&mut daemon, &before).await?;
            }
            print_status(&mut daemon, json).await
        }
        DaemonCommand::Update { patience } => super::update::update(patience, json).await,
        DaemonCommand::Status => {
            let home = Home::from_env()?;
            let mut daemon = Daemon::running().await.map_err(|error| not_running(error, &home))?;
            print_status(&mut daemon, json).await
        }
        DaemonCommand::Install(args) => install::install(args, json).await,
        DaemonCommand::Uninstall(args) => uninstall::uninstall(args, json).await,
        DaemonCommand::Logs(args) => super::logs::logs(&args, json).await,
    }
}

/// Lets systemd start the daemon, if it does so at login. Where it cannot, the client does.
async fn start_unit(home: &Home, json: bool) -> Result<(), CommandError> {
    if !matches!(login::at_login(home), AtLogin::Systemd(_)) {
        return Ok(());
    }
    let started = match UserManager::find().await {
        Ok(manager) => manager.start().await,
        Err(why) => Err(CommandError::failed(why)),
    };
    match started {
        Err(error) if !json => {
            Ok(screen::note(&format!("systemd could not start it, so this command does: {error}"))?)
        }
        _ => Ok(()),
    }
}

/// The process of the daemon, if one answers.
async fn running_pid() -> Option<u32> {
    let status = Daemon::running().await.ok()?.call::<Status>(StatusParams::default()).await.ok()?;
    Some(status.pid)
}

/// Which of the shell's proxies and CAs the new daemon has.
async fn say_inherited(daemon: &mut Daemon, before: &Inherited) -> Result<(), CommandError> {
    let by = daemon.call::<Status>(StatusParams::default()).await?.start.by;
    let shell = Inherited::of_shell();
    let now = match (&by, UserManager::find().await) {
        (StartedBy::Systemd(_), Ok(manager)) => Inherited::of_manager(&manager).await,
        _ => Inherited::of_shell(),
    };
    inherited::line(&shell, before, &now, &by).map_or(Ok(()), |line| Ok(screen::note(&line)?))
}

/// A daemon that does not run has a reason, or will be started by something.
fn not_running(error: CommandError, home: &Home) -> CommandError {
    if home::is_held(home) {
        error
    } else {
        error.hinted(format!("at login: {}", status::at_login(&login::at_login(home))))
    }
}

/// `None`: no daemon ran.
async fn stop_if_running(json: bool) -> Result<Option<ShutdownReply>, CommandError> {
    let home = Home::from_env()?;
    let mut daemon = match Daemon::running().await {
        Ok(daemon) => daemon,
        Err(_) if !home::is_held(&home) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !json {
        let status = daemon.call::<Status>(StatusParams::default()).await?;
        if status.config.refused.is_some() {
            screen::note(
                "the configuration is invalid, so the next start uses the one before: `abide config check` says what is wrong",
            )?;
        }
        if status.tasks.running > 0 {
            let tasks = measure::counted(status.tasks.running, "task");
            let patience = measure::duration(PATIENCE_MS);
            screen::note(&format!("{tasks} at work: up to {patience} to come to a boundary"))?;
        }
    }
    stop(&mut daemon).await
}

async fn print_status(daemon: &mut Daemon, json: bool) -> Result<Exit, CommandError> {
    let status = daemon.call::<Status>(StatusParams::default()).await?;
    if json {
        json::document(&status)?;
    } else {
        screen::print(&status::daemon(&status))?;
    }
    Ok(Exit::Done)
}

/// Returns when the process has ended, so that another can start at once. `None`: it ended without a word
/// about its tasks.
async fn stop(daemon: &mut Daemon) -> Result<Option<ShutdownReply>, CommandError> {
    let params = ShutdownParams { deadline_ms: Some(PATIENCE_MS) };
    // It may be going over to another program, which is to end too.
    let reply = match daemon.call_again::<Shutdown>(params).await {
        Err(_) if !home::is_held(daemon.home()) => None,
        settled => Some(settled?),
    };
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
