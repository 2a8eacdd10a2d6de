//! Makes the system start the daemon at login: by units of systemd's user manager, or by an entry in the
//! desktop's autostart folder.

use super::{
    files::{self, Written},
    report::{Action, Report},
    stop,
};
use crate::{
    args::InstallArgs, connection::Daemon, error::CommandError, exit::Exit, output::measure,
    systemd::UserManager,
};
use abide_client::protocol::{
    method::{Status, daemon::StatusParams},
    start::{StartedBy, SystemdStart},
};
use abide_host::{
    Home, create_private_dir, home,
    login::{self, Places, SERVICE, SOCKET, Units},
    program,
};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

const NOTHING: &str = "the daemon is installed already; nothing was changed";

pub(super) async fn install(args: InstallArgs, json: bool) -> Result<Exit, CommandError> {
    let home = Home::from_env()?;
    let places = places()?;
    let program = own_program()?;
    if let Some(other) = login::of_another_home(&places, &home) {
        let words = format!("{} starts the daemon of another home; nothing was changed", other.display());
        return Err(CommandError::failed(words)
            .hinted("one home is started at login: `abide daemon uninstall` with the variables of that home (ABIDE_HOME) takes it back"));
    }
    // What cannot start is not installed: at login nobody would see why.
    if let Err(error) = program::check(&home, None).await {
        return Err(CommandError::failed(error.to_string()).hinted("nothing was installed"));
    }
    let mut report = Report::new(json);
    match UserManager::find().await {
        Ok(manager) => {
            enable(&manager, &places, &login::units(&program, &home)?, &mut report).await?;
            // Else the desktop would start a second daemon, which would end at once and say so in the log.
            files::remove(&places.entry, &mut report)?;
            take_over(&manager, &home, &mut report).await?;
            if args.linger {
                linger(&manager, &home, &mut report).await?;
            } else if report.has_changed() && manager.lingers().await == Some(false) {
                report.note("after your last logout tasks rest, and go on at the next login; with --linger they go on at once")?;
            }
        }
        Err(why) if args.linger => {
            return Err(CommandError::failed(format!(
                "only systemd can let tasks go on after a logout, and it is not there: {why}"
            ))
            .hinted("`abide daemon install` without --linger"));
        }
        Err(why) => {
            check_desktop(&why)?;
            Written::default().write(&places.entry, &login::entry(&program, &home)?, &mut report)?;
            if report.has_changed() {
                report.note(format!(
                    "there is no user manager of systemd ({why}), so the desktop starts the daemon at its next login; until then the first client does"
                ))?;
            }
        }
    }
    report.finish(NOTHING)
}

/// The places of this user, who must own them: with `sudo` they would be those of somebody else.
pub(super) fn places() -> Result<Places, CommandError> {
    let places = Places::from_env().ok_or_else(|| {
        CommandError::failed(
            "cannot find the home folder of this user, where units and autostart entries are",
        )
        .hinted("set HOME")
    })?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let found = places.units.ancestors().find_map(|dir| Some((dir, fs::metadata(dir).ok()?)));
        if let Some((dir, found)) = found
            && found.uid() != rustix::process::geteuid().as_raw()
        {
            let words = format!("{} belongs to another user, and so would the daemon", dir.display());
            return Err(CommandError::failed(words)
                .hinted("run this as the user whose tasks it is for, without sudo"));
        }
    }
    Ok(places)
}

fn own_program() -> Result<PathBuf, CommandError> {
    let program = std::path::absolute(program::daemon()?)?;
    if !program.is_file() {
        return Err(CommandError::failed(format!("there is no program {}", program.display())));
    }
    Ok(program)
}

/// Why the units are not enabled.
enum NotEnabled {
    /// They could not be written; systemd was asked for nothing.
    Unwritten(CommandError),
    /// systemd did not read or enable them.
    Refused(CommandError),
}

/// Writes the units, unless packages have brought the same, and enables them.
async fn enable(
    manager: &UserManager,
    places: &Places,
    units: &Units,
    report: &mut Report,
) -> Result<(), CommandError> {
    let mut written = Written::default();
    let links = [SERVICE, SOCKET].map(|unit| places.enabled_by_user(unit));
    let settled = match write(places, units, &mut written, report) {
        Ok(()) if written.is_empty() && manager.is_enabled().await => return Ok(()),
        Ok(()) => reload_and_enable(manager, &written).await.map_err(NotEnabled::Refused),
        Err(error) => Err(NotEnabled::Unwritten(error)),
    };
    let has_written = !written.is_empty();
    match settled {
        Ok(()) => {
            let unit = places.unit(SERVICE).unwrap_or_else(|| places.units.join(SERVICE));
            report.did(Action::Enabled, format!("{SERVICE} and {SOCKET}: {} starts at login", unit.display()))
        }
        Err(failed) => {
            // systemd may have enabled one of the two.
            for link in [SERVICE, SOCKET].iter().filter_map(|unit| places.enabled_by_user(unit)) {
                if !links.iter().flatten().any(|before| *before == link) && fs::remove_file(&link).is_ok() {
                    report.did(Action::Removed, format!("{} again", link.display()))?;
                }
            }
            written.undo(report)?;
            let error = match failed {
                NotEnabled::Unwritten(error) => error,
                NotEnabled::Refused(error) => {
                    // It may have read them before.
                    if has_written && let Err(error) = manager.reload().await {
                        report.note(format!(
                            "systemd goes by the removed units until it reads them again: {error}"
                        ))?;
                    }
                    error
                }
            };
            Err(error.hinted("nothing was installed"))
        }
    }
}

fn write(
    places: &Places,
    units: &Units,
    written: &mut Written,
    report: &mut Report,
) -> Result<(), CommandError> {
    if units.are_packaged(places) {
        return Ok(());
    }
    for (name, text) in [(SOCKET, &units.socket), (SERVICE, &units.service)] {
        written.write(&places.units.join(name), text, report)?;
        if let Some(packaged) = places.packaged(name) {
            report.note(format!(
                "{} takes the place of {}, which is of another program or home",
                places.units.join(name).display(),
                packaged.display()
            ))?;
        }
    }
    Ok(())
}

async fn reload_and_enable(manager: &UserManager, written: &Written) -> Result<(), CommandError> {
    if !written.is_empty() {
        manager.reload().await?;
    }
    manager.enable().await
}

/// Lets systemd run the daemon from now on, unless that would cut off work.
async fn take_over(manager: &UserManager, home: &Home, report: &mut Report) -> Result<(), CommandError> {
    if home::is_held(home) {
        let mut daemon = Daemon::running().await?;
        let status = daemon.call::<Status>(StatusParams::default()).await?;
        if is_unit(&status.start.by) {
            return Ok(());
        }
        if status.tasks.running > 0 {
            return report.note(format!(
                "the daemon that runs has {} at work and goes on; systemd takes over when it is started next: `abide daemon restart`",
                measure::counted(status.tasks.running, "task")
            ));
        }
        stop(&mut daemon).await?;
        report
            .did(Action::Stopped, format!("the daemon that ran (process {}), at a boundary", status.pid))?;
    }
    start(manager, report).await
}

/// Starts the unit. A daemon runs afterwards in any case, because tasks may be waiting for it.
pub(super) async fn start(manager: &UserManager, report: &mut Report) -> Result<(), CommandError> {
    let failed = manager.start().await.err();
    let status = Daemon::started().await?.call::<Status>(StatusParams::default()).await?;
    match failed {
        None if is_unit(&status.start.by) => report.did(Action::Started, format!("{SERVICE}, process {}", status.pid)),
        None => report.note(format!(
            "systemd started {SERVICE}, but another daemon answers, process {}; `abide daemon restart` lets systemd take over",
            status.pid
        )),
        Some(error) => report.note(format!(
            "systemd could not start {SERVICE}, so this command did, process {}; `journalctl --user -u {SERVICE}` has more: {error}",
            status.pid
        )),
    }
}

/// Whether the daemon is run by our unit.
pub(super) fn is_unit(by: &StartedBy) -> bool {
    matches!(by, StartedBy::Systemd(SystemdStart { unit: Some(unit), .. }) if unit == SERVICE)
}

/// A file that says that lingering is of our making, so that uninstall takes it back.
pub(super) fn linger_note(home: &Home) -> PathBuf {
    home.state_dir.join("lingers-by-install")
}

async fn linger(manager: &UserManager, home: &Home, report: &mut Report) -> Result<(), CommandError> {
    let before = manager.lingers().await;
    if before == Some(true) {
        return Ok(());
    }
    manager.set_linger(true).await.map_err(|error| {
        CommandError::failed(format!("the daemon is installed, but tasks will rest after a logout: {error}"))
            .hinted("ask an administrator for `loginctl enable-linger` with your user's name")
    })?;
    // If systemd does not say whether it was on before, it is not ours to switch off.
    if before == Some(false) {
        create_private_dir(&home.state_dir)?;
        fs::write(linger_note(home), "")?;
    }
    report.did(
        Action::Enabled,
        "lingering: tasks go on after your last logout, and start when the machine does",
    )
}

/// An entry in the autostart folder is read by desktops only: without one it would be a promise that nobody
/// keeps.
fn check_desktop(why: &str) -> Result<(), CommandError> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if ["XDG_CURRENT_DESKTOP", "WAYLAND_DISPLAY", "DISPLAY"].into_iter().any(is_set) {
        return Ok(());
    }
    let words = format!(
        "nothing here starts programs at login: there is no user manager of systemd ({why}) and no desktop; nothing was changed"
    );
    let is_container = is_set("container")
        || ["/.dockerenv", "/run/.containerenv"].map(Path::new).iter().any(|p| p.exists());
    let hint = if is_container {
        "in a container let `abided --foreground` be a program of its own; the first `abide` command starts the daemon too"
    } else if Path::new("/run/systemd/system").is_dir() {
        "log in as the user whose tasks it is for, at a terminal or by ssh; with su and sudo there is no login session"
    } else {
        "the first `abide` command starts the daemon; to start it with the machine, let your init system run `abided --foreground`"
    };
    Err(CommandError::failed(words).hinted(hint))
}
