use crate::{args::CompletionsArgs, complete::VARIABLE, error::CommandError, exit::Exit};
use clap_complete::env::Shells;
use std::io::Write as _;

const PROGRAM: &str = "abide";

/// Prints a script that runs this program for completions, so that ids and models are completed too.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, CommandError> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let Some(shell) = shells.completer(&name) else {
        return Err(CommandError::usage(format!("there is no completion for {name}")));
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}
