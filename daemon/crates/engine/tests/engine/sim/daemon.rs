//! A daemon's life and its mailbox: it starts, finds what was at work, drains, dies.

use super::{
    actor::Actor,
    life::{Event, Life},
    people::Failure,
};
use abide_engine::{Effect, Input, advance, is_at_work, view, wake_at};
use abide_protocol::{
    ConversationId, Timestamp,
    task::{AgentTask, CallState, Status},
};

/// What is in a daemon's memory.
#[derive(Default)]
pub(super) struct Daemon {
    pub(super) actor: Option<Actor>,
    pub(super) alarm: Option<Timestamp>,
    pub(super) draining: bool,
}

#[derive(Debug)]
pub(super) enum Message {
    Command { request: u64, input: Input },
    Outcome { effect: Effect, input: Input },
    Wake,
}

pub(super) const fn is_urgent(input: &Input) -> bool {
    matches!(input, Input::Stop { .. } | Input::Answer { .. } | Input::Decide { .. })
}

/// By this a new daemon finds the tasks that were at work.
fn looks_at_work(task: &AgentTask) -> bool {
    matches!(task.status, Status::Running | Status::Thinking | Status::ToolExecuting)
        || task.active_calls.iter().any(|call| matches!(call.state, CallState::Running | CallState::Queued))
}

impl Life {
    pub(super) fn start_daemon(&mut self) {
        if self.daemon.is_some() {
            return;
        }
        self.generation += 1;
        self.daemon = Some(Daemon::default());
        self.drop_settled_notes();
        self.set_alarm(self.disk.told.live().filter_map(wake_at).min());
        let conversation = ConversationId(uuid::Uuid::nil());
        if self.disk.told.live().any(|task| looks_at_work(&view(conversation, task))) {
            self.open();
        } else {
            let (mut history, mut mint) = (self.disk.told.clone(), self.mint());
            assert!(!history.live().any(is_at_work), "a new daemon takes up what was at work");
            assert_eq!(
                advance(&mut history, &mut mint),
                [],
                "a new daemon takes up what was not acted on yet"
            );
        }
    }

    pub(super) fn crash(&mut self) {
        if self.daemon.take().is_none() {
            return;
        }
        self.generation += 1;
        if self.disk.forget_uncommitted() {
            self.came_by("records lost in a crash");
        }
        self.cut_jobs();
        self.hang_up();
        self.after(5000, Event::Start);
    }

    pub(super) fn drain(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            daemon.draining = true;
            self.in_this_daemon(9000, Event::Crash);
        }
    }

    // The mailbox.

    /// The actor, which is started if there is none.
    fn open(&mut self) {
        let daemon = self.daemon.as_mut().expect("only in a daemon");
        if daemon.actor.is_none() {
            daemon.actor = Some(Actor::default());
            self.load();
        }
    }

    pub(super) fn actor(&mut self) -> Option<&mut Actor> {
        self.daemon.as_mut()?.actor.as_mut()
    }

    pub(super) fn actor_at_work(&mut self) -> &mut Actor {
        self.actor().expect("it is at work")
    }

    pub(super) fn post(&mut self, message: Message) {
        let draining = self.daemon.as_ref().is_some_and(|d| d.draining);
        match &message {
            // A closed mailbox means that the outcome no longer counts.
            Message::Outcome { .. } if self.actor().is_none() => return,
            Message::Wake if draining => return,
            Message::Command { request, input } if draining && !is_urgent(input) => {
                return self.reply(*request, Err(Failure::ShuttingDown));
            }
            _ => self.open(),
        }
        self.actor_at_work().put(message);
    }

    pub(super) fn set_alarm(&mut self, at: Option<Timestamp>) {
        self.daemon.as_mut().expect("only in a daemon").alarm = at;
        if let Some(at) = at {
            self.not_before(at, Event::Alarm);
        }
    }

    pub(super) fn ring(&mut self) {
        let (now, daemon) = (self.wall(), self.daemon.as_mut().expect("it is of this daemon"));
        match daemon.alarm {
            Some(at) if at <= now => {
                daemon.alarm = None;
                if !daemon.draining {
                    self.post(Message::Wake);
                    self.came_by("an alarm");
                }
            }
            // Somebody has set the clock.
            Some(at) => self.not_before(at, Event::Alarm),
            None => {}
        }
    }
}
