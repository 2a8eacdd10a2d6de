//! Takes back what install did. The data stays, unless the person wants it deleted.

use super::{
    files,
    install::{is_unit, linger_note, places},
    purge::Purge,
    report::{Action, Report},
    stop,
};
use crate::{
    args::UninstallArgs, connection::Daemon, error::CommandError, exit::Exit, output::measure,
    systemd::UserManager,
};
use abide_client::protocol::method::{
    Status,
    daemon::{StatusParams, StatusReply},
};
use abide_host::{
    Home, home,
    login::{self, Places, SERVICE, SOCKET},
};
use std::fs;

pub(super) async fn uninstall(args: UninstallArgs, json: bool) -> Result<Exit, CommandError> {
    let home = Home::from_env()?;
    let places = places()?;
    let mut running = running(&home).await?;
    if let Some((_, status)) = &running
        && status.tasks.running > 0
        && (args.purge || is_unit(&status.start.by))
    {
        let tasks = measure::counted(status.tasks.running, "task");
        return Err(CommandError::failed(format!("{tasks} at work would be cut off; nothing was changed"))
            .hinted("`abide ps` shows what works; `abide daemon stop` cuts it off, and it goes on at the next start"));
    }
    let purge = match args.purge {
        true => {
            let unfinished = running.as_ref().map(|(_, status)| status.tasks.waiting + status.tasks.paused);
            match Purge::agreed(&home, unfinished, args.yes, json).await? {
                Some(purge) => Some(purge),
                None => return Ok(Exit::Failed),
            }
        }
        false => None,
    };
    let mut report = Report::new(json);
    if let Some(other) = login::of_another_home(&places, &home) {
        report.note(format!("kept {}, which starts the daemon of another home", other.display()))?;
    } else {
        units(&places, running.as_ref().map(|(_, status)| status), &mut report).await?;
        files::remove(&places.entry, &mut report)?;
        unlinger(&home, &mut report).await?;
    }
    if let Some(purge) = purge {
        // A daemon of systemd has been stopped with its unit.
        if home::is_held(&home)
            && let Some((daemon, status)) = &mut running
        {
            stop(daemon).await?;
            report.did(Action::Stopped, format!("the daemon, process {}", status.pid))?;
        }
        purge.carry_out(&mut report)?;
    } else if !home::is_held(&home)
        && let Some((_, StatusReply { tasks, .. })) = &running
        && tasks.waiting + tasks.paused > 0
    {
        let tasks = measure::counted(tasks.waiting + tasks.paused, "unfinished task");
        report
            .note(format!("{tasks}: the next client starts the daemon, and with it they are there again"))?;
    }
    report.finish("nothing of `abide daemon install` is here; nothing was changed")
}

async fn running(home: &Home) -> Result<Option<(Daemon, StatusReply)>, CommandError> {
    if !home::is_held(home) {
        return Ok(None);
    }
    let mut daemon = Daemon::running().await?;
    let status = daemon.call::<Status>(StatusParams::default()).await?;
    Ok(Some((daemon, status)))
}

/// Disables the units, which stops a daemon that they run, and removes those that install wrote.
async fn units(
    places: &Places,
    running: Option<&StatusReply>,
    report: &mut Report,
) -> Result<(), CommandError> {
    let is_running = running.is_some_and(|status| is_unit(&status.start.by));
    let links = [SOCKET, SERVICE].map(|unit| places.enabled_by_user(unit));
    let manager = UserManager::find().await;
    if is_running || links.iter().any(Option::is_some) {
        match &manager {
            Ok(manager) => {
                manager.disable_now().await?;
                report.did(Action::Disabled, format!("{SERVICE} and {SOCKET}"))?;
                if let Some(status) = running.filter(|_| is_running) {
                    report.did(Action::Stopped, format!("the daemon, process {}", status.pid))?;
                }
            }
            Err(why) => {
                for link in links.iter().flatten() {
                    fs::remove_file(link)?;
                    report.did(Action::Removed, link.display().to_string())?;
                }
                report.note(format!(
                    "systemd was not told, so a unit that runs goes on until the next logout: {why}"
                ))?;
            }
        }
    }
    let mut has_removed = false;
    for unit in [SOCKET, SERVICE] {
        let path = places.units.join(unit);
        has_removed |= path.exists() && files::remove(&path, report)?;
    }
    if has_removed && let Ok(manager) = &manager {
        manager.reload().await?;
    }
    if let Some(link) = places.enabled_for_all(SERVICE) {
        report.note(format!(
            "{} still starts the daemon, for all users; `systemctl --user mask {SERVICE} {SOCKET}` keeps it from you",
            link.display()
        ))?;
    }
    Ok(())
}

async fn unlinger(home: &Home, report: &mut Report) -> Result<(), CommandError> {
    let note = linger_note(home);
    if !note.exists() {
        return Ok(());
    }
    match UserManager::find().await {
        Ok(manager) => {
            manager.set_linger(false).await?;
            fs::remove_file(&note)?;
            report.did(Action::Disabled, "lingering, which install had enabled")
        }
        Err(why) => {
            report.note(format!("your units still go on after a logout, because systemd was not told: {why}"))
        }
    }
}
