//! Wakes conversations for retries, delayed steps and time limits. One timer for all of them. It also gives
//! the signs of life.

use super::Sessions;
use crate::clock::{self, steady};
use abide_protocol::{ConversationId, Timestamp, record::ClockMoved};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::Notify, time::MissedTickBehavior};

/// The clock is read at least this often, because the machine may have slept.
const LONGEST: Duration = Duration::from_secs(60);
/// The same while a conversation is in memory. Each time is a sign of life.
const SIGN: Duration = Duration::from_secs(5);

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Alarm {
    moments: Arc<Mutex<Moments>>,
    changed: Arc<Notify>,
}

/// All times are steady: nobody sets that clock.
#[derive(Debug, Default)]
struct Moments {
    by_time: BTreeSet<(Timestamp, ConversationId)>,
    /// One that has come stays here until the conversation sets another.
    of: HashMap<ConversationId, Moment>,
}

#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Timestamp,
    /// How far the clock had moved for the conversation that set it.
    clock: ClockMoved,
}

impl Alarm {
    fn lock(&self) -> MutexGuard<'_, Moments> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets or clears a conversation's wake-up time, by the system's clock when it had moved so far.
    pub fn set(&self, conversation: ConversationId, at: Option<Timestamp>, clock: ClockMoved) {
        let mut moments = self.lock();
        if let Some(before) = moments.of.remove(&conversation) {
            moments.by_time.remove(&(before.at, conversation));
        }
        if let Some(at) = at.map(|at| steady(at, clock)) {
            moments.of.insert(conversation, Moment { at, clock });
            moments.by_time.insert((at, conversation));
            if moments.by_time.first() == Some(&(at, conversation)) {
                self.changed.notify_one();
            }
        }
    }

    /// A conversation is in memory: from here on there are signs of life.
    pub fn look(&self) {
        self.changed.notify_one();
    }

    /// How far the clock had moved when the conversation's alarm was set, if one is set.
    #[must_use]
    pub fn clock(&self, conversation: ConversationId) -> Option<ClockMoved> {
        self.lock().of.get(&conversation).map(|moment| moment.clock)
    }

    /// The conversations whose time has come; `now` is steady.
    fn take_due(&self, now: Timestamp) -> Vec<ConversationId> {
        let mut moments = self.lock();
        let mut due = Vec::new();
        while let Some(&(at, conversation)) = moments.by_time.first().filter(|(at, _)| *at <= now) {
            moments.by_time.remove(&(at, conversation));
            due.push(conversation);
        }
        due
    }

    fn until_next(&self, now: Timestamp) -> Duration {
        let next = self.lock().by_time.first().map(|(at, _)| *at);
        next.map_or(LONGEST, |at| Duration::from_millis(at.since(now)).min(LONGEST))
    }

    /// Wakes conversations until the daemon ends.
    pub async fn run(self, sessions: Sessions) {
        let mut known = clock::moved();
        let mut signs = tokio::time::interval(SIGN);
        signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let moved = clock::moved();
            let now = steady(clock::now(), moved);
            for conversation in self.take_due(now) {
                sessions.wake(conversation).await;
            }
            if std::mem::replace(&mut known, moved) != moved {
                tracing::info!(?moved, "the clock has moved");
                sessions.wake_open().await;
            }
            tokio::select! {
                () = sessions.inner.supervisor.ending() => return,
                () = self.changed.notified() => {}
                _ = signs.tick(), if !sessions.is_empty() => sessions.sign().await,
                () = tokio::time::sleep(self.until_next(now)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Alarm, steady};
    use abide_protocol::{ConversationId, Timestamp, record::ClockMoved};
    use uuid::Uuid;

    #[test]
    fn a_conversation_has_one_alarm_and_is_due_once() {
        let (a, b) = (ConversationId(Uuid::from_u128(1)), ConversationId(Uuid::from_u128(2)));
        let (alarm, clock) = (Alarm::default(), ClockMoved::default());
        alarm.set(a, Some(Timestamp(10)), clock);
        alarm.set(a, Some(Timestamp(30)), clock);
        alarm.set(b, Some(Timestamp(20)), clock);
        assert_eq!(alarm.take_due(Timestamp(9)), vec![]);
        assert_eq!(alarm.take_due(Timestamp(25)), vec![b]);
        alarm.set(b, None, clock);
        assert_eq!(alarm.until_next(Timestamp(25)).as_millis(), 5);
        assert_eq!(alarm.take_due(Timestamp(30)), vec![a]);
        assert_eq!(alarm.take_due(Timestamp(99)), vec![]);
    }

    #[test]
    fn an_alarm_is_due_after_its_delay_also_if_the_clock_was_set() {
        let (a, b) = (ConversationId(Uuid::from_u128(1)), ConversationId(Uuid::from_u128(2)));
        let (alarm, start) = (Alarm::default(), ClockMoved::default());
        let set_back = ClockMoved { slept_ms: 0, set_by_ms: -80 };
        alarm.set(a, Some(Timestamp(110)), start);
        // At 100 the clock is set back to 20; what is due in 20 ms is due at 40 then.
        alarm.set(b, Some(Timestamp(40)), set_back);
        assert_eq!(alarm.take_due(steady(Timestamp(29), set_back)), vec![]);
        assert_eq!(alarm.take_due(steady(Timestamp(30), set_back)), vec![a]);
        assert_eq!(alarm.take_due(steady(Timestamp(40), set_back)), vec![b]);
        assert_eq!(alarm.clock(a), Some(start), "until the conversation sets another");
    }
}
