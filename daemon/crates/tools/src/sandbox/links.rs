//! Paths without links.

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The path with its links resolved; `None` if nothing is at the path. Blocking.
///
/// Most paths that a plan looks for are missing or without links. For an absolute path without `..` one
/// system call tells.
pub(super) fn without_links(path: &Path) -> Option<PathBuf> {
    let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    if is_plain {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(_) => return Some(path.components().collect()),
            Err(Errno::NOENT) => return None,
            Err(_) => {}
        }
    }
    fs::canonicalize(path).ok()
}

/// Whether a path is that of this folder or lies in it. Both paths have no links. Comparing bytes is faster
/// than comparing names, because most paths differ.
pub(super) fn lies_in(path: &Path, folder: &Path) -> bool {
    let [text, start] = [path, folder].map(|path| path.as_os_str().as_encoded_bytes());
    text.starts_with(start) && path.starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_what_canonicalize_says() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let at = |name: &str| folder.join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("file"), "").unwrap();
        symlink("a", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        for name in [
            "a/b", "a/../a/b", "a/./b/", "file", "file/b", "link", "link/b", "link/c", "dangling", "circle",
            "none", "none/b",
        ] {
            assert_eq!(without_links(&at(name)), fs::canonicalize(at(name)).ok(), "{name}");
        }
        assert_eq!(without_links(&at("a/./b/")).unwrap().as_os_str(), at("a/b").as_os_str());
    }
}
