use std::{
    env, fs,
    path::{Path, PathBuf},
};

const NAME: &str = "abided";

/// What a person says explicitly wins, then what was installed together, then what the system finds.
pub(super) fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("ABIDE_DAEMON").filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let file = format!("{NAME}{}", env::consts::EXE_SUFFIX);
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
