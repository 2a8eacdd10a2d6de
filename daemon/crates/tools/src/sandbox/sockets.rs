//! Sockets that programs outside of the sandbox listen on. That a folder is read-only does not keep a command from connecting to a
//! socket in it, and whoever listens there could do for it what the sandbox forbids (an agent of keys, a daemon of containers).

use std::{
    fs,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The sockets of this network namespace; proc_net(5).
const TABLE: &str = "/proc/net/unix";

/// For how long the table is not read again.
const RECENT: Duration = Duration::from_secs(1);

/// The paths of sockets that were found last, and when.
#[derive(Debug, Default)]
pub(crate) struct Sockets(Mutex<Option<(Instant, Vec<PathBuf>)>>);

impl Sockets {
    /// Those that a command would see, which are to be hidden. Blocking.
    ///
    /// One whose name is relative is not found: the table does not say in which folder it is.
    pub(super) fn hidden(&self, is_seen: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = found.as_ref().is_some_and(|(at, _)| at.elapsed() < RECENT);
        if !is_recent {
            let table = fs::read(TABLE).unwrap_or_default();
            *found = Some((Instant::now(), paths(&String::from_utf8_lossy(&table))));
        }
        let paths = found.iter().flat_map(|(_, paths)| paths);
        let mut hidden: Vec<PathBuf> = paths.filter(|path| is_seen(path)).filter_map(there).collect();
        hidden.sort();
        hidden.dedup();
        hidden
    }
}

/// The absolute paths in the table.
fn paths(table: &str) -> Vec<PathBuf> {
    // Seven columns, then the path, which may have blanks.
    let path = |line: &str| line.find(" /").and_then(|at| line.get(at + 1..)).map(PathBuf::from);
    table.lines().skip(1).filter_map(path).collect()
}

/// The socket, without links; `None` if it is gone.
fn there(path: &PathBuf) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    fs::metadata(&path).ok()?.file_type().is_socket().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 12345 /a/b c\n\
                     0000000000000000: 00000003 00000000 00000000 0001 03 12346\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 12347 @/abstract\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 12348 relative\n";
        assert_eq!(paths(table), [PathBuf::from("/a/b c")]);
    }
}
