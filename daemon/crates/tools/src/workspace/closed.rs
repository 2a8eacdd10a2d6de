use crate::sandbox::hidden;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Closed on every machine.
const SYSTEM: [&str; 4] = ["/etc", "/sys", "/proc", "/boot"];

/// The folders that are closed to tools, even beneath a workspace.
#[derive(Debug)]
pub(crate) struct Closed {
    folders: Vec<PathBuf>,
    /// A workspace above one of these holds more than a project.
    broad_below: Vec<PathBuf>,
}

impl Closed {
    pub(crate) fn new(own: &[PathBuf], home: &Path) -> Self {
        let system = SYSTEM.iter().map(PathBuf::from);
        let private = hidden::SECRETS.iter().map(|name| home.join(name));
        let folders = system.chain(private).chain(own.iter().cloned()).flat_map(both).collect();
        let broad_below = own.iter().cloned().chain([home.to_owned()]).flat_map(both).collect();
        Self { folders, broad_below }
    }

    pub(crate) fn contains(&self, path: &Path) -> bool {
        // `..` is not resolved here: the resolved path is checked again.
        self.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether this is `/`, the home, or a folder above the home or above Abide's own.
    pub(crate) fn is_broad(&self, root: &Path) -> bool {
        root.parent().is_none() || self.broad_below.iter().any(|folder| folder.starts_with(root))
    }
}

/// The folder's path as given, and without links.
fn both(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = fs::canonicalize(&folder).ok().filter(|real| *real != folder);
    [Some(folder), real].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_compared_not_prefixes() {
        let closed = Closed::new(&["/data/abide".into()], Path::new("/home/u"));
        for path in ["/etc", "/etc/passwd", "/proc/self/root", "/home/u/.ssh/id", "/data/abide/x"] {
            assert!(closed.contains(Path::new(path)), "{path}");
        }
        for path in ["/etcetera", "/home/u/.sshx", "/home/v/.ssh", "/data", "/data/abide2", "/"] {
            assert!(!closed.contains(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn broad_is_above() {
        let closed = Closed::new(&["/data/abide".into()], Path::new("/home/u"));
        for root in ["/", "/home", "/home/u", "/data", "/data/abide"] {
            assert!(closed.is_broad(Path::new(root)), "{root}");
        }
        for root in ["/home/u/project", "/home/v", "/srv"] {
            assert!(!closed.is_broad(Path::new(root)), "{root}");
        }
    }
}
