//! The only place of the window that reads the clock.

use abide_client::protocol::Timestamp;

/// The source of the current time; tests have their own.
pub type Clock = fn() -> Timestamp;

/// Now.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the source of time for the window")]
pub fn system() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}
