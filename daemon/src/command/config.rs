//! `abided config`: checks the configuration file, lets a person edit it, or prints the reference.

#[cfg(unix)]
mod edit;

use crate::{failure, say, usage};
use abide_daemon::{
    config::{self, Config},
    keys::KeyStore,
};
use abide_host::home::Home;
use serde_json::json;
use std::{path::PathBuf, process::ExitCode};

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    match arguments {
        ["reference"] => print_reference(config::reference(), false),
        ["reference", "--json"] => print_reference(config::reference_json(), true),
        #[cfg(unix)]
        ["edit"] => edit::run(false),
        #[cfg(unix)]
        ["edit", "--json"] => edit::run(true),
        ["check"] => print_check(false),
        ["check", "--json"] => print_check(true),
        _ => usage(),
    }
}

fn print_reference(page: Result<String, toml::de::Error>, as_json: bool) -> ExitCode {
    match page {
        Ok(page) => say(page.trim_end()),
        Err(error) => failure::failed(&error.to_string(), as_json),
    }
}

fn print_check(as_json: bool) -> ExitCode {
    let Checked { file, exists } = match check() {
        Ok(checked) => checked,
        Err(error) => return failure::failed(&error.to_string(), as_json),
    };
    say(&match (as_json, exists) {
        (true, _) => json!({ "file": file, "exists": exists, "valid": true }).to_string(),
        (false, true) => format!("{} is valid", file.display()),
        (false, false) => format!("there is no {}; the defaults apply", file.display()),
    })
}

/// A configuration file that a daemon can use. A missing one means the defaults.
pub(crate) struct Checked {
    file: PathBuf,
    exists: bool,
}

/// Reads the files that a starting daemon reads first. It starts with the configuration before instead of an
/// invalid one, if it has understood one before.
pub(crate) fn check() -> anyhow::Result<Checked> {
    let home = Home::from_env()?;
    let file = home.config_file();
    let text = Config::read(&file)?;
    Config::of_file(&file, text.as_deref())?;
    KeyStore::open(&home.key_file())?;
    Ok(Checked { file, exists: text.is_some() })
}
