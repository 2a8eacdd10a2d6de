//! `abide`: the command line. It holds no truth: it asks the daemon, shows what it says and carries a person's words back.
//!
//! * what can be typed: [`args`]; what happens then: [`commands`], one file a verb
//! * what Tab offers in a shell: [`complete`]
//! * following a task live, for `run`, `chat`, `watch` and `demo`: [`follow`]
//! * what is shown: [`output`], pure functions to text; what a person types: [`prompt`]
//! * how it ends: [`error`] (kind, words, hints) and [`exit`] (the number)
//!
//! Everything that comes from a model, a tool or the daemon passes through [`output::text`] before a terminal sees it.

mod args;
mod clock;
mod commands;
mod complete;
mod connection;
mod error;
mod exit;
mod follow;
mod kind;
mod output;
mod pages;
mod prompt;
mod replace;
mod request;
mod verdict;

use crate::{args::Cli, error::CommandError, exit::Exit};
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match complete::answered() {
        Ok(false) => {}
        Ok(true) => return Exit::Done.into(),
        Err(usage) => return error::show_usage(&usage, false),
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return error::show_usage(&usage, args::asks_for_json(std::env::args_os())),
    };
    cli.color.write_global();
    let json = cli.json;
    let exit = match run(cli) {
        Ok(exit) => exit,
        Err(failed) => {
            if json {
                failed.show_json();
            } else {
                failed.show();
            }
            failed.exit()
        }
    };
    ExitCode::from(exit)
}

fn run(cli: Cli) -> Result<Exit, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = commands::dispatch(cli) => outcome,
            // Dropping the command gives the terminal back as it was found.
            () = exit::terminated() => Ok(Exit::Terminated),
        }
    });
    // A read of standard input may still block a thread; nobody waits for it any more.
    runtime.shutdown_background();
    outcome
}
