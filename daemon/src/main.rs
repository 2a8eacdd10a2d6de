//! The `abided` process: arguments, log, runtime, signals.

use abide_client::{home::Home, text::visible_line};
use abide_daemon::{
    daemon::{self, Ending, Options},
    doctor::{self, Finding, Health},
    instance::private_folder,
    logging, memory,
};
use std::{ffi::OsString, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};
use tokio::{runtime::Runtime, sync::watch};

const USAGE: &str = "abided: the Abide daemon. `abide` starts it when it is needed.

Usage: abided [--foreground]
       abided doctor [--json] [--rebuild | --backup FILE]

  --foreground   log to stderr too
  --version      say the version
  --help         say this

ABIDE_HOME=DIR moves everything under one folder. ABIDE_LOG=FILTER says what is logged (default: info).";

/// The argument that makes this process a tool's helper.
const TOOL_HELPER: &str = "tool-helper";
/// How long work gets to come to a boundary after a signal.
const DRAIN: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or("?")).collect();
    match arguments.as_slice() {
        [TOOL_HELPER] => abide_tools::helper::main(),
        ["doctor", ..] => doctor(std::env::args_os().skip(2).collect()),
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
            tracing::error!("{e}");
            complain(&format!("abided: {e}"));
            ExitCode::FAILURE
        }
    }
}

/// What the arguments after `doctor` mean.
enum Cure {
    Examine,
    Rebuild,
    Backup(PathBuf),
}

fn doctor(arguments: Vec<OsString>) -> ExitCode {
    let mut cure = Cure::Examine;
    let mut json = false;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match (argument.to_str(), &cure) {
            (Some("--json"), _) => json = true,
            (Some("--rebuild"), Cure::Examine) => cure = Cure::Rebuild,
            (Some("--backup"), Cure::Examine) => match arguments.next() {
                Some(file) => cure = Cure::Backup(file.into()),
                None => return usage(),
            },
            _ => return usage(),
        }
    }
    match try_doctor(cure, json) {
        Ok(code) => code,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn try_doctor(cure: Cure, json: bool) -> anyhow::Result<ExitCode> {
    let home = Home::from_env()?;
    match cure {
        Cure::Examine => {
            let findings = runtime()?.block_on(doctor::examine(&home));
            if json {
                say(&serde_json::to_string(&findings)?);
            } else {
                findings.iter().for_each(show);
            }
            let is_well = findings.iter().all(|finding| finding.health < Health::Bad);
            Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Cure::Rebuild => {
            let rebuilt = runtime()?.block_on(doctor::rebuild(&home))?;
            if json {
                return Ok(say(&serde_json::to_string(&rebuilt)?));
            }
            Ok(match rebuilt.different.as_slice() {
                [] => say(&format!(
                    "{} conversations rebuilt from their records: all equal",
                    rebuilt.conversations
                )),
                some => {
                    let ids: Vec<String> = some.iter().map(|id| id.short()).collect();
                    say(&format!(
                        "{} conversations rebuilt from their records; different before: {}",
                        rebuilt.conversations,
                        ids.join(" ")
                    ))
                }
            })
        }
        Cure::Backup(to) => {
            abide_store::Store::copy(&home.database(), &to)?;
            let words = format!("{} is a copy of {}", to.display(), home.database().display());
            Ok(say(&if json {
                serde_json::json!({ "backup": to, "of": home.database() }).to_string()
            } else {
                words
            }))
        }
    }
}

fn show(finding: &Finding) {
    let mark = match finding.health {
        Health::Good => "✓",
        Health::Noted => "!",
        Health::Bad => "✗",
    };
    say(&format!("{mark} {}: {}", finding.about, visible_line(&finding.words)));
}

fn try_run(foreground: bool) -> anyhow::Result<()> {
    memory::bound();
    let home = Home::from_env()?;
    private_folder(&home.state_dir)?;
    private_folder(&home.log_dir())?;
    let _log = logging::init(&home.log_dir(), std::env::var(logging::VARIABLE).ok().as_deref(), foreground)?;
    let helper = vec![helper_program()?.into(), TOOL_HELPER.into()];
    let ending = Arc::new(watch::channel(None).0);
    let runtime = runtime()?;
    let ran = runtime.block_on(async {
        let signals = until_signal(ending.clone())?;
        let daemon = daemon::run(Options { home, helper }, ending.clone());
        tokio::pin!(signals, daemon);
        let ran = tokio::select! {
            ran = &mut daemon => ran,
            () = signals => daemon.await,
        };
        anyhow::Ok(ran?)
    });
    // What still blocks a thread (a look at a file on a dead network share, say) must not hold up the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ran
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("abided").enable_all().build()
}

/// This very program, even if its file has been replaced by an upgrade meanwhile.
fn helper_program() -> std::io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// From now on a signal asks the daemon to end, also while it starts; the future, which passes that on, does not end.
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
            // Whoever says it again has no time.
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

#[expect(clippy::print_stderr, reason = "whoever starts the daemon reads why it does not run")]
fn complain(words: &str) {
    eprintln!("{words}");
}
