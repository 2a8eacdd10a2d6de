//! Earlier messages of `abide chat`, for the arrow keys and Ctrl-R.
//!
//! The file has one JSON string on each line, oldest first; only this user can read it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

/// How many entries are kept.
const MAX_ENTRIES: usize = 1000;
/// The longest entry kept, in bytes; a longer text was pasted.
const MAX_ENTRY: usize = 16 * 1024;
/// How much of the file's end is read, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;

pub(crate) struct History {
    /// `None`: entries are kept in memory only.
    file: Option<PathBuf>,
    /// Oldest first, each once.
    entries: Vec<String>,
}

impl History {
    /// A history that is not saved.
    pub(crate) const fn in_memory() -> Self {
        Self { file: None, entries: Vec::new() }
    }

    /// The history in `file`, which need not exist yet. Lines that are no JSON string are dropped.
    ///
    /// # Errors
    /// The file cannot be read, or cannot be written anew when most of it is outdated.
    pub(crate) fn open(file: PathBuf) -> io::Result<Self> {
        let lines = lines(&file)?;
        let stored = lines.len();
        let mut history = Self { file: Some(file), entries: Vec::new() };
        for line in lines {
            if let Ok(entry) = serde_json::from_str::<String>(&line) {
                history.insert(&entry);
            }
        }
        // The file is only appended to, so it keeps entries that were repeated or dropped since.
        if stored > 2 * MAX_ENTRIES {
            history.rewrite()?;
        }
        Ok(history)
    }

    /// Oldest first.
    pub(crate) fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds an entry and removes an equal older one. A text that begins with a space is not kept, as in a
    /// shell.
    ///
    /// # Errors
    /// The file cannot be written; the entry is kept in memory.
    pub(crate) fn add(&mut self, entry: &str) -> io::Result<()> {
        let entry = entry.trim_end();
        if entry.is_empty() || entry.starts_with(' ') || self.entries.last().is_some_and(|last| last == entry)
        {
            return Ok(());
        }
        self.insert(entry);
        match &self.file {
            Some(file) if entry.len() <= MAX_ENTRY => append(file, entry),
            _ => Ok(()),
        }
    }

    fn insert(&mut self, entry: &str) {
        self.entries.retain(|known| known != entry);
        self.entries.push(entry.to_owned());
        let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..surplus);
    }

    fn rewrite(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let new = file.with_extension(format!("new-{}", std::process::id()));
        let mut text = String::new();
        for entry in &self.entries {
            text.push_str(&serde_json::to_string(entry)?);
            text.push('\n');
        }
        private().write(true).truncate(true).open(&new)?.write_all(text.as_bytes())?;
        fs::rename(&new, file)
    }
}

/// The whole lines at the end of the file; none if there is no file.
fn lines(path: &Path) -> io::Result<Vec<String>> {
    use io::{Seek as _, SeekFrom};
    let mut file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let skipped = file.metadata()?.len().saturating_sub(MAX_FILE);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // If only the end of the file is read, its first line is incomplete.
    Ok(text.lines().skip(usize::from(skipped > 0)).map(str::to_owned).collect())
}

fn append(path: &Path, entry: &str) -> io::Result<()> {
    let line = format!("{}\n", serde_json::to_string(entry)?);
    let mut file = private().append(true).open(path)?;
    // One write, since several chats may append at once.
    file.write_all(line.as_bytes())
}

/// Creates a missing file, for this user only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &tempfile::TempDir) -> PathBuf {
        dir.path().join("chat-history")
    }

    fn reopened(dir: &tempfile::TempDir) -> Vec<String> {
        History::open(file(dir)).unwrap().entries().to_vec()
    }

    #[test]
    fn entries_survive_with_their_lines_and_each_is_kept_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::open(file(&dir)).unwrap();
        for entry in ["one", "two\nlines", "one", "one", "", "  ", " secret", "\\"] {
            history.add(entry).unwrap();
        }
        assert_eq!(history.entries(), ["two\nlines", "one", "\\"]);
        assert_eq!(reopened(&dir), history.entries());
    }

    #[cfg(unix)]
    #[test]
    fn only_this_user_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        History::open(file(&dir)).unwrap().add("one").unwrap();
        assert_eq!(fs::metadata(file(&dir)).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_newest_thousand_are_kept_and_the_file_does_not_grow_without_bound() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::open(file(&dir)).unwrap();
        for i in 0..=2 * MAX_ENTRIES {
            history.add(&format!("entry {i}")).unwrap();
        }
        assert_eq!(history.entries().len(), MAX_ENTRIES);
        assert_eq!(reopened(&dir).last().map(String::as_str), Some("entry 2000"));
        assert_eq!(fs::read_to_string(file(&dir)).unwrap().lines().count(), MAX_ENTRIES);
    }

    #[test]
    fn damaged_lines_and_overlong_entries_do_not_affect_others() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(file(&dir), b"\"one\"\n\xff\xfe\nnot json\n[1]\n\"two\"\n\"cut").unwrap();
        let mut history = History::open(file(&dir)).unwrap();
        assert_eq!(history.entries(), ["one", "two"]);
        let long = "x".repeat(MAX_ENTRY + 1);
        history.add(&long).unwrap();
        assert_eq!(history.entries().last(), Some(&long));
        assert!(!reopened(&dir).contains(&long));
    }

    #[test]
    fn in_memory_nothing_is_written() {
        let mut history = History::in_memory();
        history.add("one").unwrap();
        assert_eq!(history.entries(), ["one"]);
    }
}
