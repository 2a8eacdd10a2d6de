//! Finds the other programs of Abide, asks them whether they could start, and starts them.

mod check;
mod detached;
mod window;

pub use check::{CheckError, Checked, check};
pub use detached::detached;
pub use window::{Started, WindowError, open_window};

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// There is no program of the daemon.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot find the daemon's program `abided`: it is neither beside this program nor in PATH; set ABIDE_DAEMON to its path"
)]
pub struct NotFound;

/// The daemon's program.
///
/// # Errors
/// See [`NotFound`].
pub fn daemon() -> Result<PathBuf, NotFound> {
    find("abided", "ABIDE_DAEMON").ok_or(NotFound)
}

/// The window's program.
#[must_use]
pub fn window() -> Option<PathBuf> {
    find("abide-gui", "ABIDE_GUI")
}

/// First the environment's variable, then the folder of this program, then `PATH`.
fn find(name: &str, variable: &str) -> Option<PathBuf> {
    if let Some(named) = env::var_os(variable).filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(&file)));
    let in_path =
        env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    beside.into_iter().chain(in_path.map(|dir| dir.join(&file))).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}
