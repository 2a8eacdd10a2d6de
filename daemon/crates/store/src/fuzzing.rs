//! Stores and reads a record's body, for `tests/fuzz`.

use crate::{error::ReadError, stored_form};
use abide_protocol::{Seq, record::RecordBody};

/// Reads a body stored under this kind and version.
///
/// # Errors
/// The body cannot be read.
pub fn read(kind: &str, version: u32, body: &str) -> Result<RecordBody, ReadError> {
    stored_form::read(Seq(1), kind, version, body)
}

/// Kind, version and text under which a body is stored.
///
/// # Errors
/// The body has no JSON form.
pub fn stored(body: &RecordBody) -> Result<(&'static str, u32, String), serde_json::Error> {
    let stored = stored_form::Stored::of(body)?;
    Ok((stored.kind, stored.version, stored.body().to_owned()))
}
