use crate::{
    args::{Cli, CompletionsArgs},
    error::CommandError,
    exit::Exit,
};
use clap::CommandFactory as _;
use std::io::Write as _;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "abide", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}
