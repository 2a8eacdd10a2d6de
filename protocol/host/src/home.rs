//! The folders and files of one user's Abide.

use serde::{Deserialize, Serialize};
use std::{
    env,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

/// The longest path a Unix socket can have, in bytes: `sun_path` less its final zero.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MAX_SOCKET_PATH: usize = 107;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const MAX_SOCKET_PATH: usize = 103;
/// A named pipe's name.
#[cfg(windows)]
const MAX_SOCKET_PATH: usize = 255;

/// The variable that names a socket to connect to, as that of another machine.
pub const NAMED_SOCKET: &str = "ABIDE_SOCKET";

/// A lock file is one short JSON object; a longer file is not a lock file.
const MAX_LOCK_FILE: u64 = 16 * 1024;

/// The socket that the environment names.
#[must_use]
pub fn named_socket() -> Option<PathBuf> {
    env::var_os(NAMED_SOCKET).filter(|socket| !socket.is_empty()).map(PathBuf::from)
}

/// The folders of one Abide. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Configuration, which people edit.
    pub config_dir: PathBuf,
    /// Data that must not be lost.
    pub data_dir: PathBuf,
    /// Logs, which may be lost.
    pub state_dir: PathBuf,
    /// The socket's folder, closed to other users.
    pub run_dir: PathBuf,
}

/// Why no home was found, or why it cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("cannot find the home folder of this user; set HOME, or ABIDE_HOME to a folder of your choice")]
    NoHome,
    #[error("ABIDE_HOME is empty; set it to a folder or unset it")]
    EmptyOverride,
    #[error(
        "the socket path {path} is {length} bytes long, the system allows {MAX_SOCKET_PATH}; set ABIDE_HOME or \
         XDG_RUNTIME_DIR to a folder with a shorter path",
        path = path.display()
    )]
    SocketPathTooLong { path: PathBuf, length: usize },
    #[error("{}", not_ours(path, *owner))]
    NotOurs { path: PathBuf, owner: u32 },
    #[error("cannot use {path}: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is not a lock file of Abide: {source}", path = path.display())]
    BadLockFile { path: PathBuf, source: serde_json::Error },
}

/// The content of a daemon's lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub pid: u32,
    /// The socket (or named pipe) it listens on.
    pub socket: PathBuf,
    pub version: String,
}

impl Home {
    /// The home that the environment names: `ABIDE_HOME=DIR` moves everything under one folder; else the
    /// platform's folders.
    ///
    /// # Errors
    /// The environment names none, or an unusable one, or one of another user.
    pub fn from_env() -> Result<Self, HomeError> {
        let home = match env::var_os("ABIDE_HOME") {
            Some(dir) if dir.is_empty() => return Err(HomeError::EmptyOverride),
            Some(dir) => {
                let path = PathBuf::from(dir);
                let absolute = std::path::absolute(&path).map_err(|source| HomeError::Io { path, source })?;
                Self::at(absolute)
            }
            None => Self::of_platform()?,
        };
        home.dirs().into_iter().try_for_each(check_owner)?;
        Ok(home)
    }

    /// Everything under one folder, which should be absolute.
    #[must_use]
    pub fn at(dir: impl AsRef<Path>) -> Self {
        let dir = dir.as_ref();
        Self {
            config_dir: dir.join("config"),
            data_dir: dir.join("data"),
            state_dir: dir.join("state"),
            run_dir: dir.join("run"),
        }
    }

    fn of_platform() -> Result<Self, HomeError> {
        let dirs = directories::ProjectDirs::from("", "", "abide").ok_or(HomeError::NoHome)?;
        let state_dir =
            dirs.state_dir().map_or_else(|| dirs.data_local_dir().join("state"), Path::to_path_buf);
        // After `su`, say, the variable may name a folder that does not exist, or that of the user before; it
        // is ignored then.
        let runtime_dir = dirs.runtime_dir().filter(|dir| dir.parent().is_some_and(is_own_dir));
        let run_dir = runtime_dir.map_or_else(|| state_dir.join("run"), |dir| dir.join("v1"));
        Ok(Self {
            config_dir: dirs.config_dir().to_path_buf(),
            data_dir: dirs.data_dir().to_path_buf(),
            state_dir,
            run_dir,
        })
    }

    /// The folder for a child process's `ABIDE_HOME`, so that it finds the same home; `None` if this home is
    /// not laid out as [`Self::at`] does it.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        let root = self.data_dir.parent()?;
        (*self == Self::at(root)).then_some(root)
    }

    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The user's templates of the phases' notes.
    #[must_use]
    pub fn prompts_dir(&self) -> PathBuf {
        self.config_dir.join("prompts")
    }

    /// The user's personas.
    #[must_use]
    pub fn personas_dir(&self) -> PathBuf {
        self.config_dir.join("personas")
    }

    /// The newest text of the configuration that was understood; a daemon goes on with it while the file is
    /// invalid.
    #[must_use]
    pub fn last_good_config(&self) -> PathBuf {
        self.state_dir.join("config-last-good.toml")
    }

    /// The daemon's last sign of life.
    #[must_use]
    pub fn alive_file(&self) -> PathBuf {
        self.state_dir.join("alive")
    }

    /// Providers' keys, where the system has no keyring.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.config_dir.join("keys.toml")
    }

    /// The tokens of devices that may use the HTTP interface, as digests.
    #[must_use]
    pub fn token_file(&self) -> PathBuf {
        self.config_dir.join("tokens.toml")
    }

    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data_dir.join("abide.db")
    }

    /// Held by the running daemon for its life; its content is a [`Running`].
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.data_dir.join("abide.lock")
    }

    /// The model that says what texts mean, if it is installed.
    #[must_use]
    pub fn embedding_model(&self) -> PathBuf {
        self.data_dir.join("embedding-model")
    }

    /// Output of tools until their result is committed.
    #[must_use]
    pub fn spool_dir(&self) -> PathBuf {
        self.data_dir.join("spool")
    }

    /// The checkpoints of workspaces.
    #[must_use]
    pub fn checkpoints_dir(&self) -> PathBuf {
        self.data_dir.join("checkpoints")
    }

    /// What the sandbox keeps: temporary folders of conversations, and what was set aside.
    #[must_use]
    pub fn sandbox_dir(&self) -> PathBuf {
        self.data_dir.join("sandbox")
    }

    /// Workspaces of conversations that have no folder of the user's.
    #[must_use]
    pub fn scratch_dir(&self) -> PathBuf {
        self.data_dir.join("scratch")
    }

    /// Git worktrees of tasks.
    #[must_use]
    pub fn worktrees_dir(&self) -> PathBuf {
        self.data_dir.join("worktrees")
    }

    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.state_dir.join("log")
    }

    /// Where the daemon of this home listens, unless it was started in another environment: see [`running`].
    ///
    /// # Errors
    /// The path is too long for a socket.
    pub fn socket(&self) -> Result<PathBuf, HomeError> {
        let path = if cfg!(windows) {
            let name: String = self.run_dir.to_string_lossy().replace(['\\', '/', ':'], "-");
            PathBuf::from(format!(r"\\.\pipe\abide-v1-{name}"))
        } else {
            self.run_dir.join("abide.sock")
        };
        check_socket_path(path)
    }

    /// Creates the four folders, for this user only.
    ///
    /// # Errors
    /// A folder cannot be created, or cannot be closed to others.
    pub fn create(&self) -> Result<(), HomeError> {
        self.dirs().into_iter().try_for_each(create_private_dir)
    }

    fn dirs(&self) -> [&Path; 4] {
        [&self.config_dir, &self.data_dir, &self.state_dir, &self.run_dir]
    }
}

/// Checks that a folder is this user's; if it is not there, that the one that it would be made in is this
/// user's or root's. What root makes in the home of another user would lock that user out.
#[cfg(unix)]
fn check_owner(dir: &Path) -> Result<(), HomeError> {
    use std::os::unix::fs::MetadataExt as _;
    let nearest = dir.ancestors().find_map(|path| Some((path, fs::metadata(path).ok()?.uid())));
    match nearest {
        Some((path, owner)) if owner != our_uid() && (owner != 0 || path == dir) => {
            Err(HomeError::NotOurs { path: path.to_owned(), owner })
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &Path) -> Result<(), HomeError> {
    Ok(())
}

#[cfg(unix)]
fn is_own_dir(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(dir).is_ok_and(|found| found.is_dir() && found.uid() == our_uid())
}

#[cfg(not(unix))]
fn is_own_dir(dir: &Path) -> bool {
    dir.is_dir()
}

#[cfg(unix)]
fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn not_ours(path: &Path, owner: u32) -> String {
    let path = path.display();
    if owner == 0 {
        return format!(
            "{path} belongs to root; give it back (sudo chown -R \"$(id -u)\" {path}), or set ABIDE_HOME to a folder of your own"
        );
    }
    format!(
        "{path} belongs to another user (id {owner}), whom files of this user would lock out; run it as that user, or set HOME (`sudo -H` \
         does) or ABIDE_HOME to a folder of your own"
    )
}

fn check_socket_path(path: PathBuf) -> Result<PathBuf, HomeError> {
    let length = OsStr::len(path.as_os_str());
    if length > MAX_SOCKET_PATH { Err(HomeError::SocketPathTooLong { path, length }) } else { Ok(path) }
}

/// Creates a folder (and those above it) that only this user can enter; one that exists is closed to others.
///
/// # Errors
/// It cannot be created, or is not this user's.
pub fn create_private_dir(dir: &Path) -> Result<(), HomeError> {
    let failed = |source| HomeError::Io { path: dir.to_path_buf(), source };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        builder.mode(0o700).create(dir).map_err(failed)?;
        let mode = fs::metadata(dir).map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    builder.create(dir).map_err(failed)
}

/// The lock file's content. Its daemon may have ended; only connecting shows whether it runs.
///
/// # Errors
/// There is a lock file that cannot be read or understood.
pub fn running(home: &Home) -> Result<Option<Running>, HomeError> {
    use io::Read as _;
    let path = home.lock_file();
    let mut text = String::new();
    let read = fs::File::open(&path).and_then(|file| file.take(MAX_LOCK_FILE).read_to_string(&mut text));
    match read {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(HomeError::Io { path, source }),
        // A daemon has taken the lock and not written the file yet.
        Ok(_) if text.trim().is_empty() => Ok(None),
        Ok(_) => match serde_json::from_str::<Running>(&text) {
            Ok(running) => Ok(Some(Running { socket: check_socket_path(running.socket)?, ..running })),
            Err(source) => Err(HomeError::BadLockFile { path, source }),
        },
    }
}

/// Whether a daemon of this home holds the lock: it is starting, running or draining.
#[must_use]
pub fn is_held(home: &Home) -> bool {
    fs::File::open(home.lock_file())
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests;
