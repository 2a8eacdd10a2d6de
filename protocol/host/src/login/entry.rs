//! The entry of the autostart folder.

use super::{BY_AUTOSTART, LoginError, STARTED_BY, fit, variables};
use crate::Home;
use std::path::Path;

/// The text of the entry that starts this program for this home, without a mark.
///
/// # Errors
/// A desktop could not be given one of the paths.
pub fn entry(program: &Path, home: &Home) -> Result<String, LoginError> {
    let mut command = format!("env {STARTED_BY}={BY_AUTOSTART}");
    for (name, value) in variables(home) {
        fit(Path::new(&value))?;
        command.push(' ');
        command.push_str(&variable(name, &value));
    }
    command.push(' ');
    command.push_str(&word(fit(program)?));
    Ok(format!(
        "[Desktop Entry]\nType=Application\nName=Abide\nComment=Goes on with the tasks of your agents\nNoDisplay=true\nExec={command}\n"
    ))
}

pub(super) fn variable(name: &str, value: &str) -> String {
    word(&format!("{name}={value}"))
}

/// As one argument of an `Exec` line: quoted, and then escaped as every value of an entry is (Desktop Entry
/// Specification).
fn word(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '`' | '$' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted.replace('\\', r"\\").replace('%', "%%")
}
