//! `abided personas --write`: writes the built-in personas to edit.

use super::prompts::written_files;
use crate::{failure, say, usage};
use abide_daemon::persona;
use abide_host::home::Home;
use std::process::ExitCode;

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let as_json = match arguments {
        ["--write"] => false,
        ["--write", "--json"] => true,
        _ => return usage(),
    };
    match write(as_json) {
        Ok(words) => say(&words),
        Err(error) => failure::failed(&error.to_string(), as_json),
    }
}

fn write(as_json: bool) -> anyhow::Result<String> {
    let folder = Home::from_env()?.personas_dir();
    written_files(&folder, persona::write_built_in(&folder), as_json)
}
