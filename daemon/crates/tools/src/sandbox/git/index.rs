//! The gitlinks of a repository's index (gitformat-index(5)). Nothing here runs git.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// The mode of a gitlink: a repository within the work tree that git enters.
const GITLINK: u32 = 0o160_000;

/// Bytes of an entry before its object id: times, device, inode, mode, user, group, size.
const STAT: usize = 40;

/// The place of the mode in an entry.
const MODE: usize = 24;

/// The paths of all gitlinks in an index, relative to the work tree. A missing index has no gitlinks.
///
/// # Errors
/// The index cannot be read or is not one.
pub(crate) fn gitlinks(folder: &Path, id_length: usize) -> io::Result<Vec<PathBuf>> {
    let (mut links, base) = read_file(&folder.join("index"), id_length)?;
    // A split index has most of its entries in another file.
    if let Some(base) = base {
        links.extend(read_file(&folder.join(base), id_length)?.0);
    }
    Ok(links)
}

/// The name of the file in the git folder that has most entries of a split index; `None`: the index is not
/// split.
///
/// # Errors
/// As [`gitlinks`].
pub(crate) fn shared_index(folder: &Path, id_length: usize) -> io::Result<Option<String>> {
    Ok(read_file(&folder.join("index"), id_length)?.1)
}

fn read_file(file: &Path, id_length: usize) -> io::Result<(Vec<PathBuf>, Option<String>)> {
    match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((Vec::new(), None)),
        bytes => read(&bytes?, id_length).ok_or_else(|| io::ErrorKind::InvalidData.into()),
    }
}

/// The gitlinks, and the name of the shared index that this index completes.
fn read(bytes: &[u8], id_length: usize) -> Option<(Vec<PathBuf>, Option<String>)> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let version = number(4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let mut links = Vec::new();
    let mut at = 12;
    let mut path = Vec::new();
    for _ in 0..number(8)? {
        let flags_at = at + STAT + id_length;
        let is_extended = bytes.get(flags_at)? & 0x40 != 0;
        let mut name_at = flags_at + if is_extended { 4 } else { 2 };
        if version == 4 {
            let (dropped, after) = varint(bytes, name_at)?;
            path.truncate(path.len().checked_sub(dropped)?);
            name_at = after;
        } else {
            path.clear();
        }
        let rest = bytes.get(name_at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(rest.get(..length)?);
        if number(at + MODE)? == GITLINK {
            links.push(OsStr::from_bytes(&path).into());
        }
        let end = name_at + length;
        // Filled up with 1 to 8 zeros, but for version 4.
        at = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
    }
    let mut base = None;
    while let (Some(name), Some(size)) = (bytes.get(at..at + 4), number(at + 4)) {
        if at + 8 + id_length > bytes.len() {
            break;
        }
        if name == b"link" {
            let id = bytes.get(at + 8..at + 8 + id_length)?;
            let name =
                || id.iter().fold(String::from("sharedindex."), |name, byte| format!("{name}{byte:02x}"));
            base = id.iter().any(|byte| *byte != 0).then(name);
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(size).ok()?)?;
    }
    Some((links, base))
}

/// A number of variable length, and the place where it ends.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.get(at)? & 0x7f);
    while bytes.get(at)? & 0x80 != 0 {
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(bytes.get(at)? & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[expect(clippy::disallowed_methods, reason = "a person's git, not a tool's")]
    fn git(folder: &Path, arguments: &[&str]) {
        let who = ["-c", "user.name=P", "-c", "user.email=p@localhost"];
        let done = Command::new("git").args(who).args(arguments).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn gitlinks_are_found_in_an_index_of_every_form() {
        for (format, id_length) in [("sha1", 20), ("sha256", 32)] {
            for form in [&["--index-version", "2"][..], &["--index-version", "4"], &["--split-index"]] {
                let folder = tempfile::tempdir().unwrap();
                let at = |name: &str| folder.path().join(name);
                git(folder.path(), &["init", "-q", &format!("--object-format={format}")]);
                assert_eq!(gitlinks(&at(".git"), id_length).unwrap(), Vec::<PathBuf>::new());
                for name in ["a", "deep/er/inner", "z"] {
                    fs::create_dir_all(at(name)).unwrap();
                    git(&at(name), &["init", "-q", &format!("--object-format={format}")]);
                    git(&at(name), &["commit", "-q", "--allow-empty", "-m", "x"]);
                }
                fs::write(at("deep/file"), "").unwrap();
                git(folder.path(), &["update-index", "--add", "a", "deep/er/inner", "deep/file"]);
                git(folder.path(), &[&["update-index"], form].concat());
                git(folder.path(), &["update-index", "--add", "z"]);
                let mut found = gitlinks(&at(".git"), id_length).unwrap();
                found.sort();
                assert_eq!(found, ["a", "deep/er/inner", "z"].map(PathBuf::from), "{format} {form:?}");
            }
        }
        assert!(read(b"DIRC\0\0\0\x02\0\0\0\x01 cut off", 20).is_none());
    }
}
