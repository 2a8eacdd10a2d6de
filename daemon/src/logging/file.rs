use super::LogError;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Writes `abided.log`; older files are `abided.log.1` to `abided.log.4`. Rotated by size, so that one busy
/// day cannot fill the disk.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    /// Bytes in the newest file.
    size: u64,
    max_size: u64,
}

impl LogFile {
    /// The newest file's name.
    pub const NAME: &str = "abided.log";
    /// The size at which a file is rotated, in bytes.
    const MAX_SIZE: u64 = 8 * 1024 * 1024;
    /// The number of older files.
    const OLDER: u32 = 4;

    /// # Errors
    /// The newest file cannot be written.
    pub fn open(dir: &Path) -> Result<Self, LogError> {
        let path = dir.join(Self::NAME);
        Self::open_with(path.clone(), Self::MAX_SIZE).map_err(|source| LogError::File { path, source })
    }

    fn open_with(path: PathBuf, max_size: u64) -> io::Result<Self> {
        let (file, size) = open(&path)?;
        Ok(Self { path, file, size, max_size })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let older = |n: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{n}"));
            PathBuf::from(name)
        };
        for n in (1..Self::OLDER).rev() {
            match fs::rename(older(n), older(n + 1)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        fs::rename(&self.path, older(1))?;
        (self.file, self.size) = open(&self.path)?;
        Ok(())
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.size >= self.max_size
            && let Err(e) = self.rotate()
        {
            // Goes on in the old file; the next attempt is made when it is twice as long.
            self.max_size = self.max_size.saturating_mul(2);
            let _ = writeln!(self.file, "the log cannot begin a new file: {e}");
        }
        let written = self.file.write(line)?;
        self.size = self.size.saturating_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Opens for appending, private to this user, without following a symbolic link.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_older_files_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abided.log");
        let mut log = LogFile::open_with(path.clone(), 10).unwrap();
        for n in 0..8 {
            log.write_all(format!("line {n} 123\n").as_bytes()).unwrap();
        }
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["abided.log", "abided.log.1", "abided.log.2", "abided.log.3", "abided.log.4"]);
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            (read("abided.log").as_str(), read("abided.log.4").as_str()),
            ("line 7 123\n", "line 3 123\n")
        );
    }

    #[test]
    fn a_restart_goes_on_in_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abided.log");
        for n in 0..2 {
            LogFile::open_with(path.clone(), 10).unwrap().write_all(format!("{n}\n").as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "0\n1\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abided.log");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        assert!(LogFile::open(dir.path()).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }

    #[test]
    fn a_log_that_cannot_rotate_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abided.log");
        fs::create_dir_all(dir.path().join("abided.log.4/full")).unwrap();
        fs::write(dir.path().join("abided.log.3"), "").unwrap();
        let mut log = LogFile::open_with(path.clone(), 4).unwrap();
        log.write_all(b"12345\n").unwrap();
        log.write_all(b"6789\n").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("12345\nthe log cannot begin a new file: ") && text.ends_with("\n6789\n"),
            "{text}"
        );
    }
}
