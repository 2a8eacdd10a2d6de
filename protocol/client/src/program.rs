//! Finds the other programs of Abide.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The daemon's program.
#[must_use]
pub fn daemon() -> Option<PathBuf> {
    find("abided", "ABIDE_DAEMON")
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
