//! A model that is a file of replies: for the demo, for tests, for showing a bug again.
//!
//! Stateless: which reply comes next follows from the request alone, so that a script goes on after a crash of the daemon where
//! it was. The first reply whose `when` fits is played.
//!
//! ```json
//! {
//!   "name": "hello",
//!   "chunk_ms": 30,
//!   "replies": [
//!     { "when": { "replies": 0, "offered": "ask_user" },
//!       "text": "Let me ask first.",
//!       "calls": [{ "tool": "ask_user", "arguments": { "question": "Who are you?" } }] },
//!     { "text": "Hello {{answer|stranger}}." }
//!   ]
//! }
//! ```

mod file;
mod play;
mod scene;

use crate::{config::ProviderConfig, demo, error::ModelError, quote::quote};
use abide_protocol::record::ModelErrorKind;
pub(crate) use file::Script;
pub(crate) use play::complete;
use std::io::Read as _;

/// The longest script, in bytes.
const MAX_SCRIPT: u64 = 4 * 1024 * 1024;

/// Reads a provider's script, or the built-in one if it names none.
pub(crate) fn load(config: &ProviderConfig) -> Result<Script, ModelError> {
    let fail = |kind, what: String| ModelError::new(kind, format!("{}: {what}", config.name)).fatal();
    let Some(path) = &config.script else {
        return serde_json::from_str(demo::SCRIPT)
            .map_err(|e| fail(ModelErrorKind::Malformed, format!("the built-in script is broken ({e})")));
    };
    let shown = quote(&path.display().to_string());
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_SCRIPT).read_to_string(&mut text))
        .map_err(|e| fail(ModelErrorKind::NotFound, format!("the script {shown} cannot be read ({e})")))?;
    serde_json::from_str(&text).map_err(|e| {
        let what = format!("the script {shown} is not valid ({})", quote(&e.to_string()));
        fail(ModelErrorKind::BadRequest, what)
    })
}
