//! The simulated daemon: it starts, recovers, drains and dies.

use super::{
    actor::{Actor, Message, has_several_replies},
    life::{Event, Life},
};
use abide_engine::{
    Effect, advance,
    driver::{Failure, Predecessor},
    effects, is_at_work,
};
use abide_protocol::{
    Timestamp,
    record::{ClockMoved, Interruption, NewRecord, RecordBody},
};

/// What is lost when the daemon dies.
#[derive(Default)]
pub(super) struct Daemon {
    pub(super) actor: Option<Actor>,
    pub(super) alarm: Option<Timestamp>,
    /// How far the clock had moved when the alarm was set. It stays until another alarm is set.
    clock: Option<ClockMoved>,
    pub(super) holding: bool,
    pub(super) draining: bool,
    /// It no longer waits for running attempts.
    pub(super) cutting: bool,
    /// It drains for another program, with all tasks at a boundary.
    handing_over: bool,
    predecessor: Predecessor,
    /// At its start, attempts were listed as running.
    is_cut_off: bool,
    /// It has committed records of tasks. Its first ones may recover the work of the daemon before it.
    has_written: bool,
}

impl Life {
    pub(super) fn start_daemon(&mut self) {
        if self.daemon.is_some() {
            return;
        }
        self.generation += 1;
        let predecessor = std::mem::take(&mut self.predecessor);
        let is_cut_off = effects(&self.disk.published).iter().any(Effect::ends_with_its_task);
        self.daemon = Some(Daemon { predecessor, is_cut_off, ..Daemon::default() });
        self.drop_settled_notes();
        self.disk.broken = false;
        let alarm = self.disk.projections.values().filter_map(|task| task.wake_at).min();
        self.set_alarm(alarm, self.moved);
        // As the store finds them; an ended task is found by its wake-up time.
        if self.disk.projections.values().any(|task| task.needs_daemon && task.task.ended_at.is_none()) {
            self.ensure_actor();
        } else {
            let (mut history, mut mint) = (self.disk.published.clone(), self.mint());
            assert!(!history.live().any(is_at_work), "a new daemon resumes the tasks at work");
            assert_eq!(advance(&mut history, &mut mint), [], "a new daemon resumes tasks that need one");
        }
    }

    pub(super) fn crash(&mut self) {
        if self.daemon.take().is_none() {
            return;
        }
        self.generation += 1;
        let lost = self.disk.take_uncommitted();
        if !lost.is_empty() {
            self.cover("uncommitted records lost in a crash");
        }
        if lost.iter().any(|records| has_several_replies(records)) {
            self.cover("several replies of one append lost in a crash");
        }
        self.kill_jobs();
        self.break_connections();
        self.after(5000, Event::Start);
    }

    /// Afterwards the daemon drains if all tasks are at a boundary, and goes on otherwise, as it does when a
    /// new program is there.
    pub(super) fn hold(&mut self) {
        if let Some(daemon) = self.daemon.as_mut().filter(|daemon| !daemon.holding) {
            daemon.holding = true;
            self.in_this_daemon(6000, Event::Release);
        }
    }

    pub(super) fn release(&mut self) {
        let at_boundary = self.actor().is_none_or(|actor| actor.is_at_boundary());
        let goes_over = at_boundary && self.one_in(2);
        let Some(daemon) = self.daemon.as_mut().filter(|daemon| !daemon.draining) else { return };
        if goes_over {
            // The hold lasts to the end.
            daemon.handing_over = true;
            return self.drain();
        }
        daemon.holding = false;
        self.cover(if at_boundary { "a hold up to a boundary" } else { "a hold in vain" });
    }

    /// The daemon has drained, and ends.
    pub(super) fn drained(&mut self) {
        self.cover("a drain");
        let daemon = self.daemon.as_ref().expect("it drained");
        let is_hand_over = daemon.handing_over && !daemon.cutting;
        self.crash();
        if is_hand_over {
            self.cover("a hand-over");
            self.predecessor = Predecessor::HandedOver;
        }
    }

    pub(super) fn drain(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            daemon.draining = true;
            self.in_this_daemon(9000, Event::CutOff);
            self.at_wall(self.wall().plus(12_000), Event::Crash);
        }
    }

    // The mailbox.

    /// Starts an actor if there is none.
    fn ensure_actor(&mut self) {
        let moved = self.moved;
        let daemon = self.daemon.as_mut().expect("only in a daemon");
        if daemon.actor.is_none() {
            let clock = daemon.clock.unwrap_or(moved);
            daemon.actor = Some(Actor::after(daemon.predecessor, clock));
        }
    }

    pub(super) fn actor(&mut self) -> Option<&mut Actor> {
        self.daemon.as_mut()?.actor.as_mut()
    }

    pub(super) fn running_actor(&mut self) -> &mut Actor {
        self.actor().expect("it is at work")
    }

    /// Puts a message into the mailbox, or refuses it as the daemon's sessions do.
    pub(super) fn admit(&mut self, message: Message) {
        let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
        match &message {
            // A closed mailbox means that the outcome no longer counts.
            Message::Outcome { .. } if self.actor().is_none() => {}
            Message::Wake if draining => {}
            // It reads when it starts.
            Message::Reread if self.actor().is_none() => {}
            Message::Fork { reply, .. } if self.actor().is_none() => {
                self.reply(*reply, Err(Failure::ShuttingDown));
            }
            Message::Command { command, reply } if !command.is_admitted(draining) => {
                self.reply(*reply, Err(Failure::ShuttingDown));
            }
            _ => {
                self.deliver(message);
                self.message_arrived();
            }
        }
    }

    pub(super) fn deliver(&mut self, message: Message) {
        self.ensure_actor();
        self.running_actor().put(message);
    }

    /// Checks the cause of an interruption. Only a daemon's first load finds another daemon's work; after a
    /// failed append the work is its own.
    pub(super) fn check_causes(&mut self, records: &[NewRecord]) {
        let found = records.iter().filter_map(|record| match &record.body {
            RecordBody::Restarted(restarted) => Some(restarted.cause),
            _ => None,
        });
        for cause in found {
            let daemon = self.daemon.as_ref().expect("it appends");
            let was_handed_over = daemon.predecessor == Predecessor::HandedOver;
            let may = match cause {
                Interruption::DaemonRestarted => {
                    !daemon.has_written && (daemon.is_cut_off || !was_handed_over)
                }
                Interruption::AppendFailed => daemon.has_written || was_handed_over,
            };
            assert!(may, "{cause:?} is no cause here");
            self.cover(&format!("{cause:?}"));
        }
        if let Some(daemon) = &mut self.daemon {
            daemon.has_written |= records.iter().any(|record| record.task_id.is_some());
        }
    }

    /// The daemon stops waiting for running attempts.
    pub(super) fn cut_off(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            daemon.cutting = true;
            self.cover("a cut-off");
        }
    }

    /// Sets the alarm, by the clock when it had moved so far.
    pub(super) fn set_alarm(&mut self, at: Option<Timestamp>, clock: ClockMoved) {
        let daemon = self.daemon.as_mut().expect("only in a daemon");
        (daemon.alarm, daemon.clock) = (at, at.map(|_| clock));
        if let Some(at) = at {
            self.at_wall(at.moved_by(self.moved.since(clock).set_by_ms), Event::Alarm);
        }
    }

    pub(super) fn ring_alarm(&mut self) {
        let (now, moved) = (self.wall(), self.moved);
        let daemon = self.daemon.as_mut().expect("it is of this daemon");
        let due = daemon.alarm.map(|at| at.moved_by(moved.since(daemon.clock.unwrap_or_default()).set_by_ms));
        match due {
            Some(at) if at <= now => {
                daemon.alarm = None;
                if !daemon.draining {
                    self.admit(Message::Wake);
                    self.cover("an alarm");
                }
            }
            // It was set anew.
            Some(at) => self.at_wall(at, Event::Alarm),
            None => {}
        }
    }
}
