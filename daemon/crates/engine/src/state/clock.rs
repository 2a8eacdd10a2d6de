//! How long a task has worked: waiting, paused and daemon-down time do not count.

use abide_protocol::{Timestamp, task::Work};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// ms, up to the last record.
    worked: u64,
    /// The last record's time, while working.
    pub(crate) working_since: Option<Timestamp>,
}

impl Clock {
    pub(crate) const fn started(at: Timestamp) -> Self {
        Self { worked: 0, working_since: Some(at) }
    }

    /// Adds the time up to `at`, the time of a record; from here on the task works, or not.
    pub(crate) fn record(&mut self, at: Timestamp, works: bool) {
        self.worked = self.worked_at(at);
        self.working_since = works.then_some(at);
    }

    /// The time that has passed on the system's clock without work, in ms: the machine slept, or the clock
    /// was set.
    pub(crate) fn leave_out(&mut self, ms: i64) {
        self.working_since = self.working_since.map(|since| since.moved_by(ms));
    }

    /// Adds the time up to `from`, and leaves out that from there to `to`: the daemon was not running.
    pub(crate) fn skip(&mut self, from: Timestamp, to: Timestamp) {
        self.worked = self.worked_at(from);
        self.working_since = self.working_since.map(|_| to);
    }

    /// ms of work up to `at`.
    pub(crate) fn worked_at(&self, at: Timestamp) -> u64 {
        self.worked + self.working_since.map_or(0, |since| at.since(since))
    }

    /// The same for clients.
    pub(crate) const fn work(&self) -> Work {
        Work { ms: self.worked, since: self.working_since }
    }

    /// When the task will have worked for `limit` ms, if it goes on.
    pub(crate) fn reaches(&self, limit: u64) -> Option<Timestamp> {
        self.working_since.map(|since| since.plus(limit.saturating_sub(self.worked)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_see_the_time_of_work_without_the_wait() {
        let mut clock = Clock::started(Timestamp(0));
        assert_eq!(clock.work(), Work { ms: 0, since: Some(Timestamp(0)) });
        clock.record(Timestamp(1000), false);
        assert_eq!(clock.work(), Work { ms: 1000, since: None });
        clock.record(Timestamp(9000), true);
        assert_eq!(clock.work(), Work { ms: 1000, since: Some(Timestamp(9000)) });
    }
}
