//! How long the daemon waits between two attempts to go over to the same program.

use std::time::Duration;
use tokio::time::Instant;

/// The pause after the first attempt in vain; it doubles with each further one.
pub(super) const SHORTEST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(1800);

/// Attempts that came to nothing, and when the next one may be made.
#[derive(Debug)]
pub(super) struct Delay {
    until: Instant,
    /// The pause after the next attempt in vain.
    next: Duration,
}

impl Delay {
    /// No attempt was made yet: the first may be made at once.
    pub(super) fn none() -> Self {
        Self { until: Instant::now(), next: SHORTEST }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// An attempt was in vain.
    pub(super) fn grow(&mut self) {
        self.until = Instant::now() + self.next;
        self.next = (self.next * 2).min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_pause_doubles_up_to_half_an_hour_and_a_new_program_has_none() {
        let mut delay = Delay::none();
        assert!(delay.is_over(), "the first attempt is made at once");
        for secs in [60, 120, 240, 480, 960, 1800, 1800] {
            delay.grow();
            tokio::time::advance(Duration::from_secs(secs) - Duration::from_millis(1)).await;
            assert!(!delay.is_over(), "{secs} s are not over");
            tokio::time::advance(Duration::from_millis(1)).await;
            assert!(delay.is_over(), "{secs} s are over");
        }
        assert!(Delay::none().is_over());
    }
}
