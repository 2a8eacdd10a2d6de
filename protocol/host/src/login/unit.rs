//! The text of the units: that of the packages, with this home's program and paths.

use super::{LoginError, Places, SERVICE, SOCKET, fit, variables};
use crate::Home;
use std::{env, fs, path::Path};

const SERVICE_TEXT: &str = include_str!("../../../../packaging/linux/abided.service.in");
const SOCKET_TEXT: &str = include_str!("../../../../packaging/linux/abided.socket.in");

/// The texts of the two units, without a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    pub service: String,
    pub socket: String,
}

/// The units that run this program for this home.
///
/// # Errors
/// systemd could not be given one of the paths.
pub fn units(program: &Path, home: &Home) -> Result<Units, LoginError> {
    let path = fit(program)?;
    // systemd refuses a program with one of these in its path, however it is quoted.
    if path.contains(['"', '\'', '\\']) {
        return Err(LoginError::UnfitPath { path: program.to_owned() });
    }
    let mut service = SERVICE_TEXT.replace("@bindir@/abided", &quoted(path));
    for (name, value) in variables(home) {
        fit(Path::new(&value))?;
        let line = environment(name, &value);
        service = service.replace("[Service]\n", &format!("[Service]\n{line}\n"));
    }
    let socket = home.socket()?;
    let runtime = env::var_os("XDG_RUNTIME_DIR").unwrap_or_default();
    // systemd sets the variable for what it starts, and calls it `%t`.
    let address = match socket.strip_prefix(&runtime) {
        Ok(beneath) if !runtime.is_empty() => format!("%t/{}", fit(beneath)?.replace('%', "%%")),
        _ => fit(&socket)?.replace('%', "%%"),
    };
    let socket = SOCKET_TEXT.replace("%t/abide/v1/abide.sock", &address);
    Ok(Units { service, socket })
}

impl Units {
    /// Whether units of packages, which no file of the user's own replaces, run the same program for the same
    /// home.
    #[must_use]
    pub fn are_packaged(&self, places: &Places) -> bool {
        [(SERVICE, &self.service), (SOCKET, &self.socket)].into_iter().all(|(name, text)| {
            let packaged = places.unit(name).filter(|unit| !unit.starts_with(&places.units));
            packaged
                .and_then(|unit| fs::read_to_string(unit).ok())
                .is_some_and(|there| settings(&there) == settings(text))
        })
    }
}

/// What decides which daemon a unit runs, and where it listens.
fn settings(unit: &str) -> Vec<String> {
    let decides =
        |line: &&str| ["ExecStart=", "Environment=", "ListenStream="].iter().any(|key| line.starts_with(key));
    unit.lines().filter(decides).map(|line| line.replace('"', "")).collect()
}

/// The line that sets a variable.
pub(super) fn environment(name: &str, value: &str) -> String {
    format!("Environment={}", quoted(&format!("{name}={value}")))
}

/// As one word of systemd.syntax(7), in which nothing is replaced.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%"))
}
