//! How often, and after how long, a failed model call is tried again.

use abide_protocol::record::ModelErrorKind;

/// The longest a provider's `Retry-After` is heeded, in ms.
const MAX_RETRY_AFTER: u64 = 3_600_000;

/// A model that answers badly or not at all may be well again soon: with the delays, about six minutes.
const LONG: Patience = Patience { attempts: 12, first_delay: 500, max_delay: 60_000 };
/// An address at which this task has never reached anybody is likely wrong, or nothing runs there. With the delays about 30 s:
/// enough for a server that is being started, or for a laptop that wakes before its network does.
const SHORT: Patience = Patience { attempts: 5, first_delay: 2_000, max_delay: 60_000 };

/// Delays are in ms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// The most attempts, the first one included.
    pub(crate) attempts: u32,
    first_delay: u64,
    max_delay: u64,
}

impl Patience {
    /// With such a failure. `was_reached`: a request of this task has reached the provider before, so the address is right, and
    /// work is lost if the task gives up.
    pub(crate) const fn with(kind: ModelErrorKind, was_reached: bool) -> Self {
        match kind {
            ModelErrorKind::Unreachable if !was_reached => SHORT,
            _ => LONG,
        }
    }

    /// From the failure of that attempt to the next one: doubles each time, with up to a quarter of jitter; never less than the
    /// provider wants.
    pub(crate) fn delay(&self, attempt: u32, retry_after: Option<u64>, random: u64) -> u64 {
        let doubled = self.first_delay.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        let base = doubled.min(self.max_delay);
        let jittered = base + random % (base / 4 + 1);
        jittered.max(retry_after.unwrap_or(0).min(MAX_RETRY_AFTER))
    }
}

#[cfg(test)]
mod tests {
    use super::{LONG, ModelErrorKind as Kind, Patience, SHORT};

    #[test]
    fn only_an_address_that_never_answered_is_given_up_soon() {
        let table = [
            (Kind::Unreachable, false, SHORT),
            (Kind::Unreachable, true, LONG),
            (Kind::Network, false, LONG),
            (Kind::Overloaded, false, LONG),
            (Kind::Stalled, true, LONG),
        ];
        for (kind, was_reached, expected) in table {
            assert_eq!(Patience::with(kind, was_reached), expected, "{kind:?}, reached: {was_reached}");
        }
    }

    #[test]
    fn delays_double_up_to_a_minute_and_heed_the_provider() {
        let table = [
            (&LONG, 1, None, 500),
            (&LONG, 2, None, 1_000),
            (&LONG, 5, None, 8_000),
            (&LONG, 8, None, 60_000),
            (&LONG, 12, None, 60_000),
            (&LONG, 1, Some(7_000), 7_000),
            (&SHORT, 1, None, 2_000),
            (&SHORT, 4, None, 16_000),
        ];
        for (patience, attempt, retry_after, least) in table {
            for random in [0, 1, u64::MAX] {
                let ms = patience.delay(attempt, retry_after, random);
                assert!((least..=least + least / 4).contains(&ms), "attempt {attempt}: {ms} ms");
            }
        }
        assert_eq!(LONG.delay(1, Some(u64::MAX), 0), 3_600_000);
        let jittered = [124, 125, 126].map(|random| LONG.delay(1, None, random));
        assert_eq!(jittered, [624, 625, 500], "a quarter of jitter, all of it");
    }

    #[test]
    fn all_attempts_take_about_as_long_as_is_said() {
        let whole = |patience: &Patience| -> u64 {
            (1..patience.attempts).map(|attempt| patience.delay(attempt, None, 0)).sum()
        };
        assert_eq!((whole(&SHORT), whole(&LONG)), (30_000, 303_500));
    }
}
