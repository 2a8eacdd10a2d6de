//! Waits that name what they wait for.

use std::{env, time::Duration};
use tokio::time::{sleep, timeout};

/// The interval at which a condition is checked that cannot be awaited.
const LOOK_AGAIN: Duration = Duration::from_millis(15);

/// How long anything may take: `ABIDE_TEST_TIMEOUT_SECS`, or a minute.
#[must_use]
pub fn limit() -> Duration {
    let secs = env::var("ABIDE_TEST_TIMEOUT_SECS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    Duration::from_secs(secs)
}

/// Awaits `future`, with the limit.
///
/// # Panics
/// It does not complete in time.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(limit(), future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s in vain for: {what}", limit().as_secs()),
    }
}

/// Calls `look` until it returns something: for files, processes and screens, which do not notify.
///
/// # Panics
/// It does not happen in time.
pub async fn wait_for<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    within(what, found(look)).await
}

/// [`wait_for`], where `look` describes what it found instead; the failure message has the last description.
///
/// # Panics
/// It does not happen in time.
pub async fn wait_seeing<T>(what: &str, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let mut instead = String::new();
    let looking = found(async || look().await.map_err(|seen| instead = seen).ok());
    match timeout(limit(), looking).await {
        Ok(found) => found,
        Err(_) => panic!("waited {} s in vain for: {what}; there is:\n{instead}", limit().as_secs()),
    }
}

/// [`wait_for`] with ten times the limit: for a real model, which on a busy machine writes a few words in a
/// second.
///
/// # Panics
/// It does not happen in time.
pub async fn wait_long_for<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    match timeout(limit() * 10, found(look)).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s in vain for: {what}", limit().as_secs() * 10),
    }
}

/// [`wait_for`], for a test that adds to the failure message.
pub async fn within_or<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let found = timeout(limit(), found(look)).await;
    found.inspect_err(|_| eprintln!("waited {} s in vain for: {what}", limit().as_secs())).ok()
}

/// Calls `look` repeatedly; the caller limits the time, also of a call that hangs.
async fn found<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    loop {
        if let Some(found) = look().await {
            return found;
        }
        look_again().await;
    }
}

/// Waits for the interval of [`wait_for`], for loops of one's own.
pub async fn look_again() {
    sleep(LOOK_AGAIN).await;
}

/// [`wait_for`] a condition.
///
/// # Panics
/// It does not become true in time.
pub async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    wait_for(what, async || is_so().await.then_some(())).await;
}
