//! `abided memory`: installs the model that says what texts mean, or removes it.

use crate::{failure, usage};
use abide_daemon::instance::private_folder;
use abide_host::home::Home;
use anyhow::Context as _;
use std::{ffi::OsString, fs, io, path::Path, process::ExitCode};

/// A running daemon uses the model, or does without, from its next use on.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (flags, arguments): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument == "--json");
    let done = match arguments.as_slice() {
        [what, from] if what == "install" => install(Path::new(from)),
        [what] if what == "remove" => remove(),
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::failed(&format!("{error:#}"), !flags.is_empty()),
    }
}

fn install(from: &Path) -> anyhow::Result<()> {
    let home = Home::from_env()?;
    private_folder(&home.data_dir)?;
    Ok(abide_embedding::install(from, &home.embedding_model())?)
}

fn remove() -> anyhow::Result<()> {
    let model = Home::from_env()?.embedding_model();
    match fs::remove_file(&model) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", model.display()))
        }
        _ => Ok(()),
    }
}
