use super::Finding;
use crate::{catalog::Catalog, config::Config, keys::KeyStore, notify::SystemDesktop};
use abide_client::{
    Client, ConnectError,
    home::{self, Home},
    protocol::{
        method::{Status, daemon::StatusParams},
        provider::KeyState,
    },
};
use abide_store::{Integrity, Store};
use std::{path::Path, sync::Arc};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Free bytes below which a person may want to know.
const LITTLE_ROOM: u64 = 256 * 1024 * 1024;

/// Looks at everything that a daemon of this home needs. Changes nothing and starts nothing; reads the whole database.
pub async fn examine(home: &Home) -> Vec<Finding> {
    let mut findings: Vec<Finding> = folders(home);
    findings.push(daemon(home).await);
    findings.extend(socket(home));
    findings.push(database(home).await);
    findings.extend(room(home));
    match Config::load(&home.config_file()) {
        Ok(config) => {
            let path = home.config_file();
            let words = if path.exists() {
                path.display().to_string()
            } else {
                format!("none at {}: defaults", path.display())
            };
            findings.push(Finding::good("config", words));
            let config = Arc::new(config);
            findings.extend(models(home, &config).await);
            findings.push(notifications(&config).await);
        }
        Err(error) => findings.push(Finding::bad("config", error.to_string())),
    }
    findings.push(Finding::noted(
        "sandbox",
        "none yet: a tool can do all that you can. Approvals show what will run; \"always\" and --yes skip them",
    ));
    findings
}

fn folders(home: &Home) -> Vec<Finding> {
    let folders = [&home.config_dir, &home.data_dir, &home.state_dir, &home.run_dir];
    let findings: Vec<Finding> = folders.into_iter().filter_map(|folder| folder_trouble(folder)).collect();
    if findings.is_empty() {
        return vec![Finding::good("home", home.data_dir.display().to_string())];
    }
    findings
}

fn folder_trouble(folder: &Path) -> Option<Finding> {
    let found = match std::fs::symlink_metadata(folder) {
        Ok(found) => found,
        // The first start creates it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            return Some(Finding::bad("home", format!("cannot look at {}: {error}", folder.display())));
        }
    };
    if !found.is_dir() {
        let words = format!("{} is in the way: Abide needs a folder there; move it away", folder.display());
        return Some(Finding::bad("home", words));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if found.mode() & 0o077 != 0 {
            let words = format!("others can look into {}: the next start closes it", folder.display());
            return Some(Finding::noted("home", words));
        }
        if found.uid() != rustix::process::getuid().as_raw() {
            let words = format!("{} belongs to another user; give it to you: chown", folder.display());
            return Some(Finding::bad("home", words));
        }
    }
    None
}

async fn daemon(home: &Home) -> Finding {
    const ABOUT: &str = "daemon";
    let client = match Client::connect(home, abide_client::Options::new("abided-doctor", VERSION)).await {
        Ok(client) => client,
        Err(ConnectError::NotRunning { .. }) if home::is_held(home) => {
            let words = "it holds its lock but does not listen: it is starting or ending; else look at `abide daemon logs`";
            return Finding::noted(ABOUT, words);
        }
        Err(ConnectError::NotRunning { .. }) => {
            return Finding::good(ABOUT, "not running; it starts when it is needed");
        }
        Err(error) => return Finding::bad(ABOUT, error.to_string()),
    };
    match client.call::<Status>(StatusParams::default()).await {
        Ok(status) if status.version != VERSION => Finding::noted(
            ABOUT,
            format!(
                "version {} runs, {VERSION} is installed: `abide daemon restart` lets it take over",
                status.version
            ),
        ),
        Ok(status) if status.daemon.storage_full => {
            Finding::bad(ABOUT, "it runs, but the disk is full: nothing is lost, everything waits for room")
        }
        Ok(status) => {
            let tasks = status.tasks;
            Finding::good(
                ABOUT,
                format!(
                    "version {}, pid {}: {} running, {} waiting, {} paused",
                    status.version, status.pid, tasks.running, tasks.waiting, tasks.paused
                ),
            )
        }
        Err(error) => Finding::bad(ABOUT, format!("it runs but does not answer: {error}")),
    }
}

fn socket(home: &Home) -> Option<Finding> {
    const ABOUT: &str = "socket";
    let path = match home.socket() {
        Ok(path) => path,
        Err(error) => return Some(Finding::bad(ABOUT, error.to_string())),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let found = std::fs::symlink_metadata(&path).ok()?;
        if !found.file_type().is_socket() {
            let words = format!("{} is in the way of the socket; move it away", path.display());
            return Some(Finding::bad(ABOUT, words));
        }
        if !home::is_held(home) {
            let words =
                format!("{} is left of a daemon that died: the next start replaces it", path.display());
            return Some(Finding::good(ABOUT, words));
        }
    }
    Some(Finding::good(ABOUT, path.display().to_string()))
}

async fn database(home: &Home) -> Finding {
    const ABOUT: &str = "database";
    let path = home.database();
    let is_left = |name: &str| home.data_dir.join(name).exists();
    if !path.exists() && !is_left("abide.db-wal") && !is_left("abide.db-newest") {
        return Finding::good(ABOUT, "none yet; the first start creates it");
    }
    let look = {
        let path = path.clone();
        move || Store::examine(&path)
    };
    let found = match tokio::task::spawn_blocking(look).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Finding::bad(ABOUT, error.to_string()),
        Err(error) => return Finding::bad(ABOUT, format!("it was not looked at: {error}")),
    };
    match found.integrity {
        Integrity::Damaged(what) => Finding::bad(
            ABOUT,
            format!(
                "{} is damaged ({}); stop the daemon, move the file away together with its -wal, -shm and -newest files, and put a backup in its place",
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
            Finding::good(ABOUT, words)
        }
    }
}

#[cfg(unix)]
fn room(home: &Home) -> Option<Finding> {
    let found = rustix::fs::statvfs(&home.data_dir).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let words = format!("{} MiB free for {}", free / 1024 / 1024, home.data_dir.display());
    Some(if free < LITTLE_ROOM {
        Finding::noted("disk", format!("{words}: when it is full, tasks wait until there is room"))
    } else {
        Finding::good("disk", words)
    })
}

#[cfg(not(unix))]
fn room(_: &Home) -> Option<Finding> {
    None
}

/// Asks each provider what it has.
async fn models(home: &Home, config: &Arc<Config>) -> Vec<Finding> {
    let variable = |name: &str| std::env::var(name).ok();
    let keys = match KeyStore::open(&home.key_file(), config, variable) {
        Ok(keys) => Arc::new(keys),
        Err(error) => return vec![Finding::bad("keys", error.to_string())],
    };
    let listed = Catalog::new(Arc::clone(config), keys, variable("OPENAI_BASE_URL")).list(false).await;
    let mut findings = Vec::new();
    for provider in listed.providers {
        let name = provider.name;
        let is_default = listed.default.model.split('/').next() == Some(name.as_str());
        findings.push(match (provider.problem, provider.models.len()) {
            _ if provider.key == KeyState::Missing => {
                Finding::noted("provider", format!("{name}: no key; `abide key set {name}` stores one"))
            }
            (Some(problem), _) if is_default => Finding::bad("provider", problem),
            (Some(problem), _) => Finding::noted("provider", problem),
            (None, 1) => Finding::good("provider", format!("{name}: 1 model")),
            (None, models) => Finding::good("provider", format!("{name}: {models} models")),
        });
    }
    let words = format!("{}: {}", listed.default.model, listed.default.why);
    findings.push(Finding::good("default model", words));
    findings
}

async fn notifications(config: &Config) -> Finding {
    const ABOUT: &str = "notifications";
    if !config.notify.enabled {
        return Finding::noted(ABOUT, "switched off in config.toml");
    }
    match SystemDesktop::server().await {
        Ok(server) => Finding::good(ABOUT, server),
        Err(error) => Finding::noted(
            ABOUT,
            format!("no server shows them ({error}): `abide inbox` and the window tell what waits"),
        ),
    }
}
