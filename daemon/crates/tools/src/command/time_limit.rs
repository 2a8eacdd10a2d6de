use std::{future::pending, time::Duration};
use tokio::time::{Instant, sleep_until};

/// A time limit whose clock can stand still.
pub(super) enum TimeLimit {
    /// The limit is over at this time.
    Running(Instant),
    /// The clock stands still, with this much left.
    Still(Duration),
}

impl TimeLimit {
    pub(super) fn of(limit: Duration) -> Self {
        Self::Running(Instant::now() + limit)
    }

    pub(super) fn stand_still(&mut self, still: bool) {
        match *self {
            Self::Running(until) if still => {
                *self = Self::Still(until.saturating_duration_since(Instant::now()));
            }
            Self::Still(left) if !still => *self = Self::of(left),
            _ => {}
        }
    }

    /// Returns when the limit is over. Cancel-safe.
    pub(super) async fn over(&self) {
        match *self {
            Self::Running(until) => sleep_until(until).await,
            Self::Still(_) => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};

    #[tokio::test(start_paused = true)]
    async fn time_that_stands_still_does_not_count() {
        let is_over = async |limit: &TimeLimit| timeout(Duration::ZERO, limit.over()).await.is_ok();
        let mut limit = TimeLimit::of(Duration::from_secs(10));
        advance(Duration::from_secs(6)).await;
        limit.stand_still(true);
        limit.stand_still(true);
        advance(Duration::from_secs(1000)).await;
        assert!(!is_over(&limit).await);
        limit.stand_still(false);
        limit.stand_still(false);
        advance(Duration::from_secs(3)).await;
        assert!(!is_over(&limit).await);
        advance(Duration::from_secs(2)).await;
        assert!(is_over(&limit).await);
    }
}
