//! The `abided` process: arguments, log, runtime, signals.

mod command;
mod failure;
mod fresh_start;
mod signals;

use abide_daemon::{
    allocator,
    daemon::{self, HandOver, Options},
    http::Kept,
    instance::{Inherited, Stayed, private_folder},
    logging,
};
use abide_fail_point::{Point, pass};
use abide_host::home::Home;
use anyhow::Context as _;
use std::{ffi::OsString, io::Write as _, path::Path, process::ExitCode, sync::Arc, time::Duration};
use tokio::{runtime::Runtime, sync::watch};

const USAGE: &str = "abided: the Abide daemon. `abide` starts it when it is needed.

Usage: abided [--foreground]
       abided doctor [--json] [--rebuild | --backup FILE [--force] | --salvage FILE [--force] | --accept-loss [--yes]]
       abided check
       abided config check | edit | reference [--json]
       abided memory install FILE | remove [--json]
       abided prompts [--json] [--write]
       abided personas --write [--json]

  --foreground   log to stderr too
  check          say whether this program could start: configuration, keys and the database's version
  --version      print the version
  --help         print this help

ABIDE_HOME=DIR moves everything under one folder. ABIDE_LOG=FILTER says what is logged (default: info).";

/// The argument that makes this process a tool's helper.
const TOOL_HELPER: &str = "tool-helper";
/// How long an idle thread for blocking work stays: each keeps a stack and allocator memory.
const IDLE_THREAD: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or("?")).collect();
    match arguments.as_slice() {
        [TOOL_HELPER] => abide_tools::helper::main(),
        ["doctor", ..] => command::doctor::run(std::env::args_os().skip(2)),
        ["memory", ..] => command::memory::run(std::env::args_os().skip(2)),
        ["check"] => command::check::run(),
        ["config", arguments @ ..] => command::config::run(arguments),
        ["personas", arguments @ ..] => command::personas::run(arguments),
        ["prompts", arguments @ ..] => command::prompts::run(arguments),
        ["--version"] => say(&format!("abided {}", env!("CARGO_PKG_VERSION"))),
        ["--help"] => say(USAGE),
        [] => run(false),
        ["--foreground"] => run(true),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    complain(USAGE);
    ExitCode::from(2)
}

fn run(foreground: bool) -> ExitCode {
    match try_run(foreground) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            tracing::error!("{e:#}");
            complain(&format!("abided: {e:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Executes the program in this process, with the same arguments; if that fails, this program again, which
/// says why. Returns only if both fail, or if a signal has asked the daemon to end.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "no process is started: this one goes on as the new program")]
fn execute(
    HandOver { program, instance, http }: HandOver,
    foreground: bool,
    log: logging::Logging,
) -> anyhow::Result<()> {
    use std::{os::unix::process::CommandExt as _, process::Command};
    let (name, value) = instance.keep_open().context(
        "the socket cannot be handed over to the new program; nothing is lost, the next client starts the daemon",
    )?;
    let command = |program: &Path| {
        let mut command = Command::new(program);
        command.args(foreground.then_some("--foreground")).env(name, &value);
        for stale in Stayed::NAMES {
            command.env_remove(stale);
        }
        match http.variable() {
            Some(urls) => command.env(Kept::NAME, urls),
            None => command.env_remove(Kept::NAME),
        };
        command
    };
    tracing::info!("going over to {}", program.display());
    pass(Point::HandOver);
    if signals::end_at_once() {
        tracing::info!("a signal asked the daemon to end before it went over");
        return Ok(());
    }
    // Lines that still wait would be lost.
    drop(log);
    let error = command(&program).exec();
    let stayed = Stayed { program, why: error.to_string() };
    let mut again = command(&helper_program()?);
    let error = again.arg0(&stayed.program).envs(stayed.variables()).exec();
    Err(error).context("cannot go on; nothing is lost, the next client starts the daemon")
}

#[cfg(not(unix))]
fn execute(_: HandOver, _: bool, _: logging::Logging) -> anyhow::Result<()> {
    Ok(())
}

fn try_run(foreground: bool) -> anyhow::Result<()> {
    // Before anything is opened.
    let inherited = Inherited::from_env();
    let program = match inherited.stayed() {
        Some(stayed) => stayed.program.clone(),
        None => std::env::current_exe()?,
    };
    allocator::limit_arenas();
    let home = Home::from_env()?;
    fresh_start::begin();
    private_folder(&home.state_dir)?;
    private_folder(&home.log_dir())?;
    let log = logging::init(&home.log_dir(), std::env::var(logging::VARIABLE).ok().as_deref(), foreground)?;
    fresh_start::warn();
    let helper = tool_helper()?;
    let http = std::env::var(Kept::NAME).map(|urls| Kept::from_variable(&urls)).unwrap_or_default();
    let ending = Arc::new(watch::channel(None).0);
    let runtime = runtime()?;
    let ran = runtime.block_on(async {
        let signals = signals::until_signal(ending.clone())?;
        let daemon = daemon::run(Options { home, program, helper, inherited, http }, ending.clone());
        tokio::pin!(signals, daemon);
        let ran = tokio::select! {
            ran = &mut daemon => ran,
            () = signals => daemon.await,
        };
        anyhow::Ok(ran?)
    });
    // A blocked thread (reading from a dead network share, for example) must not delay the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    match ran? {
        Some(hand_over) => execute(hand_over, foreground, log),
        None => Ok(()),
    }
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_keep_alive(IDLE_THREAD)
        .thread_name("abided")
        .enable_all()
        .build()
}

/// The command of tools' helpers.
fn tool_helper() -> std::io::Result<Vec<OsString>> {
    Ok(vec![helper_program()?.into(), TOOL_HELPER.into()])
}

/// This program's own file, even if an upgrade has replaced it at its path.
fn helper_program() -> std::io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Prints a line of a command's result. A reader that has read enough, as `head` does, is no failure.
fn say(words: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{words}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            complain(&format!("error: this could not be printed: {error}"));
            ExitCode::FAILURE
        }
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

#[expect(clippy::print_stderr, reason = "tells the user why the daemon does not run")]
fn complain(words: &str) {
    eprintln!("{words}");
}
