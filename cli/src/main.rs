//! `abide`: the command line. It holds no state: it sends requests to the daemon and prints replies.
//!
//! * the command line's grammar: [`args`]; the commands: [`commands`], one file each
//! * completion in a shell: [`complete`]
//! * following a task live, for `run`, `chat`, `watch` and `demo`: [`follow`]
//! * output: [`output`], pure functions to text; input: [`prompt`], [`piped`]
//! * programs of systemd, for `daemon install`: [`systemd`]
//! * errors: [`error`] (kind, message, hints) and exit codes: [`exit`]
//!
//! Everything from a model, a tool or the daemon passes through [`output::text`] before it is written to a
//! terminal.

mod args;
mod clock;
mod commands;
mod complete;
mod connection;
mod error;
mod exit;
mod follow;
mod kind;
mod named;
mod output;
mod pages;
mod piped;
mod prompt;
mod replace;
mod request;
mod systemd;
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
            // Dropping the command restores the terminal.
            () = exit::terminated() => Ok(Exit::Terminated),
        }
    });
    // A thread may still block in a read of standard input; it is not waited for.
    runtime.shutdown_background();
    outcome
}
