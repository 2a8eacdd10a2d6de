//! The state machine of a conversation's actor, without I/O. It decides which records form an append, which
//! attempts start before that append commits, when a command gets its reply, when the records are loaded
//! again, and when the actor leaves.
//!
//! A driver takes [`Event`]s and gives [`Order`]s. Its host carries out all orders before it passes the next
//! event, so [`Driver::history`] is the state that the orders are about. There are two hosts: the daemon's
//! actor, and the simulation in this crate's tests. Neither decides anything.
//!
//! Commit, then publish, then act: an input is folded into the history in memory, and its records become one
//! append. Replies, the alarm and the gate wait for the commit. Outcomes that arrive meanwhile are the next
//! append, together. If the append fails, the history in memory is dropped, all attempts are cancelled, and
//! the records are loaded again.
//!
//! ```text
//! new ──▶ Loading ─────────────┐
//!           │ calls had started│
//!           ▼                  │ records           failed
//!         Inspecting ──────────┼────────▶ Appending ────▶ Loading
//!                              │           │  │ ▲ │
//!         Ready ───────────────┤           │  │ └─┘ an urgent command joins (on a full disk)
//!           │ attempts to kill │           │  └───▶ Ready: committed
//!           ▼                  │           └──────▶ Erasing ──▶ Ready: committed, for a deletion
//!         Killing ─────────────┘
//! ```
//!
//! Records that end sub-tasks with attempts under way pass through Ending before Appending: the attempts are
//! killed there.
//!
//! Without records to append, the states on the left go to Ready. The actor goes to Leaving from Ready when
//! nothing is left to do, from Ready or an append on a full disk when the daemon shuts down, and when the
//! records cannot be loaded or continued.

mod append;
mod appending;
mod ends;
mod event;
mod leave;
mod load;
mod message;
mod order;
mod urgent;

pub use event::{Event, Wants};
pub use message::{Lane, Message};
pub use order::{Append, AppendId, Applied, CutOff, Failure, Gate, Order, StartedCall};

use crate::{
    decide::{
        accept::{accept, ends_at, ends_by_answer},
        advance::{advance, advance_those},
        children,
        clock::moved as clock_moved,
        command::{Command, Intervention},
        effect::Effect,
        effects::{effects, wake_at},
        input::{Input, Refusal},
        shown::Shown,
        view::view,
    },
    mint::Mint,
    state::{history::History, snapshot::Tail, task::Task},
};
use abide_protocol::{
    ConversationId, RecordId, TaskId, Timestamp,
    record::{ClockMoved, NewRecord},
};
use appending::{Appending, Waiter};
use ends::Ending;
use leave::Leaving;
use load::LoadReason;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Debug,
    mem,
};

/// The most messages that are deferred while an append is under way; further ones wait in the mailbox. So
/// many outcomes become one append.
const MAX_DEFERRED: usize = 32;

/// What runs a driver. Its types are values that the driver only passes on.
pub trait Host: Debug {
    /// Where the reply to a command is sent.
    type Reply: Debug;
    /// Where the reply to a deletion is sent.
    type Deletion: Debug;
    /// Why an order could not be carried out.
    type Error: Clone + Debug;
}

/// One conversation's actor.
#[derive(Debug)]
pub struct Driver<H: Host> {
    conversation: ConversationId,
    history: History,
    /// The records since the last snapshot.
    tail: Tail,
    /// A snapshot is kept when it saves the next load at least this many records.
    snapshot_spacing: usize,
    /// Attempts that were started and neither cancelled nor ended, in the order in which they were started.
    running: Vec<Effect>,
    duty: Duty,
    /// How the daemon before this one ended.
    predecessor: Predecessor,
    state: State<H>,
    /// The replies of sub-tasks that were not recorded before the message that is being handled. Its records
    /// may cut them off.
    unrecorded: BTreeMap<RecordId, TaskId>,
    /// Messages that could not be handled in the state in which they arrived. They are handled before those
    /// of the mailbox.
    deferred: VecDeque<Message<H>>,
    is_disk_full: bool,
    last_append: AppendId,
    orders: VecDeque<Order<H>>,
    /// How far the clock had moved when the history in memory was right about it.
    clock: ClockMoved,
    /// The move of the clock, and its time, that a failed append held. An earlier append of the same records,
    /// which was withdrawn, may have stored the move all the same.
    unsure: Option<(Timestamp, ClockMoved)>,
}

/// How the daemon before the driver's own ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predecessor {
    /// It died or was stopped: tasks that were at work are interrupted, and their restart policy applies.
    Ended {
        /// It certainly ran until then.
        ran_until: Option<Timestamp>,
    },
    /// It brought all tasks to a boundary and went over to this daemon's program: tasks without an attempt
    /// under way just go on.
    HandedOver,
}

impl Default for Predecessor {
    fn default() -> Self {
        Self::Ended { ran_until: None }
    }
}

/// How much work the actor does; less and less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Duty {
    /// Inputs are recorded, tasks act, and attempts are started.
    Full,
    /// The daemon wants all tasks at a boundary, and may go on afterwards. Inputs are still recorded and
    /// running attempts may end, but tasks do not act until the hold is released, except those that running
    /// code has started: it may wait for them. The actor stays.
    Hold,
    /// The daemon drains. Inputs are still recorded and running attempts may end, but tasks no longer act;
    /// the next daemon continues them.
    Drain,
    /// The daemon drains, and the records were loaded meanwhile. The attempts that they list as running do
    /// not run and are not started.
    RecordOnly,
}

#[derive(Debug)]
enum State<H: Host> {
    Loading(LoadReason),
    Inspecting(LoadReason),
    /// The records are read again while attempts run: words were taken out of them.
    Rereading,
    /// The history in memory is what is on disk. The next message can be handled.
    Ready,
    /// The attempts that this message ends are being killed; then it is handled.
    Killing(Message<H>),
    /// Records that end tasks are folded. The attempts that they cut off are being killed; then the records
    /// are appended.
    Ending(Ending<H>),
    /// The history in memory contains records that are not committed yet.
    Appending(Box<Appending<H>>),
    Erasing(H::Deletion),
    Leaving(Leaving<H>),
}

impl<H: Host> Driver<H> {
    /// A driver whose first order is to load the conversation's records. A snapshot is kept when it saves the
    /// next load at least `snapshot_spacing` records. `clock`: how far the clock had moved when the
    /// conversation's alarm was set.
    #[must_use]
    pub fn new(
        conversation: ConversationId,
        snapshot_spacing: usize,
        predecessor: Predecessor,
        clock: ClockMoved,
    ) -> Self {
        Self {
            clock,
            unsure: None,
            conversation,
            history: History::default(),
            tail: Tail::default(),
            snapshot_spacing,
            running: Vec::new(),
            duty: Duty::Full,
            predecessor,
            state: State::Loading(LoadReason::ActorStarted),
            unrecorded: BTreeMap::new(),
            deferred: VecDeque::new(),
            is_disk_full: false,
            last_append: AppendId::default(),
            orders: VecDeque::from([Order::Load]),
        }
    }

    /// The history in memory. While an append is under way it contains records that are not committed yet.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// How far the clock had moved when [`Self::history`] was right about it.
    #[must_use]
    pub const fn clock(&self) -> ClockMoved {
        self.clock
    }

    /// The next order.
    pub fn next_order(&mut self) -> Option<Order<H>> {
        self.orders.pop_front()
    }

    /// The event that the driver waits for, besides the answers to its orders.
    #[must_use]
    pub fn wants(&self) -> Wants {
        if self.next_deferred().is_some() {
            return Wants::HandleDeferred;
        }
        match &self.state {
            State::Ready => Wants::Message { linger: self.linger() },
            State::Leaving(leaving) if leaving.awaits_messages() => Wants::Message { linger: None },
            State::Appending(appending) if appending.can_be_joined() => {
                if self.is_disk_full {
                    Wants::UrgentMessage
                } else if self.deferred.len() < MAX_DEFERRED {
                    Wants::MessageToDefer
                } else {
                    Wants::Disk
                }
            }
            State::Loading(_)
            | State::Inspecting(_)
            | State::Rereading
            | State::Killing(_)
            | State::Ending(_)
            | State::Appending(_)
            | State::Erasing(_)
            | State::Leaving(_) => Wants::Nothing,
        }
    }

    /// Handles an event; [`Self::next_order`] then gives the orders. `mint` has the current time.
    pub fn on(&mut self, event: Event<H>, mint: &mut Mint) {
        match event {
            Event::Loaded { history, tail } => self.loaded(*history, tail, mint),
            Event::LoadFailed(error) => self.load_failed(error),
            Event::Inspected(findings) => self.inspected(findings, mint),
            Event::Message(message) => self.message(message, mint),
            Event::HandleDeferred => {
                if let Some(message) = self.next_deferred().and_then(|at| self.deferred.remove(at)) {
                    self.message(message, mint);
                }
            }
            Event::Killed(shown) => self.killed(shown, mint),
            Event::Committed(append) => self.committed(append),
            Event::AppendFailed { append, error, contradicts } => {
                self.append_failed(append, error, contradicts);
            }
            Event::Erased(result) => self.erased(result),
            Event::Disk { full } => self.is_disk_full = full,
            Event::Hold => self.duty = self.duty.max(Duty::Hold),
            Event::Release => self.release(),
            Event::Drain => self.duty = self.duty.max(Duty::Drain),
            Event::CutOff => self.cut_off(),
            Event::LingerOver => self.linger_over(),
        }
    }

    /// The index of the first deferred message that can be handled now.
    fn next_deferred(&self) -> Option<usize> {
        match &self.state {
            State::Ready => (!self.deferred.is_empty()).then_some(0),
            State::Leaving(leaving) => (leaving.awaits_messages() && !self.deferred.is_empty()).then_some(0),
            State::Appending(appending) if self.is_disk_full && appending.can_be_joined() => {
                self.deferred.iter().position(Message::may_join)
            }
            State::Loading(_)
            | State::Inspecting(_)
            | State::Rereading
            | State::Killing(_)
            | State::Ending(_)
            | State::Appending(_)
            | State::Erasing(_) => None,
        }
    }

    fn message(&mut self, message: Message<H>, mint: &mut Mint) {
        if matches!(self.state, State::Ready) && self.note_clock(mint) {
            return self.deferred.push_front(message);
        }
        match &self.state {
            State::Ready => {
                let cut_off = self.cut_off_by(&message, mint.at());
                if cut_off.is_empty() {
                    self.unrecorded = self.unrecorded();
                    self.handle(message, Shown::new(), mint);
                } else {
                    self.kill(cut_off);
                    self.state = State::Killing(message);
                }
            }
            State::Leaving(_) => self.message_while_leaving(message),
            State::Appending(appending)
                if self.is_disk_full && appending.can_be_joined() && message.may_join() =>
            {
                self.join(message, mint);
            }
            State::Loading(_)
            | State::Inspecting(_)
            | State::Rereading
            | State::Killing(_)
            | State::Ending(_)
            | State::Appending(_)
            | State::Erasing(_) => self.deferred.push_back(message),
        }
    }

    /// Appends that the clock has moved, before a message is handled by its time. `false`: it has not, or no
    /// task minds.
    fn note_clock(&mut self, mint: &mut Mint) -> bool {
        let Some(record) = self.clock_moved(mint) else { return false };
        self.append(vec![record], false, Waiter::Nobody);
        true
    }

    /// Folds that the clock has moved, if it has and a task minds. Returns the record.
    fn clock_moved(&mut self, mint: &mut Mint) -> Option<NewRecord> {
        self.clock_moved_by(mint.clock().since(self.clock), mint)
    }

    fn clock_moved_by(&mut self, moved: ClockMoved, mint: &mut Mint) -> Option<NewRecord> {
        self.clock = mint.clock();
        let record = clock_moved(&self.history, moved, mint)?;
        self.history.fold(&record);
        Some(record)
    }

    /// What a stop, a deletion or an expired limit cuts off. The attempts are killed before the end is
    /// recorded, so that the record has all text that clients were shown.
    fn cut_off_by(&self, message: &Message<H>, at: Timestamp) -> CutOff {
        let ended: Vec<TaskId> = match message {
            Message::Command { command: Command::Stop { task }, .. } => vec![*task],
            Message::Command { command: Command::Intervene { task, intervention, .. }, .. }
                if intervention.ends() =>
            {
                vec![*task]
            }
            Message::Command { command: Command::Answer { task, question, response, .. }, .. } => {
                let asked = self.history.task(*task).and_then(|task| task.questions.get(question));
                asked
                    .filter(|asked| ends_by_answer(asked, response.as_deref()))
                    .map(|_| *task)
                    .into_iter()
                    .collect()
            }
            Message::Delete { .. } => self.history.root().map(|root| root.id).into_iter().collect(),
            Message::Wake => {
                self.history.live().filter(|task| ends_at(task, at)).map(|task| task.id).collect()
            }
            Message::Command { .. } | Message::Fork { .. } | Message::Outcome { .. } | Message::Reread => {
                Vec::new()
            }
        };
        if let Message::Command {
            command: Command::Intervene { task, intervention: Intervention::Modify { .. }, .. },
            ..
        } = message
        {
            return self.withdrawn(*task);
        }
        let is_ended = |task: TaskId| ended.iter().any(|ended| self.history.is_within(task, *ended));
        let is_deletion = matches!(message, Message::Delete { .. });
        let ends = |effect: &Effect| is_ended(effect.task()) && (is_deletion || effect.ends_with_its_task());
        let attempts = effects(&self.history).into_iter().filter(ends);
        let tasks = self.history.live().filter(|task| is_ended(task.id));
        CutOff { attempts: attempts.collect(), replies: tasks.filter_map(Task::unrecorded_reply).collect() }
    }

    /// The model call that new instructions withdraw; the calls of tools and the sub-tasks go on.
    fn withdrawn(&self, task: TaskId) -> CutOff {
        let of_model = |effect: &Effect| matches!(effect, Effect::Model { .. }) && effect.task() == task;
        let attempts = effects(&self.history).into_iter().filter(of_model).collect();
        let reply = self.history.task(task).and_then(Task::unrecorded_reply);
        CutOff { attempts, replies: reply.into_iter().collect() }
    }

    fn kill(&mut self, cut_off: CutOff) {
        // The records of the message may end further tasks, for example at a limit.
        self.unrecorded = self.unrecorded();
        self.unrecorded.retain(|item, _| !cut_off.replies.contains(item));
        self.running.retain(|running| !cut_off.attempts.contains(running));
        self.orders.push_back(Order::Kill(cut_off));
    }

    fn killed(&mut self, shown: Shown, mint: &mut Mint) {
        match mem::replace(&mut self.state, State::Ready) {
            State::Killing(message) => self.handle(message, shown, mint),
            State::Ending(ending) => self.submit_ends(ending, shown),
            State::Appending(appending) => self.join_after_kill(appending, &shown, mint),
            other => self.state = other,
        }
    }

    /// Folds a message's records into the history and appends them.
    fn handle(&mut self, message: Message<H>, shown: Shown, mint: &mut Mint) {
        match message {
            Message::Command { command, reply } => {
                let (task, urgent) = (command.task(), command.is_urgent());
                match self.apply(command, shown, mint) {
                    Err(refusal) => self.reply(reply, Err(Failure::Refused(refusal))),
                    Ok(records) => self.append(records, urgent, Waiter::Command { reply, task }),
                }
            }
            Message::Delete { reply } => {
                let records = self.stop_all(shown, mint);
                self.append(records, true, Waiter::Deletion(reply));
            }
            Message::Fork { reply, .. } if self.duty > Duty::Hold => {
                self.reply(reply, Err(Failure::ShuttingDown));
            }
            Message::Fork { fork, reply } => {
                let by = fork.by();
                match self.apply(Input::Fork(fork), shown, mint) {
                    Err(refusal) => self.reply(reply, Err(Failure::Refused(refusal))),
                    Ok(records) => {
                        let task = children::forked(&self.history, by);
                        self.append(records, false, Waiter::Command { reply, task });
                    }
                }
            }
            Message::Outcome { effect, input } => self.outcomes(effect, *input, mint),
            Message::Reread => {
                self.orders.push_back(Order::Reread);
                self.state = State::Rereading;
            }
            Message::Wake => match self.apply(Input::Wake, shown, mint) {
                Ok(records) => self.append(records, false, Waiter::Nobody),
                Err(refusal) => self.orders.push_back(Order::OutcomeRefused(refusal)),
            },
        }
    }

    /// Appends this outcome, and in the same append those deferred right behind it: the attempts of a tree's
    /// tasks end at the same time, and one commit for each would let them wait for each other.
    fn outcomes(&mut self, effect: Effect, input: Input, mint: &mut Mint) {
        let mut accepted: Option<Vec<NewRecord>> = None;
        let mut next = Some((effect, input));
        while let Some((effect, input)) = next {
            self.running.retain(|running| *running != effect);
            match self.apply(input, Shown::new(), mint) {
                Ok(records) => accepted.get_or_insert_default().extend(records),
                Err(refusal) => self.orders.push_back(Order::OutcomeRefused(refusal)),
            }
            next = self.next_deferred_outcome();
        }
        if let Some(records) = accepted {
            self.append(records, false, Waiter::Nobody);
        }
    }

    /// The first deferred message, if it is an outcome.
    fn next_deferred_outcome(&mut self) -> Option<(Effect, Input)> {
        match self.deferred.pop_front()? {
            Message::Outcome { effect, input } => Some((effect, *input)),
            other => {
                self.deferred.push_front(other);
                None
            }
        }
    }

    /// Folds an input's records into the history and returns them, for one append. The records of the next
    /// actions of tasks that may act are among them.
    fn apply(
        &mut self,
        input: impl Into<Input>,
        shown: Shown,
        mint: &mut Mint,
    ) -> Result<Vec<NewRecord>, Refusal> {
        let mut records = self.record(input, shown, mint)?;
        match self.duty {
            Duty::Full => records.append(&mut advance(&mut self.history, mint)),
            Duty::Hold => records.append(&mut advance_those(&mut self.history, mint, children::serves_code)),
            Duty::Drain | Duty::RecordOnly => {}
        }
        Ok(records)
    }

    /// Folds only the input's own records; no task acts.
    fn record(
        &mut self,
        input: impl Into<Input>,
        shown: Shown,
        mint: &mut Mint,
    ) -> Result<Vec<NewRecord>, Refusal> {
        let records = accept(&self.history, input, shown, mint)?;
        records.iter().for_each(|record| self.history.fold(record));
        Ok(records)
    }

    /// Lets tasks act again after a hold. The message makes them do so, as soon as one can be handled.
    fn release(&mut self) {
        if self.duty == Duty::Hold {
            self.duty = Duty::Full;
            self.deferred.push_back(Message::Wake);
        }
    }

    /// Stops the root task, and with it all its sub-tasks, before a deletion.
    fn stop_all(&mut self, shown: Shown, mint: &mut Mint) -> Vec<NewRecord> {
        let Some(task) = self.history.root().map(|root| root.id) else { return Vec::new() };
        // Refused only if the root has ended already.
        self.record(Command::Stop { task }, shown, mint).unwrap_or_default()
    }

    fn erase(&mut self, reply: H::Deletion) {
        self.orders.push_back(Order::Erase);
        self.state = State::Erasing(reply);
    }

    fn erased(&mut self, result: Result<u64, H::Error>) {
        let reply = match mem::replace(&mut self.state, State::Ready) {
            State::Erasing(reply) => {
                if result.is_ok() {
                    self.history = History::default();
                    self.tail = Tail::default();
                    self.set_alarm();
                }
                reply
            }
            State::Leaving(leaving) => {
                let (leaving, reply) = leaving.erased();
                self.state = State::Leaving(leaving);
                let Some(reply) = reply else { return };
                reply
            }
            other => {
                self.state = other;
                return;
            }
        };
        self.orders.push_back(Order::ReplyDeleted { reply, answer: result.map_err(Failure::Failed) });
    }

    /// Sets the alarm for the earliest wake-up time of the live tasks.
    fn set_alarm(&mut self) {
        // A held task does not act at its time. The alarm would ring again and again.
        let is_held = |task: &Task| self.duty == Duty::Hold && !children::serves_code(&self.history, task);
        let alarm = self.history.live().filter(|task| !is_held(task)).filter_map(wake_at).min();
        self.orders.push_back(Order::SetAlarm(alarm));
    }

    fn reply(&mut self, reply: H::Reply, answer: Result<Applied, Failure<H::Error>>) {
        self.orders.push_back(Order::Reply { reply, answer });
    }

    fn applied(&self, task: Option<TaskId>) -> Applied {
        let named = task.and_then(|id| self.history.task(id)).or_else(|| self.history.root());
        Applied { task: named.map(|task| Box::new(view(self.conversation, &self.history, task))) }
    }
}
