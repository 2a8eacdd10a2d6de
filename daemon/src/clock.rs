//! The only source of time and entropy.
//!
//! Three clocks are compared at each look. The system's clock may be set, the second one counts on while the
//! machine sleeps, and the third one stands still then. What the system's clock shows is recorded; how far it
//! has moved otherwise goes with each [`Mint`], so that work and delays are counted rightly ([`ClockMoved`]).

use abide_engine::Mint;
use abide_protocol::{Timestamp, record::ClockMoved};
use std::{
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

/// From this difference between two looks on, in ms, a clock was set or the machine slept. A smaller one is a
/// correction.
const NOTICEABLE: i64 = 1_000;
/// The clocks are read one after the other, within so many ms; otherwise they are read again.
const AT_ONCE: i64 = 50;

/// What the clocks show, in ms.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// The system's clock, since the Unix epoch.
    system: i64,
    /// Counts on while the machine sleeps, where the system has such a clock.
    elapsed: i64,
    /// Stands still while the machine sleeps.
    awake: i64,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    last: Look,
    /// Since the daemon's start.
    moved: ClockMoved,
}

static CLOCK: Mutex<Option<Clock>> = Mutex::new(None);

/// The current time of the system's clock.
#[must_use]
pub fn now() -> Timestamp {
    look().0
}

/// How far the clock has moved since the daemon's start.
#[must_use]
pub fn moved() -> ClockMoved {
    look().1
}

/// The current time as it would be if nobody had set the clock since the daemon's start.
#[must_use]
pub fn steady(at: Timestamp, moved: ClockMoved) -> Timestamp {
    at.moved_by(moved.set_by_ms.saturating_neg())
}

/// A mint of the current time. All ids of the daemon come from one.
#[expect(clippy::disallowed_methods, reason = "the one source of entropy")]
#[must_use]
pub fn mint() -> Mint {
    let (_, entropy) = uuid::Uuid::now_v7().as_u64_pair();
    let (now, moved) = look();
    Mint::new(now, entropy).moved(moved)
}

/// The minute of the day in local time, 0 to 1439.
#[must_use]
pub fn minute_of_day() -> u16 {
    use chrono::Timelike as _;
    let now = chrono::Local::now().time();
    u16::try_from(now.hour() * 60 + now.minute()).unwrap_or_default()
}

fn look() -> (Timestamp, ClockMoved) {
    let mut clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Look::now();
    let clock = clock.get_or_insert(Clock { last: now, moved: ClockMoved::default() });
    clock.see(now);
    (Timestamp(now.system), clock.moved)
}

impl Clock {
    fn see(&mut self, now: Look) {
        let before = std::mem::replace(&mut self.last, now);
        let elapsed = now.elapsed - before.elapsed;
        let slept = elapsed - (now.awake - before.awake);
        let set_by = (now.system - before.system) - elapsed;
        if slept >= NOTICEABLE {
            self.moved.slept_ms += slept.unsigned_abs();
        }
        if set_by.abs() >= NOTICEABLE {
            self.moved.set_by_ms += set_by;
        }
    }
}

impl Look {
    fn now() -> Self {
        // The thread may be interrupted between two clocks, and the machine may be put to sleep.
        for _ in 0..8 {
            let (before, look) = (elapsed(), Self { system: system(), awake: awake(), elapsed: elapsed() });
            if look.elapsed - before < AT_ONCE {
                return look;
            }
        }
        Self { system: system(), awake: awake(), elapsed: elapsed() }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one source of time")]
fn system() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(target_os = "linux")]
fn elapsed() -> i64 {
    of(rustix::time::ClockId::Boottime)
}

#[cfg(target_os = "linux")]
fn awake() -> i64 {
    of(rustix::time::ClockId::Monotonic)
}

#[cfg(target_os = "linux")]
fn of(clock: rustix::time::ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000)
}

/// Elsewhere a sleep is not told from a clock that was set.
#[cfg(not(target_os = "linux"))]
fn elapsed() -> i64 {
    awake()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "the one source of time")]
fn awake() -> i64 {
    use std::{sync::OnceLock, time::Instant};
    static START: OnceLock<Instant> = OnceLock::new();
    i64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Clock, Look, steady};
    use abide_protocol::{Timestamp, record::ClockMoved};

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_sleep_and_a_clock_that_was_set_are_told_apart_from_time_that_passes() {
        let start = Look { system: 1_000_000 * HOUR, elapsed: 70 * HOUR, awake: 50 * HOUR };
        // What each clock shows later, in ms after the start.
        let table = [
            ("time passes", [HOUR, HOUR, HOUR], (0, 0)),
            ("a lid is closed for an hour", [2 * HOUR, 2 * HOUR, HOUR], (HOUR, 0)),
            ("the clock is set back by a day", [HOUR - 24 * HOUR, HOUR, HOUR], (0, -24 * HOUR)),
            ("the clock is set forward", [3 * HOUR, HOUR, HOUR], (0, 2 * HOUR)),
            ("set forward, after a sleep", [5 * HOUR, 2 * HOUR, HOUR], (HOUR, 3 * HOUR)),
            ("a correction", [HOUR + 900, HOUR, HOUR], (0, 0)),
        ];
        for (what, [system, elapsed, awake], (slept, set_by_ms)) in table {
            let mut clock = Clock { last: start, moved: ClockMoved::default() };
            clock.see(Look {
                system: start.system + system,
                elapsed: start.elapsed + elapsed,
                awake: start.awake + awake,
            });
            assert_eq!(clock.moved, ClockMoved { slept_ms: slept.unsigned_abs(), set_by_ms }, "{what}");
        }
        let moved = ClockMoved { slept_ms: 7, set_by_ms: -5 };
        assert_eq!(steady(Timestamp(100), moved), Timestamp(105));
    }
}
