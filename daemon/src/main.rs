//! The `abided` process: arguments, log, runtime, signals.

mod check_command;
mod config_command;
mod doctor_command;
mod personas_command;
mod prompts_command;

use abide_client::home::Home;
use abide_daemon::{
    allocator,
    daemon::{self, HandOver, Options},
    instance::{Inherited, private_folder},
    logging,
    supervisor::Ending,
};
use std::{ffi::OsString, path::Path, process::ExitCode, sync::Arc, time::Duration};
use tokio::{runtime::Runtime, sync::watch};

const USAGE: &str = "abided: the Abide daemon. `abide` starts it when it is needed.

Usage: abided [--foreground]
       abided doctor [--json] [--rebuild | --backup FILE [--force] | --accept-loss [--yes]]
       abided check
       abided config check | reference
       abided prompts [--json] [--write]
       abided personas --write [--json]

  --foreground   log to stderr too
  check          say whether this program could start: configuration, keys and the database's version
  --version      print the version
  --help         print this help

ABIDE_HOME=DIR moves everything under one folder. ABIDE_LOG=FILTER says what is logged (default: info).";

/// The argument that makes this process a tool's helper.
const TOOL_HELPER: &str = "tool-helper";
/// How long running attempts may take to finish after a signal.
const DRAIN: Duration = Duration::from_secs(5);
/// How long an idle thread for blocking work stays: each keeps a stack and allocator memory.
const IDLE_THREAD: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or("?")).collect();
    match arguments.as_slice() {
        [TOOL_HELPER] => abide_tools::helper::main(),
        ["doctor", ..] => doctor_command::run(std::env::args_os().skip(2)),
        ["check"] => check_command::run(),
        ["config", what] => config_command::run(what),
        ["personas", arguments @ ..] => personas_command::run(arguments),
        ["prompts", arguments @ ..] => prompts_command::run(arguments),
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
    let ended = try_run(foreground).and_then(|hand_over| match hand_over {
        Some(hand_over) => execute(&hand_over, foreground),
        None => Ok(()),
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            tracing::error!("{e}");
            complain(&format!("abided: {e}"));
            ExitCode::FAILURE
        }
    }
}

/// Executes the program in this process, with the same arguments; if it has just been removed, this one again. Returns only if both fail.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "no process is started: this one goes on as the new program")]
fn execute(HandOver { program, bequest }: &HandOver, foreground: bool) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt as _;
    let (name, value) = bequest.keep_open()?;
    let arguments = foreground.then_some("--foreground");
    let run = |program: &Path| std::process::Command::new(program).args(arguments).env(name, &value).exec();
    let error = run(program);
    tracing::error!("cannot go over to {}: {error}; the program before goes on", program.display());
    let error = run(&helper_program()?);
    Err(anyhow::anyhow!("cannot go on: {error}; nothing is lost, the next client starts the daemon"))
}

#[cfg(not(unix))]
fn execute(_: &HandOver, _: bool) -> anyhow::Result<()> {
    Ok(())
}

fn try_run(foreground: bool) -> anyhow::Result<Option<HandOver>> {
    // Before anything is opened.
    let inherited = Inherited::from_env();
    let program = std::env::current_exe()?;
    allocator::limit_arenas();
    let home = Home::from_env()?;
    private_folder(&home.state_dir)?;
    private_folder(&home.log_dir())?;
    let _log = logging::init(&home.log_dir(), std::env::var(logging::VARIABLE).ok().as_deref(), foreground)?;
    let helper = tool_helper()?;
    let ending = Arc::new(watch::channel(None).0);
    let runtime = runtime()?;
    let ran = runtime.block_on(async {
        let signals = until_signal(ending.clone())?;
        let daemon = daemon::run(Options { home, program, helper, inherited }, ending.clone());
        tokio::pin!(signals, daemon);
        let ran = tokio::select! {
            ran = &mut daemon => ran,
            () = signals => daemon.await,
        };
        anyhow::Ok(ran?)
    });
    // A blocked thread (reading from a dead network share, for example) must not delay the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ran
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

/// From here on a signal asks the daemon to end, even while it starts. The returned future passes signals on and never ends.
#[cfg(unix)]
fn until_signal(ending: Arc<watch::Sender<Option<Ending>>>) -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let mut drain = DRAIN;
        loop {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            ending.send_replace(Some(Ending::Asked { drain }));
            // A second signal ends the daemon without a drain.
            drain = Duration::ZERO;
        }
    })
}

#[cfg(not(unix))]
fn until_signal(ending: Arc<watch::Sender<Option<Ending>>>) -> std::io::Result<impl Future<Output = ()>> {
    Ok(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return std::future::pending().await;
        }
        ending.send_replace(Some(Ending::Asked { drain: DRAIN }));
    })
}

#[expect(clippy::print_stdout, reason = "the answer to --help and --version")]
fn say(words: &str) -> ExitCode {
    println!("{words}");
    ExitCode::SUCCESS
}

#[expect(clippy::print_stderr, reason = "tells the user why the daemon does not run")]
fn complain(words: &str) {
    eprintln!("{words}");
}
