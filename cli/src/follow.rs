//! Follows a conversation until its task ends: the common part of `run`, `chat`, `watch` and `demo`.
//!
//! ```text
//! daemon ──▶ Live ──update──▶ ConversationView ──changes──▶ Printer ──▶ Screen
//!    ▲                              │   └────status────▶ Progress ──▶ the lines below the text
//!    └── answer, decision ── ask ◀──┘ open items
//! ```
//!
//! [`Follow::run`] is one loop. Each turn it checks whether the following ends (`end`), then handles the
//! oldest open question or approval (`ask`), then waits for an update, a second of the clock, or Ctrl-C. An
//! update is folded into the view; its changes are printed after it, or, while a prompt is open, when the
//! prompt is done. Ctrl-C detaches, or stops the task if the command says so. `chat` listens too: when the
//! person begins to type, [`Follow::next`] says so, and goes on after the line.

mod ask;
mod end;
mod printer;
mod progress;

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
pub(crate) use end::FollowEnd;
use printer::Printer;
use progress::Progress;
use std::{collections::HashSet, future, io, pin::pin, time::Duration};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout};

/// How often the live line's times are updated.
const TICK: Duration = Duration::from_secs(1);
/// If no update comes for this long, all records of an ended task have come.
const QUIET: Duration = Duration::from_secs(1);
/// How long the records that were missed may take to come. A snapshot after which they come has the newest
/// state of tasks already.
const CATCH_UP: Duration = Duration::from_millis(500);

/// The conversation to follow, and how to print it.
pub(crate) struct Target {
    pub(crate) conversation: ConversationId,
    /// Whose records are shown: those of its root tasks, of one task, or of all.
    pub(crate) scope: Scope,
    /// The task whose end ends the following. `None`: it goes on until Ctrl-C.
    pub(crate) task: Option<TaskId>,
    /// The task had ended before the following began.
    pub(crate) is_over: bool,
    /// Print what comes after this cursor. `None`: everything from the conversation's snapshot on.
    pub(crate) since: Option<Seq>,
    /// Print the person's messages too. `run` and `chat` do not, because the person has just typed them.
    pub(crate) with_prompts: bool,
    /// How much of a call's output is printed.
    pub(crate) extent: Extent,
    pub(crate) json: bool,
    /// Print nothing but questions and approvals; the command prints the result.
    pub(crate) is_quiet: bool,
    pub(crate) answerer: Answerer,
    pub(crate) interrupt: Interrupt,
}

impl Target {
    /// Whether what happens is told, for people.
    const fn is_told(&self) -> bool {
        !self.json && !self.is_quiet
    }
}

/// What Ctrl-C does to the followed task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Nothing: it detaches, and only this program ends.
    Detaches,
    /// It stops the task and waits for its end; a second Ctrl-C ends this program.
    Stops,
}

/// Who answers questions and approvals.
pub(crate) enum Answerer {
    Person(Terminal),
    /// This program, which prints that it does: the demonstration without a terminal.
    Itself,
    /// Nobody: this program prints how to answer, and ends.
    Nobody,
    /// Nobody: this program prints how to answer, and goes on following.
    Onlooker,
}

impl Answerer {
    /// The person, if there is a terminal; else `other`. With `--json` there is no person.
    pub(crate) fn person_or(json: bool, other: Self) -> Self {
        Terminal::open().filter(|_| !json).map_or(other, Self::Person)
    }
}

/// What a caller that listens is told.
pub(crate) enum Heard {
    /// The person types something, which is not read yet.
    Typing,
    End(FollowEnd),
}

pub(crate) struct Follow<'d> {
    daemon: &'d mut Daemon,
    target: Target,
    live: Live,
    view: ConversationView,
    /// Changes that are folded and not printed, because a prompt is open.
    unprinted: Vec<Change>,
    printer: Printer,
    screen: Screen,
    progress: Progress,
    /// Questions and approvals that were answered here. The records of the answers may not have come yet.
    settled: HashSet<PendingId>,
    /// Until then the records may come that were missed while the connection was lost. No question is asked
    /// before they are printed, because they say what led to it.
    behind_until: Option<Instant>,
    /// The record of the task's end has come.
    saw_end: bool,
    /// This program has stopped the task.
    is_stopping: bool,
    tick: Interval,
}

impl<'d> Follow<'d> {
    pub(crate) async fn open(daemon: &'d mut Daemon, target: Target) -> Result<Self, CommandError> {
        let connector = connection::connector(daemon.home());
        let live = Live::open(connector, target.scope, target.since, LiveOptions::default()).await?;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let printer = Printer::new(target.task, target.with_prompts, target.extent);
        let with_sub_tasks = matches!(target.scope, Scope::Tree(_));
        let printer = if with_sub_tasks { printer.with_sub_tasks() } else { printer };
        let mut follow = Self {
            view: ConversationView::new(target.conversation),
            unprinted: Vec::new(),
            printer,
            screen: Screen::new(),
            progress: Progress::default(),
            settled: HashSet::new(),
            behind_until: None,
            saw_end: false,
            is_stopping: false,
            tick,
            daemon,
            live,
            target,
        };
        follow.focus().await;
        Ok(follow)
    }

    /// Follows until the task ends or the person detaches.
    pub(crate) async fn run(mut self) -> Result<FollowEnd, CommandError> {
        let ending = loop {
            match self.follow(None).await {
                Ok(Heard::End(ending)) => break Ok(ending),
                Ok(Heard::Typing) => {}
                Err(error) => break Err(error),
            }
        };
        self.close().await?;
        ending
    }

    /// Follows until the task ends, or until the person types or detaches.
    pub(crate) async fn next(&mut self) -> Result<Heard, CommandError> {
        let terminal = match self.target.answerer {
            Answerer::Person(terminal) => Some(terminal),
            Answerer::Itself | Answerer::Nobody | Answerer::Onlooker => None,
        };
        self.print_changes()?;
        self.follow(terminal).await
    }

    /// Waits for the person's input. Updates that come meanwhile are folded, and printed after the input.
    pub(crate) async fn during<T>(&mut self, typed: impl Future<Output = T>) -> Result<T, CommandError> {
        self.screen.prompt("")?;
        tokio::pin!(typed);
        loop {
            tokio::select! {
                typed = &mut typed => return Ok(typed),
                update = self.live.next(), if !self.is_lost() => self.apply(update).await?,
            }
        }
    }

    /// Ends the following: what is printed later comes after it.
    pub(crate) async fn close(&mut self) -> Result<(), CommandError> {
        self.screen.close()?;
        self.mark_read().await;
        Ok(())
    }

    pub(crate) const fn task(&self) -> Option<TaskId> {
        self.target.task
    }

    /// The connection has ended for good.
    fn is_lost(&self) -> bool {
        matches!(self.view.connection(), Connection::Ended { .. })
    }

    /// Marks the shown messages as read. (Also before a prompt waits, because the person may close the
    /// terminal then.)
    async fn mark_read(&mut self) {
        // A sub-task's own timeline has none of the conversation's messages.
        let has_them = !matches!(self.target.scope, Scope::Task(_));
        let is_seen = has_them && !self.target.json && screen::is_seen();
        // Without a connection a call would start a daemon, only for this.
        if is_seen && *self.view.connection() == Connection::Live {
            let conversation_id = self.target.conversation.to_string();
            let params = MarkReadParams { conversation_id, seq: self.view.cursor() };
            // If it fails, the messages stay unread, which does no harm.
            drop(self.daemon.call::<MarkRead>(params).await);
        }
    }

    /// `listens`: the terminal on which somebody may type meanwhile.
    async fn follow(&mut self, listens: Option<Terminal>) -> Result<Heard, CommandError> {
        let mut unread = pin!(screen::unread());
        let mut typing = Box::pin(typing(listens));
        loop {
            if let Some(ending) = self.ending().await? {
                return Ok(Heard::End(ending));
            }
            let is_to_settle = !self.is_stopping && self.behind_until.is_none();
            if let Some(open) = self.open_item().filter(|_| is_to_settle) {
                if let Some(ending) = self.settle(open).await? {
                    return Ok(Heard::End(ending));
                }
                self.print_changes()?;
                // What was typed meanwhile was the answer.
                typing.set(self::typing(listens));
                continue;
            }
            tokio::select! {
                update = self.live.next() => {
                    self.apply(update).await?;
                    self.print_changes()?;
                }
                () = &mut unread => return Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
                () = until(self.behind_until) => self.behind_until = None,
                _ = self.tick.tick() => {}
                _ = tokio::signal::ctrl_c() => {
                    if let Some(ending) = self.interrupted().await? {
                        return Ok(Heard::End(ending));
                    }
                }
                typed = &mut typing => {
                    typed?;
                    return Ok(Heard::Typing);
                }
            }
            self.show_progress()?;
        }
    }

    /// Handles Ctrl-C: detaches, or stops the task and waits for its end.
    pub(crate) async fn interrupted(&mut self) -> Result<Option<FollowEnd>, CommandError> {
        let Some(task) =
            self.target.task.filter(|_| self.target.interrupt == Interrupt::Stops && !self.is_stopping)
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
            // The refusal says that the task has ended already.
            Err(_) if self.saw_end || self.has_ended(task) => Ok(None),
            Err(error) => {
                self.is_stopping = false;
                error.show();
                Ok(None)
            }
        }
    }

    pub(crate) fn has_ended(&self, task: TaskId) -> bool {
        self.view.task(task).is_some_and(|task| task.status.has_ended())
    }

    /// Folds an update into the view; its changes are printed later.
    async fn apply(&mut self, update: Update) -> Result<(), CommandError> {
        if self.target.json {
            print_json(&update)?;
        }
        let is_snapshot = matches!(update, Update::Snapshot(_));
        let is_reconnected = matches!(update, Update::Reconnected(_));
        if is_reconnected || (is_snapshot && self.target.since.is_some()) {
            self.behind_until = Some(Instant::now() + CATCH_UP);
        }
        let is_lost = matches!(update, Update::Disconnected { .. });
        let changes = self.view.apply(update);
        if is_snapshot && self.target.since.is_none() {
            let has_ended = self.target.task.is_some_and(|id| self.has_ended(id));
            self.saw_end |= has_ended || self.target.is_over;
        }
        self.saw_end |= changes.iter().any(|change| self.is_end(change));
        self.unprinted.extend(changes);
        if is_lost {
            self.daemon.revive(self.view.daemon()).await;
        }
        if is_reconnected {
            self.focus().await;
        }
        Ok(())
    }

    fn is_end(&self, change: &Change) -> bool {
        let Change::Added(seq) = change else { return false };
        matches!(self.view.entry(*seq), Some(Entry::Event(event))
            if event.task_id == self.target.task && matches!(event.kind, EventKind::TaskEnded(_)))
    }

    fn print_changes(&mut self) -> Result<(), CommandError> {
        let changes = std::mem::take(&mut self.unprinted);
        if self.target.is_told() {
            self.printer.print(&self.view, &changes, &self.settled, &mut self.screen)?;
        }
        Ok(())
    }

    fn show_progress(&mut self) -> Result<(), CommandError> {
        if !self.target.is_told() {
            return Ok(());
        }
        let room = self.screen.room();
        Ok(self.screen.live(self.progress.lines(&self.view, self.target.task, room))?)
    }

    /// Tells the daemon that a person sees this conversation, so that it sends no desktop notifications about
    /// it.
    async fn focus(&mut self) {
        if matches!(self.target.answerer, Answerer::Person(_)) {
            let params = FocusParams { conversation_id: Some(self.target.conversation), inbox: false };
            // If it fails, the person gets a desktop notification too many.
            drop(self.daemon.call_once::<Focus>(params).await);
        }
    }

    /// Whether all records have come of a task that had ended before the following began: no update comes for
    /// [`QUIET`]. The record of its end may be before the cursor, so it cannot be waited for.
    async fn is_quiet(&mut self) -> Result<bool, CommandError> {
        match timeout(QUIET, self.live.next()).await {
            Err(_) => Ok(true),
            Ok(update) => {
                self.apply(update).await?;
                self.print_changes()?;
                Ok(false)
            }
        }
    }
}

/// Waits until something is typed.
async fn typing(on: Option<Terminal>) -> io::Result<()> {
    match on {
        Some(terminal) => terminal.typed().await,
        None => future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => future::pending().await,
    }
}

fn print_json(update: &Update) -> Result<(), CommandError> {
    match update {
        Update::Snapshot(snapshot) | Update::Reconnected(snapshot) => json::snapshot(snapshot),
        Update::Notification(notification) => json::notification(notification),
        Update::Disconnected { reason } => json::line("disconnected", &json::Reason { reason }),
        Update::Ended { reason } => json::line("ended", &json::Reason { reason }),
    }
}
