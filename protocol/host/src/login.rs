//! What starts a daemon at login: two units of systemd's user manager, or an entry of the desktop's autostart
//! folder. This module knows the files; it starts nothing and writes nothing.

mod entry;
mod mark;
mod places;
mod unit;

pub use entry::entry;
pub use mark::{Found, marked};
pub use places::Places;
pub use unit::{Units, units};

use crate::Home;
use abide_protocol::start::AtLogin;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The unit of the daemon.
pub const SERVICE: &str = "abided.service";
/// The unit of its socket.
pub const SOCKET: &str = "abided.socket";
/// The name of the entry in the autostart folder.
pub const ENTRY: &str = "abided.desktop";
/// The variable that says to the daemon which program starts it: [`BY_CLIENT`] or [`BY_AUTOSTART`].
pub const STARTED_BY: &str = "ABIDE_STARTED_BY";
/// A client, because it needed the daemon.
pub const BY_CLIENT: &str = "client";
/// The desktop, at login.
pub const BY_AUTOSTART: &str = "autostart";

/// Why no unit or entry can be made.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error(
        "systemd or the desktop does not take the path {path:?}: it has quotes, backslashes or control characters, or is not UTF-8; \
         move it to another folder"
    )]
    UnfitPath { path: PathBuf },
    #[error(transparent)]
    Home(#[from] crate::home::HomeError),
}

/// What starts a daemon of this home at login.
#[must_use]
pub fn at_login(home: &Home) -> AtLogin {
    match Places::from_env() {
        Some(places) if cfg!(target_os = "linux") => look(&places, home),
        _ => AtLogin::Unknown,
    }
}

fn look(places: &Places, home: &Home) -> AtLogin {
    let is_ours = |path: &Path, line: fn(&str, &str) -> String| {
        fs::read_to_string(path).is_ok_and(|text| is_of(home, &text, line))
    };
    let shown = |path: &Path| path.display().to_string();
    if places.is_enabled(SERVICE)
        && let Some(unit) = places.unit(SERVICE).filter(|unit| is_ours(unit, unit::environment))
    {
        return AtLogin::Systemd(shown(&unit));
    }
    if is_ours(&places.entry, entry::variable) {
        AtLogin::Autostart(shown(&places.entry))
    } else {
        AtLogin::Nothing
    }
}

/// A unit that is enabled, or an entry that install has written, which starts the daemon of another home than
/// this one.
#[must_use]
pub fn of_another_home(places: &Places, home: &Home) -> Option<PathBuf> {
    let enabled = places.enabled_by_user(SERVICE).and_then(|_| places.unit(SERVICE));
    let unit = enabled
        .filter(|unit| fs::read_to_string(unit).is_ok_and(|text| !is_of(home, &text, unit::environment)));
    let is_other = |found: Found| matches!(found, Found::Ours(text) if !is_of(home, &text, entry::variable));
    unit.or_else(|| Found::at(&places.entry).is_ok_and(is_other).then(|| places.entry.clone()))
}

/// Whether a unit or an entry of this text starts the daemon of this home: it sets the variables that name
/// it, and no others.
fn is_of(home: &Home, text: &str, written: fn(&str, &str) -> String) -> bool {
    let wanted = variables(home);
    NAMES.iter().all(|name| match wanted.iter().find(|(wanted, _)| wanted == name) {
        Some((_, value)) => text.contains(&written(name, value)),
        None => !text.contains(&format!("{name}=")),
    })
}

/// The variables that lead to a home.
const NAMES: [&str; 4] = ["ABIDE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// The variables that a daemon needs to find this home, where it is not the default one. A path that is not
/// UTF-8 is replaced by one that no file has.
pub(crate) fn variables(home: &Home) -> Vec<(&'static str, String)> {
    let text = |path: &Path| path.to_str().unwrap_or("\0").to_owned();
    if let Some(root) = home.root() {
        return vec![("ABIDE_HOME", text(root))];
    }
    let Some(dirs) = directories::BaseDirs::new() else { return Vec::new() };
    let folders = [
        ("XDG_CONFIG_HOME", Some(dirs.config_dir()), ".config"),
        ("XDG_DATA_HOME", Some(dirs.data_dir()), ".local/share"),
        ("XDG_STATE_HOME", dirs.state_dir(), ".local/state"),
    ];
    folders
        .into_iter()
        .filter_map(|(name, found, default)| Some((name, found?, dirs.home_dir().join(default))))
        .filter(|(_, found, default)| found != default)
        .map(|(name, found, _)| (name, text(found)))
        .collect()
}

/// The path as text, if systemd and desktops take it.
fn fit(path: &Path) -> Result<&str, LoginError> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    text.ok_or_else(|| LoginError::UnfitPath { path: path.to_owned() })
}

#[cfg(test)]
mod tests;
