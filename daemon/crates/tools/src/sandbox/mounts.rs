//! Places at which the same files are mounted: bind mounts, and parts of a file system beside the whole of
//! it.

use super::links::lies_in;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read as _},
    os::unix::{ffi::OsStringExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The mounts that this process sees; proc_pid_mountinfo(5).
const TABLE: &str = "/proc/self/mountinfo";

/// The table of mounts, read again when something was mounted or unmounted.
#[derive(Debug, Default)]
pub(crate) struct Mounts(Mutex<Option<Table>>);

#[derive(Debug)]
struct Table {
    file: File,
    /// Pairs of paths of the same folder or file.
    twins: Vec<[PathBuf; 2]>,
}

#[derive(Debug)]
struct Mount {
    device: Vec<u8>,
    /// The mounted part of the file system.
    root: PathBuf,
    at: PathBuf,
}

impl Mounts {
    /// The further paths of these files and folders, whose paths have no links. Blocking.
    pub(super) fn further(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.as_ref().is_none_or(Table::is_outdated) {
            *table = Table::read().ok();
        }
        let mut further = Vec::new();
        for [one, other] in table.iter().flat_map(|table| &table.twins) {
            for (here, there) in [(one, other), (other, one)] {
                further.extend(paths.iter().filter_map(|path| counterpart(path, here, there)));
            }
        }
        further
    }
}

/// The path of `path` beneath `there`, which is mounted as `here`, too. If `here` lies beneath `path`, that
/// is `there` itself.
fn counterpart(path: &Path, here: &Path, there: &Path) -> Option<PathBuf> {
    if lies_in(here, path) {
        return is_same(here, there).then(|| there.to_owned());
    }
    if !lies_in(path, here) {
        return None;
    }
    let place = there.join(path.strip_prefix(here).ok()?);
    is_same(path, &place).then_some(place)
}

/// Whether two paths name the same file. (Another mount may lie over one of them.)
fn is_same(one: &Path, other: &Path) -> bool {
    let which = |path| fs::symlink_metadata(path).map(|there| (there.dev(), there.ino())).ok();
    which(one).is_some_and(|one| which(other) == Some(one))
}

impl Table {
    fn read() -> io::Result<Self> {
        let mut table = Self { file: File::open(TABLE)?, twins: Vec::new() };
        let mut text = Vec::new();
        table.file.read_to_end(&mut text)?;
        table.twins = twins(&mounts(&text));
        Ok(table)
    }

    fn is_outdated(&self) -> bool {
        !matches!(poll(&mut [PollFd::new(&self.file, PollFlags::PRI)], Some(&Timespec::default())), Ok(0))
    }
}

fn mounts(table: &[u8]) -> Vec<Mount> {
    let mount = |line: &[u8]| {
        let mut columns = line.split(|byte| *byte == b' ').skip(2);
        let (device, root, at) = (columns.next()?, columns.next()?, columns.next()?);
        // Mounted namespaces have no path, and a removed folder cannot be seen elsewhere.
        let is_path = root.starts_with(b"/") && !root.ends_with(b"//deleted");
        is_path.then(|| Mount { device: device.to_owned(), root: unescaped(root), at: unescaped(at) })
    };
    table.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// The path without the table's escapes, such as `\040` for a blank.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let octal =
            after.get(..3).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        match octal {
            Some(octal) if *byte == b'\\' => {
                bytes.push(octal);
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// For each two mounts of one file system of which one holds the other: the smaller mount's path, and the
/// same folder's path in the larger mount.
fn twins(mounts: &[Mount]) -> Vec<[PathBuf; 2]> {
    let mut twins = Vec::new();
    for (index, one) in mounts.iter().enumerate() {
        let earlier = mounts.get(..index).unwrap_or_default();
        for other in earlier.iter().filter(|other| other.device == one.device) {
            let pair = match (one.root.strip_prefix(&other.root), other.root.strip_prefix(&one.root)) {
                (Ok(rest), _) => [beneath(&other.at, rest), one.at.clone()],
                (_, Ok(rest)) => [beneath(&one.at, rest), other.at.clone()],
                _ => continue,
            };
            // Not for a place that is mounted over itself.
            if pair[0] != pair[1] {
                twins.push(pair);
            }
        }
    }
    twins
}

/// Joins paths. `rest` may be empty, and the result has no slash at the end.
fn beneath(folder: &Path, rest: &Path) -> PathBuf {
    folder.components().chain(rest.components()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_file_system_are_found_in_the_whole() {
        let table = b"1 0 8:1 / / rw - ext4 /dev/sda rw\n\
            2 1 0:4 / /proc rw - proc proc rw\n\
            3 1 8:1 /home/me /mnt/a\\040b rw shared:1 - ext4 /dev/sda rw\n\
            4 1 8:1 /etc /etc rw - ext4 /dev/sda rw\n\
            5 1 0:9 net:[1] /run/net rw - nsfs nsfs rw\n\
            6 1 8:1 /old//deleted /mnt/c rw - ext4 /dev/sda rw\n";
        let twins = twins(&mounts(table));
        assert_eq!(twins, [["/home/me", "/mnt/a b"].map(PathBuf::from)]);
    }

    #[test]
    fn what_is_beneath_and_what_is_above_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("one/sub")).unwrap();
        std::os::unix::fs::symlink("one", at("other")).unwrap();
        // As if the file was mounted there.
        let counterpart = |path: &str| counterpart(&at(path), &at("one"), &at("other"));
        assert_eq!(counterpart("one/sub"), Some(at("other/sub")));
        assert_eq!(counterpart("one/none"), None);
        assert_eq!(counterpart("elsewhere"), None);
    }
}
