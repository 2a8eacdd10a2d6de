//! Files attached to a prompt: each is a named block of its text.

use crate::{emoji::drawable, words};
use abide_host::text::visible_line;
use std::{io::Read as _, path::Path};

/// The most of one file, in bytes; the rest is left out, with a note.
pub const MAX_BYTES: usize = 64 * 1024;
/// The most files of one prompt.
pub const MAX_FILES: usize = 8;

/// A text file as it was when it was attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    pub name: String,
    text: String,
    is_cut: bool,
}

/// A dropped or chosen path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    Text(Attached),
    Folder(String),
}

/// Inspects a path. The disk may be slow.
///
/// # Errors
/// What it is and why it is not attached, for a person.
pub fn look_at(path: &Path) -> Result<Dropped, String> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let unreadable = |error: std::io::Error| format!("{name} cannot be read: {error}.");
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if found.is_dir() {
        return Ok(Dropped::Folder(path.to_string_lossy().into_owned()));
    }
    // Reading a pipe or a device may never end.
    if !found.is_file() {
        return Err(format!("{name} is no file of text."));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    std::fs::File::open(path).map_err(unreadable)?.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    let is_cut = bytes.len() > MAX_BYTES;
    bytes.truncate(MAX_BYTES);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The limit splits a character.
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            String::from_utf8(bytes).unwrap_or_default()
        }
        Err(_) => return Err(not_text(&name)),
    };
    if text.contains('\0') {
        return Err(not_text(&name));
    }
    Ok(Dropped::Text(Attached { name, text, is_cut }))
}

fn not_text(name: &str) -> String {
    format!(
        "{name} is not text (UTF-8), and only text can be attached. Name its path in the prompt, if a tool shall read it."
    )
}

impl Attached {
    /// The text of its chip.
    #[must_use]
    pub fn label(&self) -> String {
        let size = words::bytes(self.text.len() as u64);
        let cut = if self.is_cut { ", cut" } else { "" };
        format!("{} ({size}{cut})", drawable(visible_line(&self.name)))
    }

    /// A block of the prompt. Its fence is longer than any within it.
    #[must_use]
    pub fn block(&self) -> String {
        let longest = self.text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let name = self.name.replace(['`', '\n', '\r'], " ");
        let cut = if self.is_cut { " (its beginning; the rest is left out)" } else { "" };
        let end = if self.text.ends_with('\n') { "" } else { "\n" };
        format!("File `{name}`{cut}:\n{fence}\n{}{end}{fence}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str, bytes: &[u8]) -> Result<Dropped, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        look_at(&path)
    }

    fn text(name: &str, bytes: &[u8]) -> Attached {
        match write(name, bytes) {
            Ok(Dropped::Text(attached)) => attached,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn a_text_is_a_named_block() {
        let attached = text("notes.md", b"one\n```\ntwo\n```");
        assert_eq!(attached.block(), "File `notes.md`:\n````\none\n```\ntwo\n```\n````");
        assert_eq!(attached.label(), "notes.md (15 bytes)");
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let attached = text("long.txt", format!("a{}", "ä".repeat(MAX_BYTES)).as_bytes());
        assert!(attached.is_cut && attached.text.len() <= MAX_BYTES && attached.text.ends_with('ä'));
        assert!(attached.label().ends_with("cut)"));
        assert!(attached.block().contains("the rest is left out"));
    }

    #[test]
    fn what_is_no_text_is_refused_with_words() {
        for bytes in [&b"\x89PNG\r\n"[..], b"a\0b", b"\xff\xfe"] {
            let words = write("photo.png", bytes).unwrap_err();
            assert!(words.starts_with("photo.png is not text"), "{words}");
        }
        assert!(look_at(Path::new("/dev/zero")).is_err());
        assert!(look_at(Path::new("/there/is/nothing")).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_folder_is_one() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(look_at(dir.path()), Ok(Dropped::Folder(dir.path().to_string_lossy().into_owned())));
    }
}
