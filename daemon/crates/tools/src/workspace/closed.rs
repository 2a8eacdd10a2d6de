use std::{
    fs,
    path::{Path, PathBuf},
};

/// Closed on every machine.
const SYSTEM: [&str; 4] = ["/etc", "/sys", "/proc", "/boot"];

/// Closed in the home of the user.
const PRIVATE: [&str; 3] = [".ssh", ".gnupg", ".aws"];

/// The folders that are closed to tools, even beneath a workspace.
#[derive(Debug)]
pub(crate) struct Closed {
    folders: Vec<PathBuf>,
    /// Whoever works in a folder above one of these sees more than a project.
    telling: Vec<PathBuf>,
}

impl Closed {
    pub(crate) fn new(own: &[PathBuf], home: &Path) -> Self {
        let system = SYSTEM.iter().map(PathBuf::from);
        let private = PRIVATE.iter().map(|name| home.join(name));
        let folders = system.chain(private).chain(own.iter().cloned()).flat_map(both).collect();
        let telling = own.iter().cloned().chain([home.to_owned()]).flat_map(both).collect();
        Self { folders, telling }
    }

    pub(crate) fn contains(&self, path: &Path) -> bool {
        // Where `..` leads is the kernel's to say; what remains of it here is judged once it is resolved.
        self.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether this is `/`, the home, or a folder above the home or Abide's own.
    pub(crate) fn is_broad(&self, root: &Path) -> bool {
        root.parent().is_none() || self.telling.iter().any(|folder| folder.starts_with(root))
    }
}

/// The folder as named and as it really is.
fn both(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = fs::canonicalize(&folder).ok().filter(|real| *real != folder);
    [Some(folder), real].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_not_prefixes() {
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
