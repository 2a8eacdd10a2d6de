//! Sockets that programs outside of the sandbox listen on. A command can connect to a socket even in a
//! read-only folder, and the listening program (an agent of keys, a daemon of containers) could do what the
//! sandbox forbids.

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, open, statat},
    process::geteuid,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, MetadataExt as _},
    },
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The sockets of this network namespace; proc_net(5).
const TABLE: &str = "/proc/net/unix";

/// How long the table is not read again; reading takes a microsecond for each socket.
const RECENT: Duration = Duration::from_millis(100);

/// The most sockets of one other user that are hidden, and the most relative names that are looked for.
/// Otherwise anybody could make so many sockets that no sandbox can be made.
const MOST: usize = 500;

/// The paths of sockets that were found last, and when.
#[derive(Debug, Default)]
pub(crate) struct Sockets(Mutex<Option<(Instant, BTreeSet<PathBuf>)>>);

impl Sockets {
    /// The sockets that a command would see, and that are to be hidden. Blocking.
    pub(super) fn hidden(&self, is_seen: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = found.as_ref().is_some_and(|(at, _)| at.elapsed() < RECENT);
        if !is_recent {
            *found = Some((Instant::now(), paths(&fs::read(TABLE).unwrap_or_default())));
        }
        let paths = found.iter().flat_map(|(_, paths)| paths);
        let there = paths.filter(|path| is_seen(path)).filter_map(|path| there(path)).collect();
        bounded(there, geteuid().as_raw())
    }
}

/// All sockets of this user and of root, and the first ones of each other user.
fn bounded(there: BTreeMap<PathBuf, u32>, user: u32) -> Vec<PathBuf> {
    let mut counts = BTreeMap::<u32, usize>::new();
    let is_taken = |(path, owner)| {
        let count = counts.entry(owner).or_default();
        *count += 1;
        (*count <= MOST || owner == user || owner == 0).then_some(path)
    };
    there.into_iter().filter_map(is_taken).collect()
}

/// The absolute paths of the table's sockets.
fn paths(table: &[u8]) -> BTreeSet<PathBuf> {
    let (mut paths, relative): (BTreeSet<_>, BTreeSet<_>) =
        table.split(|byte| *byte == b'\n').skip(1).filter_map(name).partition(|name| name.is_absolute());
    if !relative.is_empty() {
        let folders = working_folders();
        paths.extend(folders.iter().flat_map(|folder| sockets_in(folder, &relative)));
    }
    paths
}

/// The name of the file in a line of the table.
fn name(line: &[u8]) -> Option<PathBuf> {
    // Seven columns, some padded, precede the name, which may have blanks. A name with `@` is no file.
    let mut rest = line;
    for _ in 0..7 {
        rest = rest.trim_ascii_start();
        rest = rest.get(rest.iter().position(|byte| *byte == b' ')?..)?;
    }
    let name = rest.strip_prefix(b" ").filter(|name| !name.is_empty() && !name.starts_with(b"@"))?;
    Some(OsStr::from_bytes(name).into())
}

/// The working folders of this user's processes. The table does not name the folder of a relative name. It
/// was the working folder of the socket's program, and most programs stay in theirs.
fn working_folders() -> BTreeSet<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_processes = processes
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    of_processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok()).collect()
}

/// The sockets with one of these names in a folder.
fn sockets_in(folder: &Path, names: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(opened) = open(folder, flags, Mode::empty()) else { return Vec::new() };
    let is_socket = |name: &&PathBuf| {
        statat(&opened, name.as_path(), AtFlags::empty())
            .is_ok_and(|there| FileType::from_raw_mode(there.st_mode) == FileType::Socket)
    };
    names.iter().take(MOST).filter(is_socket).map(|name| folder.join(name)).collect()
}

/// The socket's path without links, and its owner; `None` if the socket is gone.
fn there(path: &Path) -> Option<(PathBuf, u32)> {
    let path = fs::canonicalize(path).ok()?;
    let there = fs::metadata(&path).ok()?;
    there.file_type().is_socket().then(|| (path, there.uid()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_table_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(folder.path().join("a socket")).unwrap();
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 12345 /a/b c\n\
                     0000000000000000: 00000003 00000000 00000000 0001 03 12346\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 12347 @/abstract\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01   123 a socket\n";
        let names: BTreeSet<PathBuf> =
            table.as_bytes().split(|byte| *byte == b'\n').skip(1).filter_map(name).collect();
        assert_eq!(names, ["/a/b c", "a socket"].map(PathBuf::from).into());
        assert_eq!(sockets_in(folder.path(), &names), [folder.path().join("a socket")]);
    }

    #[test]
    fn another_user_has_a_bound() {
        let of =
            |owner: u32, many: usize| (0..many).map(move |n| (PathBuf::from(format!("/{owner}/{n}")), owner));
        let there = [of(0, 600), of(1000, 600), of(1001, 600), of(1002, 1)].into_iter().flatten().collect();
        let taken = bounded(there, 1000);
        let count = |owner: &str| taken.iter().filter(|path| path.starts_with(owner)).count();
        assert_eq!(["/0", "/1000", "/1001", "/1002"].map(count), [600, 600, MOST, 1]);
    }
}
