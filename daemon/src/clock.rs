//! The only source of time and entropy.

use abide_engine::Mint;
use abide_protocol::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time of the system's clock.
#[expect(clippy::disallowed_methods, reason = "the one source of time")]
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A mint of the current time. All ids of the daemon come from one.
#[expect(clippy::disallowed_methods, reason = "the one source of entropy")]
#[must_use]
pub fn mint() -> Mint {
    let (_, entropy) = uuid::Uuid::now_v7().as_u64_pair();
    Mint::new(now(), entropy)
}

/// The minute of the day in local time, 0 to 1439.
#[must_use]
pub fn minute_of_day() -> u16 {
    use chrono::Timelike as _;
    let now = chrono::Local::now().time();
    u16::try_from(now.hour() * 60 + now.minute()).unwrap_or_default()
}
