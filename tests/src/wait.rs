//! Waits that name what they wait for.

use std::{env, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// Between two looks at something that cannot be awaited.
const LOOK_AGAIN: Duration = Duration::from_millis(15);

/// How long anything may take: `ABIDE_TEST_TIMEOUT_SECS`, or a minute.
#[must_use]
pub fn limit() -> Duration {
    let secs = env::var("ABIDE_TEST_TIMEOUT_SECS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    Duration::from_secs(secs)
}

/// What `future` comes to.
///
/// # Panics
/// It does not come to anything in time.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(limit(), future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s in vain for: {what}", limit().as_secs()),
    }
}

/// Waits until `look` finds something, for what does not tell by itself: files, processes, screens.
///
/// # Panics
/// It does not happen in time.
pub async fn wait_for<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "waited {} s in vain for: {what}", limit().as_secs());
        sleep(LOOK_AGAIN).await;
    }
}

/// A moment later: for a look of one's own, where [`wait_for`] cannot be had.
pub async fn look_again() {
    sleep(LOOK_AGAIN).await;
}

/// [`wait_for`], for a test that has more to say than that it waited in vain.
pub async fn within_or<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit();
    loop {
        match look().await {
            None if Instant::now() < end => sleep(LOOK_AGAIN).await,
            None => {
                eprintln!("waited {} s in vain for: {what}", limit().as_secs());
                return None;
            }
            found => return found,
        }
    }
}

/// [`wait_for`] a condition.
///
/// # Panics
/// It does not become true in time.
pub async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    wait_for(what, async || is_so().await.then_some(())).await;
}
