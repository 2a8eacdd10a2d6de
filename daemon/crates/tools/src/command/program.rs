//! Where programs are.

use crate::workspace::Workspace;
use rustix::fs::{Access, access};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders that are searched if there is no `PATH`.
const FOLDERS: &str = "/usr/local/bin:/usr/bin:/bin";

/// The shell that runs commands.
pub(crate) fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| fs::exists(path).unwrap_or(false))
        .unwrap_or("/bin/sh")
}

/// The program of this name in the folders of a `PATH`. Relative folders are not searched: they would be
/// beneath the workspace, whose files are not the user's choice of programs. Blocking.
pub(crate) fn find(name: &str, path: Option<&str>) -> Option<String> {
    let folders = path.unwrap_or(FOLDERS).split(':').filter(|folder| folder.starts_with('/'));
    folders.map(|folder| format!("{folder}/{name}")).find(|program| is_program(program.as_ref()))
}

/// Folders that every task may write to, besides its workspace.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Whether this is a program that the task cannot have written: neither the program nor what it links to lies
/// in a folder that the task may write to. `writable` are the configured folders. Blocking.
pub(crate) fn is_trusted(program: &Path, workspace: &Workspace, writable: &[PathBuf]) -> bool {
    let Ok(real) = program.canonicalize() else { return false };
    let configured = writable.iter().flat_map(|folder| [Some(folder.clone()), folder.canonicalize().ok()]);
    let writable: Vec<PathBuf> = SHARED.iter().map(PathBuf::from).chain(configured.flatten()).collect();
    let is_writable =
        |path: &Path| workspace.holds(path) || writable.iter().any(|folder| path.starts_with(folder));
    is_program(&real) && !is_writable(program) && !is_writable(&real)
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_first_absolute_folder_with_a_program_counts() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        make("data/tool", 0o644);
        make("first/tool", 0o755);
        make("second/tool", 0o755);
        fs::create_dir_all(folder.path().join("folder/tool")).unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let path = |folders: &[&str]| folders.iter().map(|name| at(name)).collect::<Vec<_>>().join(":");
        let all = path(&["none", "folder", "data", "first", "second"]);
        assert_eq!(find("tool", Some(&all)), Some(at("first/tool")));
        assert_eq!(find("tool", Some(&path(&["folder", "data"]))), None);
        assert_eq!(find("tool", Some("")), None);
        assert!(find("sh", None).is_some());
    }

    #[test]
    fn a_folder_that_is_not_absolute_is_not_searched() {
        // Tests run in the folder of their crate.
        let here = std::env::current_dir().unwrap();
        let program = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o755))
            .tempfile_in(&here)
            .unwrap();
        let name = program.path().file_name().unwrap().to_str().unwrap();
        assert!(find(name, here.to_str()).is_some());
        assert_eq!(find(name, Some(".::src/..")), None);
    }
}
