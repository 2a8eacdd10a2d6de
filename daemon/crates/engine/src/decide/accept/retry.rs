//! When, and how often, a failed model call is retried, and when its task is parked until the provider can be
//! asked again.

use crate::{decide::input::ModelFailure, state::task::Task};
use abide_protocol::record::ModelErrorKind;

/// A provider that asks to wait at least so many ms has a limit that is used up: the task is parked.
const PARKED_FROM: u64 = 600_000;
/// Nobody is parked for longer than so many ms.
const MAX_PARKED: u64 = 8 * 24 * 3_600_000;
/// How long a task is parked if the provider gives no time, in ms.
const PARKED_FOR: u64 = 900_000;
/// At this number of failures for the same reason a server is out of order in a way that further attempts do
/// not mend.
const ALIKE: u32 = 3;

/// The usual policy: the provider may recover. All delays together are five to six minutes.
const LONG: RetryPolicy = RetryPolicy { attempts: 12, first_delay: 500, max_delay: 60_000 };
/// For an unreachable provider that this task has never reached: the address is likely wrong, or no server
/// runs there. All delays together are about 30 s, enough for a server that is starting or a laptop whose
/// network comes up after it wakes.
const SHORT: RetryPolicy = RetryPolicy { attempts: 5, first_delay: 2_000, max_delay: 60_000 };

/// What follows a failed attempt. Delays are in ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Retry {
        delay: u64,
    },
    /// The task pauses until then.
    Park {
        delay: u64,
    },
    /// The task ends.
    End,
}

/// What follows the failure of this attempt.
pub(super) fn next(task: &Task, attempt: u32, failure: &ModelFailure, random: u64) -> Next {
    let policy = RetryPolicy::after(failure.kind, task.was_reached);
    let park = |delay| match (task.head.parks, task.paused) {
        (true, None) => Next::Park { delay },
        // It is paused already, and stays so.
        (true, Some(_)) => Next::Retry { delay },
        (false, _) => Next::End,
    };
    if !failure.retryable {
        return Next::End;
    }
    if let Some(wait) = failure.retry_after_ms.filter(|wait| *wait >= PARKED_FROM) {
        return park(wait.min(MAX_PARKED));
    }
    if failure.kind == ModelErrorKind::ServerError && task.alike(&failure.message) >= ALIKE {
        // A person may mend the server meanwhile, or its operators.
        return if task.was_parked() { Next::End } else { park(PARKED_FOR) };
    }
    if attempt < policy.attempts {
        return Next::Retry { delay: policy.delay(attempt, failure.retry_after_ms, random) };
    }
    if failure.kind == ModelErrorKind::RateLimited { park(PARKED_FOR) } else { Next::End }
}

/// Delays are in ms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RetryPolicy {
    /// The most attempts, the first one included.
    pub(crate) attempts: u32,
    first_delay: u64,
    max_delay: u64,
}

impl RetryPolicy {
    /// `was_reached`: a request of this task has reached the provider before. Then the address is right, and
    /// giving up would lose work.
    pub(crate) const fn after(kind: ModelErrorKind, was_reached: bool) -> Self {
        match kind {
            ModelErrorKind::Unreachable if !was_reached => SHORT,
            _ => LONG,
        }
    }

    /// The delay after this attempt fails: it doubles each time, plus up to a quarter of jitter, and is at
    /// least what the provider asks.
    pub(crate) fn delay(&self, attempt: u32, retry_after: Option<u64>, random: u64) -> u64 {
        let doubled = self.first_delay.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        let base = doubled.min(self.max_delay);
        let jittered = base + random % (base / 4 + 1);
        jittered.max(retry_after.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::{LONG, ModelErrorKind as Kind, RetryPolicy, SHORT};

    #[test]
    fn only_a_provider_that_was_never_reached_gets_few_attempts() {
        let table = [
            (Kind::Unreachable, false, SHORT),
            (Kind::Unreachable, true, LONG),
            (Kind::Network, false, LONG),
            (Kind::Overloaded, false, LONG),
            (Kind::Stalled, true, LONG),
        ];
        for (kind, was_reached, expected) in table {
            assert_eq!(RetryPolicy::after(kind, was_reached), expected, "{kind:?}, reached: {was_reached}");
        }
    }

    #[test]
    fn delays_double_up_to_a_minute_and_are_at_least_the_retry_after() {
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
        for (policy, attempt, retry_after, least) in table {
            for random in [0, 1, u64::MAX] {
                let ms = policy.delay(attempt, retry_after, random);
                assert!((least..=least + least / 4).contains(&ms), "attempt {attempt}: {ms} ms");
            }
        }
        let jittered = [124, 125, 126].map(|random| LONG.delay(1, None, random));
        assert_eq!(jittered, [624, 625, 500], "a quarter of jitter, all of it");
    }

    #[test]
    fn the_delays_add_up_to_30_s_and_5_minutes() {
        let sum = |policy: &RetryPolicy| -> u64 {
            (1..policy.attempts).map(|attempt| policy.delay(attempt, None, 0)).sum()
        };
        assert_eq!((sum(&SHORT), sum(&LONG)), (30_000, 303_500));
    }
}
