use super::{
    Diagnosis,
    running::{AskError, RunningDaemon},
};
use crate::{
    catalog::Catalog,
    config::{Config, ConfigError},
    http::Http,
    keys::KeyStore,
    notify::SystemDesktop,
};
use abide_host::{
    home::{self, Home},
    login,
};
use abide_protocol::{
    method::{
        ListModels, Status,
        daemon::{ListModelsParams, StatusParams, StatusReply},
    },
    sandbox::SandboxLevel,
    start::{AtLogin, StartedBy, SystemdStart},
};
use abide_store::{Integrity, Store};
use futures_util::future::LocalBoxFuture;
use std::{ffi::OsString, path::Path, sync::Arc};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// With less free space than this, the user is told.
const LITTLE_ROOM: u64 = 256 * 1024 * 1024;

/// Checks everything that a daemon of this home needs, reading the whole database. Changes nothing, and
/// starts nothing but `helper`, the command of [`abide_tools::helper`], and the user's login shell.
pub fn examine(home: &Home, helper: Vec<OsString>) -> LocalBoxFuture<'_, Vec<Diagnosis>> {
    // Boxed, like [`crate::daemon::run`].
    Box::pin(look(home, helper))
}

async fn look(home: &Home, helper: Vec<OsString>) -> Vec<Diagnosis> {
    let mut diagnoses: Vec<Diagnosis> = folders(home);
    let mut daemon = Daemon::of(home).await;
    diagnoses.push(daemon.diagnosis());
    diagnoses.push(start(home, &daemon));
    diagnoses.extend(socket(home));
    diagnoses.push(database(home).await);
    diagnoses.extend(room(home));
    let config = Config::load(&home.config_file());
    diagnoses.push(configuration(home, &config, &daemon));
    diagnoses.extend(tokens(home));
    diagnoses.extend(config.as_ref().ok().map(|config| super::prompts::diagnosis(home, config)));
    let wants_notifications = config.as_ref().map_or(true, |config| config.notify.enabled);
    diagnoses.extend(models(home, config, &mut daemon).await);
    diagnoses.push(notifications(wants_notifications).await);
    diagnoses.extend(programs());
    diagnoses.push(super::environment::diagnosis().await);
    diagnoses.push(sandbox(&daemon, helper).await);
    diagnoses
}

/// The sandbox that commands get. Without a running daemon it is tried here.
async fn sandbox(daemon: &Daemon, helper: Vec<OsString>) -> Diagnosis {
    let (level, why_not) = match daemon {
        Daemon::Answers(_, status) => (status.sandbox.level, status.sandbox.why_not.clone()),
        _ => {
            let tried = tokio::task::spawn_blocking(|| abide_tools::try_sandbox(helper));
            tried.await.unwrap_or_default()
        }
    };
    let means = match level {
        SandboxLevel::Full => {
            "full: where what they do can be undone, commands run without asking, and cannot do harm outside of their folder"
        }
        SandboxLevel::Landlock => "landlock: commands are confined, and ask",
        SandboxLevel::None => "none: a command can do all that you can; every one asks, and --yes is refused",
    };
    let words = why_not.iter().fold(means.to_owned(), |words, why| format!("{words}; {why}"));
    match level {
        SandboxLevel::Full => Diagnosis::good("sandbox", words),
        SandboxLevel::Landlock | SandboxLevel::None => Diagnosis::noted("sandbox", words),
    }
}

/// The tokens of devices, if something is wrong with their file.
fn tokens(home: &Home) -> Option<Diagnosis> {
    let fault = Http::new(home.token_file()).token_fault()?;
    Some(Diagnosis::bad("tokens", format!("no device is let in: {fault}")))
}

fn folders(home: &Home) -> Vec<Diagnosis> {
    let folders = [&home.config_dir, &home.data_dir, &home.state_dir, &home.run_dir];
    let diagnoses: Vec<Diagnosis> = folders.into_iter().filter_map(|folder| folder_trouble(folder)).collect();
    if !diagnoses.is_empty() {
        return diagnoses;
    }
    let folder = home.data_dir.display();
    let words = if home.data_dir.exists() {
        folder.to_string()
    } else {
        format!("none yet at {folder}; the first start creates it")
    };
    vec![Diagnosis::good("home", words)]
}

fn folder_trouble(folder: &Path) -> Option<Diagnosis> {
    let found = match std::fs::symlink_metadata(folder) {
        Ok(found) => found,
        // The first start creates it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            return Some(Diagnosis::bad("home", format!("cannot read {}: {error}", folder.display())));
        }
    };
    if !found.is_dir() {
        let words = format!("{} is not a folder, and Abide needs one there: move it away", folder.display());
        return Some(Diagnosis::bad("home", words));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if found.mode() & 0o077 != 0 {
            let words = format!("other users can read {}: the next start makes it private", folder.display());
            return Some(Diagnosis::noted("home", words));
        }
        if found.uid() != rustix::process::getuid().as_raw() {
            let words = format!("{} belongs to another user; give it to you: chown", folder.display());
            return Some(Diagnosis::bad("home", words));
        }
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        if let Err(error) = rustix::fs::access(folder, access) {
            let words = format!("cannot write into {} ({error}); make it writable", folder.display());
            return Some(Diagnosis::bad("home", words));
        }
    }
    None
}

/// The state of this home's daemon.
enum Daemon {
    /// It answers; its own status.
    Answers(RunningDaemon, Box<StatusReply>),
    /// It holds its lock but does not listen.
    NotListening,
    NotRunning,
    Failing(String),
}

impl Daemon {
    async fn of(home: &Home) -> Self {
        // Where systemd holds the socket, connecting would start a daemon.
        if !home::is_held(home) {
            return Self::NotRunning;
        }
        let asked = async {
            let mut daemon = RunningDaemon::connect(home).await?;
            let status = daemon.call::<Status>(StatusParams::default()).await?;
            Ok((daemon, status))
        };
        match asked.await {
            Ok((daemon, status)) => Self::Answers(daemon, Box::new(status)),
            Err(AskError::NotListening) => Self::NotListening,
            Err(error) => Self::Failing(format!("it runs but does not answer: {error}")),
        }
    }

    fn diagnosis(&self) -> Diagnosis {
        const ABOUT: &str = "daemon";
        let status = match self {
            Self::Answers(_, status) => status,
            Self::NotListening => {
                let words = "it holds its lock but does not listen: it is starting or ending; if that lasts, see `abide daemon logs`";
                return Diagnosis::noted(ABOUT, words);
            }
            Self::NotRunning => return Diagnosis::good(ABOUT, "not running; it starts when it is needed"),
            Self::Failing(words) => return Diagnosis::bad(ABOUT, words),
        };
        let tasks = status.tasks;
        let words = format!(
            "version {}, pid {}: {} running, {} waiting, {} paused",
            status.version, status.pid, tasks.running, tasks.waiting, tasks.paused
        );
        if status.daemon.storage_damaged {
            return Diagnosis::bad(ABOUT, format!("{words}; it has found the database damaged, see below"));
        }
        if status.daemon.storage_full {
            let full = "the disk is full: nothing is lost, everything waits for room";
            return Diagnosis::bad(ABOUT, format!("{words}; {full}"));
        }
        if status.version != VERSION {
            let advice = format!("{VERSION} is installed: `abide daemon restart` lets it take over");
            return Diagnosis::noted(ABOUT, format!("{words}; {advice}"));
        }
        if status.daemon.shutting_down {
            return Diagnosis::noted(ABOUT, format!("{words}; it is ending"));
        }
        Diagnosis::good(ABOUT, words)
    }
}

/// Who started the daemon that runs, and what starts one at login.
fn start(home: &Home, daemon: &Daemon) -> Diagnosis {
    let by = match daemon {
        Daemon::Answers(_, status) => match &status.start.by {
            StartedBy::Client => "a client started it; ",
            StartedBy::Terminal => "somebody started it in a terminal; ",
            StartedBy::Autostart => "the desktop started it; ",
            StartedBy::Systemd(SystemdStart { unit: Some(_), .. }) => "systemd started it; ",
            StartedBy::Systemd(_) | StartedBy::Program => "another program started it; ",
        },
        Daemon::NotListening | Daemon::NotRunning | Daemon::Failing(_) => "",
    };
    let at_login = match login::at_login(home) {
        AtLogin::Unknown => "what starts it at login is unknown on this system".to_owned(),
        AtLogin::Nothing => "at login nothing starts it: `abide daemon install` changes that".to_owned(),
        AtLogin::Systemd(unit) => format!("at login systemd starts it: {unit}"),
        AtLogin::Autostart(entry) => format!("at login the desktop starts it: {entry}"),
    };
    Diagnosis::good("start", format!("{by}{at_login}"))
}

fn socket(home: &Home) -> Option<Diagnosis> {
    const ABOUT: &str = "socket";
    let path = match home.socket() {
        Ok(path) => path,
        Err(error) => return Some(Diagnosis::bad(ABOUT, error.to_string())),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let found = std::fs::symlink_metadata(&path).ok()?;
        if !found.file_type().is_socket() {
            let words =
                format!("{} is not a socket, and the daemon needs that path: move it away", path.display());
            return Some(Diagnosis::bad(ABOUT, words));
        }
        if !home::is_held(home) && matches!(login::at_login(home), AtLogin::Systemd(_)) {
            let words =
                format!("{}: systemd listens there, and the first client starts the daemon", path.display());
            return Some(Diagnosis::good(ABOUT, words));
        }
        if !home::is_held(home) {
            let words =
                format!("{} was left by a daemon that died: the next start replaces it", path.display());
            return Some(Diagnosis::good(ABOUT, words));
        }
    }
    Some(Diagnosis::good(ABOUT, path.display().to_string()))
}

async fn database(home: &Home) -> Diagnosis {
    const ABOUT: &str = "database";
    if super::is_unused(home) {
        return Diagnosis::good(ABOUT, "none yet; the first start creates it");
    }
    let path = home.database();
    let look = {
        let path = path.clone();
        move || Store::examine(&path)
    };
    let found = match tokio::task::spawn_blocking(look).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Diagnosis::bad(ABOUT, error.to_string()),
        Err(error) => return Diagnosis::bad(ABOUT, format!("it could not be examined: {error}")),
    };
    match found.integrity {
        Integrity::Damaged(what) => Diagnosis::bad(
            ABOUT,
            format!(
                "{} is damaged ({}); stop the daemon, move the file away together with its -wal, -shm and -newest files, and put a backup in its place; a damage that is in no record `abide doctor --rebuild` repairs, and \
                 `abide doctor --salvage FILE` writes what can be read to a new one",
                path.display(),
                what.join("; ")
            ),
        ),
        Integrity::Sound => {
            let mut words = format!(
                "sound: {} records of {} conversations, {} KiB, schema {}",
                found.records,
                found.conversations,
                found.bytes.div_ceil(1024),
                found.schema
            );
            if found.schema < found.newest_schema {
                words.push_str(&format!(
                    "; the next start brings it to {}, after a backup",
                    found.newest_schema
                ));
            }
            if found.lacks_mark && found.records > 0 {
                words.push_str(
                    "; its newest-record mark (abide.db-newest) is missing, so a loss of the newest records would go unnoticed until the next \
                     start makes it anew",
                );
                return Diagnosis::noted(ABOUT, words);
            }
            Diagnosis::good(ABOUT, words)
        }
    }
}

#[cfg(unix)]
fn room(home: &Home) -> Option<Diagnosis> {
    let found = rustix::fs::statvfs(&home.data_dir).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let words = format!("{} MiB free for {}", free / 1024 / 1024, home.data_dir.display());
    Some(if free < LITTLE_ROOM {
        Diagnosis::noted("disk", format!("{words}: when it is full, tasks wait until there is room"))
    } else {
        Diagnosis::good("disk", words)
    })
}

#[cfg(not(unix))]
fn room(_: &Home) -> Option<Diagnosis> {
    None
}

/// The file's validity, and whether a running daemon uses it.
fn configuration(home: &Home, config: &Result<Config, ConfigError>, daemon: &Daemon) -> Diagnosis {
    let (path, last_good) = (&home.config_file(), &home.last_good_config());
    const ABOUT: &str = "config";
    match config {
        Ok(_) if path.exists() => Diagnosis::good(ABOUT, path.display().to_string()),
        Ok(_) => Diagnosis::good(ABOUT, format!("none at {}: defaults", path.display())),
        Err(error) if matches!(daemon, Daemon::Answers(..)) => {
            Diagnosis::bad(ABOUT, format!("{error}; until then what the daemon read before stays in force"))
        }
        Err(error) if matches!(Config::read(last_good), Ok(Some(_))) => Diagnosis::bad(
            ABOUT,
            format!("{error}; until then a daemon starts with what was in force before"),
        ),
        Err(error) => Diagnosis::bad(ABOUT, format!("{error}; until then no daemon starts")),
    }
}

/// Each provider's models, as seen by the daemon if it runs: its environment and keys are not this shell's.
async fn models(home: &Home, config: Result<Config, ConfigError>, daemon: &mut Daemon) -> Vec<Diagnosis> {
    if let Daemon::Answers(running, _) = daemon {
        return match running.call::<ListModels>(ListModelsParams::default()).await {
            Ok(listed) => super::models::diagnoses(&listed),
            Err(error) => {
                vec![Diagnosis::bad("provider", format!("the daemon cannot list its models: {error}"))]
            }
        };
    }
    let Ok(config) = config else { return Vec::new() };
    let kept = match KeyStore::open(&home.key_file()) {
        Ok(kept) => Arc::new(kept),
        Err(error) => return vec![Diagnosis::bad("keys", error.to_string())],
    };
    let variable = Arc::new(|name: &str| std::env::var(name).ok());
    super::models::diagnoses(&Catalog::new(config, kept, variable).list(&ListModelsParams::default()).await)
}

/// Tools whose program is not on this shell's `PATH`, which is that of the tasks started in it.
fn programs() -> Vec<Diagnosis> {
    let words = |(tool, program): (String, &str)| {
        format!("there is no {program} on the PATH, so tasks have no tool `{tool}`; install it to offer it")
    };
    let missing = abide_tools::missing(std::env::var("PATH").ok().as_deref());
    missing.into_iter().map(|missing| Diagnosis::noted("tools", words(missing))).collect()
}

async fn notifications(wanted: bool) -> Diagnosis {
    const ABOUT: &str = "notifications";
    if !wanted {
        return Diagnosis::noted(ABOUT, "switched off in config.toml");
    }
    match SystemDesktop::describe().await {
        Ok(server) => Diagnosis::good(ABOUT, server),
        Err(error) => Diagnosis::noted(
            ABOUT,
            format!("no notification server ({error}); `abide inbox` and the window show what waits for you"),
        ),
    }
}
