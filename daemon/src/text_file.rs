//! Short text files that people write for Abide. A file is read whole or not at all, and never from outside
//! its folder.

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

/// Why a file is not used. The words follow its path.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("is not there")]
    Missing,
    #[error("is outside of {}", .0.display())]
    Outside(PathBuf),
    #[error("is not a file")]
    NotAFile,
    #[error("has {size} bytes, over the limit of {max}")]
    TooLarge { size: u64, max: u64 },
    #[error("is not valid UTF-8")]
    NotUtf8,
    #[error("is empty")]
    Empty,
    #[error("holds keys, which no model may read")]
    Secret,
    #[error("cannot be read: {0}")]
    Io(io::Error),
}

/// Reads the file `name` of the folder. A symbolic link is followed if it stays in the folder.
///
/// # Errors
/// It cannot be used.
pub(crate) fn read(folder: &Path, name: &str, max: u64) -> Result<String, Unusable> {
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unusable::Missing,
        // A refusal by the kernel has an error number; without one it was an attempt to leave the folder.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            Unusable::Outside(folder.to_owned())
        }
        io::ErrorKind::CrossesDevices => Unusable::Outside(folder.to_owned()),
        _ => Unusable::Io(error),
    };
    let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(fail)?;
    // Checked before opening, since opening a device may have effects, and after, since the file may have
    // been replaced.
    if !folder.metadata(name).map_err(fail)?.is_file() {
        return Err(Unusable::NotAFile);
    }
    let file = folder.open_with(name, &options()).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() {
        return Err(Unusable::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(fail)?;
    let read = bytes.len() as u64;
    if read > max {
        return Err(Unusable::TooLarge { size: read.max(metadata.len()), max });
    }
    let text = String::from_utf8(bytes).map_err(|_| Unusable::NotUtf8)?;
    if text.trim().is_empty() { Err(Unusable::Empty) } else { Ok(text) }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    options
}

/// Writes files that do not exist. Returns all paths, and whether each was written.
///
/// # Errors
/// The folder or a file cannot be written.
pub(crate) fn write_missing<'a>(
    folder: &Path,
    files: impl IntoIterator<Item = (String, &'a str)>,
) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let written = |(name, text): (String, &str)| {
        let path = folder.join(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(mut file) => file.write_all(text.as_bytes()).map(|()| (path, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok((path, false)),
            Err(error) => Err(error),
        }
    };
    files.into_iter().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_read_whole_or_refused_with_its_reason() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("prompts");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("good.md"), "Äh.\n").unwrap();
        fs::write(folder.join("full.md"), "x".repeat(16)).unwrap();
        fs::write(folder.join("long.md"), "x".repeat(17)).unwrap();
        File::create(folder.join("huge.md")).unwrap().set_len(1 << 30).unwrap();
        fs::write(folder.join("latin.md"), b"\xe4h").unwrap();
        fs::write(folder.join("blank.md"), " \n").unwrap();
        fs::create_dir(folder.join("folder.md")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.join("pipe.md"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        fs::write(dir.path().join("secret.md"), "secret").unwrap();
        symlink("good.md", folder.join("inside.md")).unwrap();
        symlink("../secret.md", folder.join("out.md")).unwrap();
        symlink("/etc/hostname", folder.join("absolute.md")).unwrap();
        symlink("loop.md", folder.join("loop.md")).unwrap();
        for (name, found) in [
            ("good.md", Ok("Äh.\n")),
            ("inside.md", Ok("Äh.\n")),
            ("full.md", Ok("xxxxxxxxxxxxxxxx")),
            ("long.md", Err("has 17 bytes, over the limit of 16")),
            ("huge.md", Err("has 1073741824 bytes, over the limit of 16")),
            ("latin.md", Err("is not valid UTF-8")),
            ("blank.md", Err("is empty")),
            ("none.md", Err("is not there")),
            ("folder.md", Err("is not a file")),
            ("pipe.md", Err("is not a file")),
            ("out.md", Err("is outside of")),
            ("absolute.md", Err("is outside of")),
            ("../secret.md", Err("is outside of")),
            ("/etc/hostname", Err("is outside of")),
            ("loop.md", Err("cannot be read")),
        ] {
            match (read(&folder, name, 16), found) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{name}"),
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().starts_with(expected), "{name}: {error}");
                }
                (read, _) => panic!("{name}: {read:?}"),
            }
        }
        assert!(matches!(read(&dir.path().join("none"), "good.md", 16), Err(Unusable::Missing)));
    }
}
