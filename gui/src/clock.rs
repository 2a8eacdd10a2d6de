//! The one place of the window that asks what time it is.

use abide_client::protocol::Timestamp;

/// Where a moment comes from; tests have their own.
pub type Clock = fn() -> Timestamp;

/// Now.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the source of time for the window")]
pub fn system() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}
