//! `abided config`: checks the configuration file, or prints the reference.

use crate::{complain, say, usage};
use abide_client::home::Home;
use abide_daemon::{
    config::{self, Config},
    keys::KeyStore,
};
use std::process::ExitCode;

pub(crate) fn run(what: &str) -> ExitCode {
    match what {
        "reference" => say(config::reference().trim_end()),
        "check" => match check() {
            Ok(words) => say(&words),
            Err(error) => {
                complain(&format!("error: {error}"));
                ExitCode::FAILURE
            }
        },
        _ => usage(),
    }
}

/// Reads the files that a starting daemon reads first. It starts with the configuration before instead of an invalid one, if it has
/// understood one before.
pub(crate) fn check() -> anyhow::Result<String> {
    let home = Home::from_env()?;
    let file = home.config_file();
    let text = Config::read(&file)?;
    Config::of_file(&file, text.as_deref())?;
    KeyStore::open(&home.key_file())?;
    let file = file.display();
    Ok(if text.is_some() {
        format!("{file} is valid")
    } else {
        format!("there is no {file}; the defaults apply")
    })
}
