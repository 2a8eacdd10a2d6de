//! The first line of a file that `abide daemon install` writes, by which it knows the file again. The
//! checksum tells whether anybody has edited it since.

use std::{fs, io, path::Path};

const HEAD: &str =
    "# Written by `abide daemon install`, which replaces and removes this file while it is unchanged: ";

/// The text below its mark.
#[must_use]
pub fn marked(text: &str) -> String {
    format!("{HEAD}{:08x}\n{text}", crc32fast::hash(text.as_bytes()))
}

/// What is at the path of a file that `abide daemon install` would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// As it was written: the whole text, with its mark.
    Ours(String),
    /// Written by somebody else, or edited since.
    Others,
}

impl Found {
    /// # Errors
    /// The path cannot be read.
    pub fn at(path: &Path) -> io::Result<Self> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => {}
            // A link was made by a person or by systemd, to mask the unit, say.
            Ok(_) => return Ok(Self::Others),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(e) => return Err(e),
        }
        let bytes = fs::read(path)?;
        Ok(String::from_utf8(bytes).ok().filter(|text| is_unchanged(text)).map_or(Self::Others, Self::Ours))
    }
}

fn is_unchanged(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(_, below)| marked(below) == text)
}
