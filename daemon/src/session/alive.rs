//! The last sign of life: until when a daemon certainly ran, in a file. Its successor counts the work until
//! then.

use abide_protocol::Timestamp;
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::PathBuf,
};

/// The file holds a time: ms since the Unix epoch. It is not synced: a loss costs seconds of counted work.
#[derive(Debug, Clone)]
pub struct Alive(PathBuf);

impl Alive {
    #[must_use]
    pub const fn new(file: PathBuf) -> Self {
        Self(file)
    }

    /// The last sign, if there is one.
    #[must_use]
    pub fn last(&self) -> Option<Timestamp> {
        fs::read_to_string(&self.0).ok()?.trim().parse().ok().map(Timestamp)
    }

    /// Gives a sign. If it cannot be written, the work since the newest record does not count after a crash.
    pub fn sign(&self, now: Timestamp) {
        if let Err(error) = self.write(now) {
            tracing::debug!(path = %self.0.display(), %error, "cannot give a sign of life");
        }
    }

    /// Of constant length, so that it is overwritten in place.
    fn write(&self, now: Timestamp) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.0)?.write_all(format!("{:020}\n", now.0).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::Alive;
    use abide_protocol::Timestamp;

    #[test]
    fn the_last_sign_counts_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("alive");
        let alive = Alive::new(file.clone());
        assert_eq!(alive.last(), None);
        alive.sign(Timestamp(1_796_000_000_123));
        alive.sign(Timestamp(77));
        assert_eq!(alive.last(), Some(Timestamp(77)));
        std::fs::write(file, "soon").unwrap();
        assert_eq!(alive.last(), None);
    }
}
