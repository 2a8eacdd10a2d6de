//! How a record's body is stored and read: for `tests/fuzz`.

use crate::{error::ReadError, stored_form};
use abide_protocol::{Seq, record::RecordBody};

/// The body that was stored as `body`, under that kind and version.
///
/// # Errors
/// It cannot be read.
pub fn read(kind: &str, version: u32, body: &str) -> Result<RecordBody, ReadError> {
    stored_form::read(Seq(1), kind, version, body)
}

/// Kind, version and text, as a body is stored today.
///
/// # Errors
/// It is not representable.
pub fn stored(body: &RecordBody) -> Result<(&'static str, u32, String), serde_json::Error> {
    let stored = stored_form::Stored::of(body)?;
    Ok((stored.kind, stored.version, stored.body().to_owned()))
}
