//! Wakes conversations for retries, delayed steps and time limits. One timer for all of them.

use super::Sessions;
use abide_protocol::{ConversationId, Timestamp};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// The clock is read at least this often, because it may be set.
const LONGEST: Duration = Duration::from_secs(60);

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Alarm {
    moments: Arc<Mutex<Moments>>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Moments {
    by_time: BTreeSet<(Timestamp, ConversationId)>,
    of: HashMap<ConversationId, Timestamp>,
}

impl Alarm {
    fn lock(&self) -> MutexGuard<'_, Moments> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets or clears a conversation's wake-up time.
    pub fn set(&self, conversation: ConversationId, at: Option<Timestamp>) {
        let mut moments = self.lock();
        if let Some(before) = moments.of.remove(&conversation) {
            moments.by_time.remove(&(before, conversation));
        }
        if let Some(at) = at {
            moments.of.insert(conversation, at);
            moments.by_time.insert((at, conversation));
            if moments.by_time.first() == Some(&(at, conversation)) {
                self.changed.notify_one();
            }
        }
    }

    fn take_due(&self, now: Timestamp) -> Vec<ConversationId> {
        let mut moments = self.lock();
        let mut due = Vec::new();
        while let Some(&(at, conversation)) = moments.by_time.first().filter(|(at, _)| *at <= now) {
            moments.by_time.remove(&(at, conversation));
            moments.of.remove(&conversation);
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
        loop {
            for conversation in self.take_due(crate::clock::now()) {
                sessions.wake(conversation).await;
            }
            tokio::select! {
                () = sessions.inner.supervisor.ending() => return,
                () = self.changed.notified() => {}
                () = tokio::time::sleep(self.until_next(crate::clock::now())) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Alarm;
    use abide_protocol::{ConversationId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn a_conversation_has_one_alarm_and_is_due_once() {
        let (a, b) = (ConversationId(Uuid::from_u128(1)), ConversationId(Uuid::from_u128(2)));
        let alarm = Alarm::default();
        alarm.set(a, Some(Timestamp(10)));
        alarm.set(a, Some(Timestamp(30)));
        alarm.set(b, Some(Timestamp(20)));
        assert_eq!(alarm.take_due(Timestamp(9)), vec![]);
        assert_eq!(alarm.take_due(Timestamp(25)), vec![b]);
        alarm.set(b, None);
        assert_eq!(alarm.until_next(Timestamp(25)).as_millis(), 5);
        assert_eq!(alarm.take_due(Timestamp(30)), vec![a]);
        assert_eq!(alarm.take_due(Timestamp(99)), vec![]);
    }
}
