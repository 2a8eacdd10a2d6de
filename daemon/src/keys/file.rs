//! The key file. It also lists the providers whose keys are in the keyring.

use super::KeyError;
use abide_host::replace_file;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(Debug))]
#[serde(deny_unknown_fields, default)]
pub(super) struct KeyFile {
    /// Providers whose key is in the system's keyring.
    pub(super) keyring: BTreeSet<String>,
    /// By provider.
    pub(super) keys: BTreeMap<String, String>,
}

impl KeyFile {
    /// A missing file has no keys.
    pub(super) fn load(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::Io { doing: "read", path: path.to_owned(), source };
        match fs::symlink_metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(failed(e)),
            Ok(found) => private(path, &found)?,
        }
        let file = File::open(path).map_err(failed)?;
        private(path, &file.metadata().map_err(failed)?)?;
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(failed)?;
        toml::from_str(&text).map_err(|e| {
            // Neither the line nor the parser's message is shown: they may contain a key.
            let line =
                e.span().map_or(0, |span| text.bytes().take(span.start).filter(|b| *b == b'\n').count());
            KeyError::Malformed { path: path.to_owned(), what: format!("see line {}", line + 1) }
        })
    }

    /// Replaces the file atomically.
    pub(super) fn save(&self, path: &Path) -> Result<(), KeyError> {
        replace_file(path, &self.text(), None).map_err(|source| KeyError::Io {
            doing: "write",
            path: path.to_owned(),
            source,
        })
    }

    fn text(&self) -> String {
        let mut text =
            "# API keys, kept by `abide key set`. Nobody but you should be able to read this.\n".to_owned();
        let _ = writeln!(text, "keyring = {:?}\n\n[keys]", self.keyring.iter().collect::<Vec<_>>());
        for (name, key) in &self.keys {
            let _ = writeln!(text, "{} = {}", quoted(name), quoted(key));
        }
        text
    }
}

/// A TOML string. (Every JSON string is one, except with DEL, which no key or name has.)
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(unix)]
fn private(path: &Path, found: &fs::Metadata) -> Result<(), KeyError> {
    use std::os::unix::fs::MetadataExt as _;
    if !found.is_file() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(KeyError::NotOurs { path: path.to_owned() });
    }
    if found.mode() & 0o077 != 0 {
        return Err(KeyError::Exposed { path: path.to_owned() });
    }
    Ok(())
}

#[cfg(not(unix))]
fn private(_: &Path, _: &fs::Metadata) -> Result<(), KeyError> {
    Ok(())
}
