//! The key file. It also lists the providers whose keys are in the keyring.

use super::KeyError;
use crate::private_file::{self, Fault};
use abide_host::replace_file;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

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
        let text = private_file::read(path).map_err(|fault| match fault {
            Fault::Io(source) => KeyError::Io { doing: "read", path: path.to_owned(), source },
            Fault::Exposed => KeyError::Exposed { path: path.to_owned() },
            Fault::NotOurs => KeyError::NotOurs { path: path.to_owned() },
        })?;
        let Some(text) = text else { return Ok(Self::default()) };
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
