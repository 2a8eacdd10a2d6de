//! Following a conversation until its task ends: `run`, `chat`, `watch` and `demo` are this with different beginnings.
//!
//! One loop: what the daemon tells is folded, then told on; what waits for a person is asked; Ctrl-C detaches and stops nothing.

mod ask;
mod end;
mod progress;
mod teller;

use crate::{
    connection::{self, Daemon},
    error::CommandError,
    output::{
        call::Extent,
        json,
        screen::{self, Screen},
    },
    prompt::Terminal,
};
use abide_client::{
    Live, LiveOptions, Update,
    protocol::{
        ConversationId, Seq, TaskId,
        event::EventKind,
        inbox::PendingId,
        method::{
            Focus, MarkRead, StopTask,
            conversation::{FocusParams, MarkReadParams},
            subscription::Scope,
            task::TaskParams,
        },
    },
    view::{Change, Connection, ConversationView, Entry},
};
pub(crate) use end::{FollowEnd, is_stuck};
use progress::Progress;
use std::{collections::HashSet, time::Duration};
use teller::Teller;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// How often the live line counts on.
const TICK: Duration = Duration::from_secs(1);
/// After this long without a word, all that was recorded of an ended task has come.
const QUIET: Duration = Duration::from_secs(1);

/// What is followed, and for whom.
pub(crate) struct What {
    pub(crate) conversation: ConversationId,
    /// Until this task ends; `None`: as long as one likes.
    pub(crate) task: Option<TaskId>,
    /// It had ended before.
    pub(crate) is_over: bool,
    pub(crate) since: Option<Seq>,
    /// The person's own messages too; who typed them just now knows them.
    pub(crate) with_prompts: bool,
    /// How much of what calls put out is shown.
    pub(crate) extent: Extent,
    pub(crate) json: bool,
    pub(crate) who: Who,
    pub(crate) interrupt: Interrupt,
}

/// What Ctrl-C does to the task that is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Nothing: the person leaves.
    Detaches,
    /// It is stopped, and its end awaited; a second Ctrl-C leaves.
    Stops,
}

/// Who answers what the task asks.
pub(crate) enum Who {
    Person(Terminal),
    /// The program itself, saying so: nobody is there, and it is only a demonstration.
    Itself,
    /// Nobody: say how to answer, and leave.
    Nobody,
    /// Nobody: say how to answer, and go on looking.
    Onlooker,
}

impl Who {
    /// The person at the terminal, else another; a program that reads JSON is no person.
    pub(crate) fn person_or(json: bool, other: Self) -> Self {
        Terminal::open().filter(|_| !json).map_or(other, Self::Person)
    }
}

pub(crate) struct Follow<'d> {
    daemon: &'d mut Daemon,
    what: What,
    live: Live,
    view: ConversationView,
    /// Told when no prompt is open.
    untold: Vec<Change>,
    teller: Teller,
    screen: Screen,
    progress: Progress,
    /// Questions and approvals that were dealt with here; the daemon's word on them may still be under way.
    settled: HashSet<PendingId>,
    /// The record of the task's end is in the view.
    saw_end: bool,
    /// The person has stopped the task.
    is_stopping: bool,
    tick: Interval,
}

impl<'d> Follow<'d> {
    pub(crate) async fn open(daemon: &'d mut Daemon, what: What) -> Result<Self, CommandError> {
        let connector = connection::connector(daemon.home());
        let scope = Scope::Conversation(what.conversation);
        let live = Live::open(connector, scope, what.since, LiveOptions::default()).await?;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut follow = Self {
            view: ConversationView::new(what.conversation),
            untold: Vec::new(),
            teller: Teller::new(what.task, what.with_prompts, what.extent),
            screen: Screen::new(),
            progress: Progress::default(),
            settled: HashSet::new(),
            saw_end: false,
            is_stopping: false,
            tick,
            daemon,
            live,
            what,
        };
        follow.look().await;
        Ok(follow)
    }

    /// Follows to the end, or until the person leaves.
    pub(crate) async fn run(mut self) -> Result<FollowEnd, CommandError> {
        let ending = self.follow().await;
        self.screen.close()?;
        self.mark_read().await;
        ending
    }

    /// What a person saw is not unread any more. (Also at a prompt: the terminal may be closed while it is open.)
    async fn mark_read(&mut self) {
        let is_seen = !self.what.json && screen::is_seen();
        // A daemon that is gone is not started for this.
        if is_seen && *self.view.connection() == Connection::Live {
            let conversation_id = self.what.conversation.to_string();
            let params = MarkReadParams { conversation_id, seq: self.view.cursor() };
            // Failing, it stays unread: no harm is done.
            drop(self.daemon.call::<MarkRead>(params).await);
        }
    }

    async fn follow(&mut self) -> Result<FollowEnd, CommandError> {
        loop {
            if let Some(ending) = self.ending().await? {
                return Ok(ending);
            }
            if let Some(open) = self.open_item().filter(|_| !self.is_stopping) {
                if let Some(ending) = self.settle(open).await? {
                    return Ok(ending);
                }
                self.tell()?;
                continue;
            }
            tokio::select! {
                update = self.live.next() => {
                    self.take(update).await?;
                    self.tell()?;
                }
                _ = self.tick.tick() => {}
                _ = tokio::signal::ctrl_c() => {
                    if let Some(ending) = self.interrupted().await? {
                        return Ok(ending);
                    }
                }
            }
            self.show_progress()?;
        }
    }

    /// Ctrl-C: leaves, or stops the task and waits for its end.
    async fn interrupted(&mut self) -> Result<Option<FollowEnd>, CommandError> {
        let Some(task) =
            self.what.task.filter(|_| self.what.interrupt == Interrupt::Stops && !self.is_stopping)
        else {
            return Ok(Some(self.detached()));
        };
        self.is_stopping = true;
        let stopped = tokio::select! {
            stopped = self.daemon.call_again::<StopTask>(TaskParams { task_id: task.to_string() }) => stopped,
            _ = tokio::signal::ctrl_c() => return Ok(Some(self.detached())),
        };
        match stopped {
            Ok(_) => Ok(None),
            // Its end was under way.
            Err(_) if self.saw_end || self.has_ended(task) => Ok(None),
            Err(error) => {
                self.is_stopping = false;
                error.show();
                Ok(None)
            }
        }
    }

    fn has_ended(&self, task: TaskId) -> bool {
        self.view.task(task).is_some_and(|task| task.status.has_ended())
    }

    /// Folds an update in; what it changed waits to be told.
    async fn take(&mut self, update: Update) -> Result<(), CommandError> {
        if self.what.json {
            tell_json(&update)?;
        }
        let is_snapshot = matches!(update, Update::Snapshot(_));
        let is_reconnected = matches!(update, Update::Reconnected(_));
        let is_lost = matches!(update, Update::Disconnected { .. });
        let changes = self.view.apply(update);
        if is_snapshot && self.what.since.is_none() {
            let has_ended = self.what.task.is_some_and(|id| self.has_ended(id));
            self.saw_end |= has_ended || self.what.is_over;
        }
        self.saw_end |= changes.iter().any(|change| self.is_end(change));
        self.untold.extend(changes);
        if is_lost {
            self.daemon.revive(self.view.daemon()).await;
        }
        if is_reconnected {
            self.look().await;
        }
        Ok(())
    }

    fn is_end(&self, change: &Change) -> bool {
        let Change::Added(seq) = change else { return false };
        matches!(self.view.entry(*seq), Some(Entry::Event(event))
            if event.task_id == self.what.task && matches!(event.kind, EventKind::TaskEnded(_)))
    }

    fn tell(&mut self) -> Result<(), CommandError> {
        let changes = std::mem::take(&mut self.untold);
        if !self.what.json {
            self.teller.tell(&self.view, &changes, &self.settled, &mut self.screen)?;
        }
        Ok(())
    }

    fn show_progress(&mut self) -> Result<(), CommandError> {
        if self.what.json {
            return Ok(());
        }
        let room = self.screen.room();
        Ok(self.screen.live(self.progress.lines(&self.view, self.what.task, room))?)
    }

    /// Tells the daemon that a person is looking, so that it sends no notifications about this.
    async fn look(&mut self) {
        if matches!(self.what.who, Who::Person(_)) {
            let params = FocusParams { conversation_id: Some(self.what.conversation) };
            // A courtesy: without it there is one notification too many.
            drop(self.daemon.call::<Focus>(params).await);
        }
    }

    /// The end of a task that had ended before has no sign of its own behind a cursor: silence is one.
    async fn is_quiet(&mut self) -> Result<bool, CommandError> {
        match timeout(QUIET, self.live.next()).await {
            Err(_) => Ok(true),
            Ok(update) => {
                self.take(update).await?;
                self.tell()?;
                Ok(false)
            }
        }
    }
}

fn tell_json(update: &Update) -> Result<(), CommandError> {
    match update {
        Update::Snapshot(snapshot) | Update::Reconnected(snapshot) => json::snapshot(snapshot),
        Update::Notification(notification) => json::notification(notification),
        Update::Disconnected { reason } => json::line("disconnected", &json::Reason { reason }),
        Update::Ended { reason } => json::line("ended", &json::Reason { reason }),
    }
}
