//! What a conversation's actor decides, without I/O: which records go into one append, what may begin before it is committed, what
//! waits at the gate, who is answered when, what is read again, and when the actor goes.
//!
//! A driver takes [`Event`]s and gives [`Order`]s. Whoever runs it carries out all orders before it tells the next event, so that
//! [`Driver::history`] is what the orders were given for. The daemon runs it on its store, its models and its tools; the simulation
//! of this crate's tests runs it on simulated ones, and neither decides anything itself.
//!
//! Commit, then publish, then act: an input changes the memory and becomes one append; replies, alarms and the gate wait for its
//! commit. If it fails the memory is dropped, all work is cancelled, and the records are read again.

mod append;
mod event;
mod leave;
mod load;
mod message;
mod order;
mod press;

pub use event::{Event, Wants};
pub use message::{Lane, Message};
pub use order::{Append, AppendId, Applied, Failure, Gate, Order, StartedCall};

use crate::{
    accept::accept,
    advance::handle,
    command::Command,
    effects::{Effect, effects, wake_at},
    history::{History, Tail},
    input::{Input, Refusal, Shown},
    mint::Mint,
    view::view,
};
use abide_protocol::{ConversationId, TaskId, record::NewRecord};
use append::Appending;
use leave::Leaving;
use load::TakingUp;
use std::{collections::VecDeque, fmt::Debug, mem};

/// Whoever runs a driver: the types of what only passes through it.
pub trait Host: Debug {
    /// Who waits for the answer to a command.
    type Reply: Debug;
    /// Who waits for a deletion.
    type Deletion: Debug;
    /// Why an order could not be carried out.
    type Error: Clone + Debug;
}

/// One conversation's actor.
#[derive(Debug)]
pub struct Driver<H: Host> {
    conversation: ConversationId,
    history: History,
    /// The records since the last checkpoint.
    tail: Tail,
    /// A checkpoint is kept when it saves a reading this many records.
    checkpoint_spacing: usize,
    /// Attempts that were started and neither cancelled nor ended, in the order in which they were started.
    running: Vec<Effect>,
    duty: Duty,
    state: State<H>,
    /// Messages that could not be handled when they came. They are handled before those of the mailbox.
    aside: VecDeque<Message<H>>,
    is_disk_full: bool,
    last_append: AppendId,
    orders: VecDeque<Order<H>>,
}

/// How much of what follows from an input this actor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duty {
    All,
    /// The daemon drains. Inputs become records; what follows from them is the next daemon's. What runs comes to its boundary.
    Record,
    /// The same with records that were read while the daemon drained: what they say is under way does not run.
    RecordOnly,
}

#[derive(Debug)]
enum State<H: Host> {
    Loading(TakingUp),
    Inspecting(TakingUp),
    /// The memory is what is on disk, and the next message may come.
    Ready,
    /// Before this message is handled, the work that it ends is killed.
    Killing(Message<H>),
    /// The memory is ahead of the disk.
    Appending(Box<Appending<H>>),
    Erasing(H::Deletion),
    Leaving(Leaving<H>),
}

impl<H: Host> Driver<H> {
    /// The actor of a conversation whose records have to be read first. A checkpoint is kept when it saves the next reading
    /// `checkpoint_spacing` records.
    #[must_use]
    pub fn new(conversation: ConversationId, checkpoint_spacing: usize) -> Self {
        Self {
            conversation,
            history: History::default(),
            tail: Tail::default(),
            checkpoint_spacing,
            running: Vec::new(),
            duty: Duty::All,
            state: State::Loading(TakingUp::First),
            aside: VecDeque::new(),
            is_disk_full: false,
            last_append: AppendId::default(),
            orders: VecDeque::from([Order::Load]),
        }
    }

    /// What is in memory. It is ahead of the disk while an append is under way.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// The next order.
    pub fn next_order(&mut self) -> Option<Order<H>> {
        self.orders.pop_front()
    }

    /// What is to be told next, besides the answers to orders.
    #[must_use]
    pub fn wants(&self) -> Wants {
        if self.whose_turn().is_some() {
            return Wants::Turn;
        }
        match &self.state {
            State::Ready => Wants::Message { linger: self.linger() },
            State::Leaving(leaving) if leaving.awaits_messages() => Wants::Message { linger: None },
            State::Appending(appending) if appending.can_be_pressed() => {
                if self.is_disk_full {
                    Wants::UrgentMessage
                } else {
                    Wants::Disk
                }
            }
            State::Loading(_)
            | State::Inspecting(_)
            | State::Killing(_)
            | State::Appending(_)
            | State::Erasing(_)
            | State::Leaving(_) => Wants::Nothing,
        }
    }

    /// Takes an event in; what is to be done of it are the next orders. The mint is of this moment.
    pub fn on(&mut self, event: Event<H>, mint: &mut Mint) {
        match event {
            Event::Loaded { history, tail } => self.loaded(*history, tail, mint),
            Event::LoadFailed(error) => self.load_failed(error),
            Event::Inspected(findings) => self.inspected(findings, mint),
            Event::Message(message) => self.message(message, mint),
            Event::Turn => {
                if let Some(message) = self.whose_turn().and_then(|at| self.aside.remove(at)) {
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
            Event::Drain if self.duty == Duty::All => self.duty = Duty::Record,
            Event::Drain => {}
            Event::CutOff => self.cut_off(),
            Event::LingerOver => self.linger_over(),
        }
    }

    /// The place of the message set aside that can be handled now.
    fn whose_turn(&self) -> Option<usize> {
        match &self.state {
            State::Ready => (!self.aside.is_empty()).then_some(0),
            State::Leaving(leaving) => (leaving.awaits_messages() && !self.aside.is_empty()).then_some(0),
            State::Appending(appending) if self.is_disk_full && appending.can_be_pressed() => {
                self.aside.iter().position(Message::presses)
            }
            State::Loading(_)
            | State::Inspecting(_)
            | State::Killing(_)
            | State::Appending(_)
            | State::Erasing(_) => None,
        }
    }

    fn message(&mut self, message: Message<H>, mint: &mut Mint) {
        match &self.state {
            State::Ready => {
                let effects = self.ended_by(&message);
                if effects.is_empty() {
                    self.carry_out(message, Shown::new(), mint);
                } else {
                    self.kill(effects);
                    self.state = State::Killing(message);
                }
            }
            State::Leaving(_) => self.dismiss(message),
            State::Appending(appending)
                if self.is_disk_full && appending.can_be_pressed() && message.presses() =>
            {
                self.press(message, mint);
            }
            State::Loading(_)
            | State::Inspecting(_)
            | State::Killing(_)
            | State::Appending(_)
            | State::Erasing(_) => self.aside.push_back(message),
        }
    }

    /// The attempts that a stop or a deletion puts an end to. They are killed first, and the end is recorded after.
    fn ended_by(&self, message: &Message<H>) -> Vec<Effect> {
        match message {
            Message::Command { command: Command::Stop { task }, .. } => {
                let mut effects = effects(&self.history);
                effects.retain(|effect| self.history.is_within(effect.task(), *task));
                effects
            }
            Message::Delete { .. } => effects(&self.history),
            Message::Command { .. } | Message::Fork { .. } | Message::Outcome { .. } | Message::Wake => {
                Vec::new()
            }
        }
    }

    fn kill(&mut self, effects: Vec<Effect>) {
        self.running.retain(|running| !effects.contains(running));
        self.orders.push_back(Order::Kill(effects));
    }

    fn killed(&mut self, shown: Shown, mint: &mut Mint) {
        match mem::replace(&mut self.state, State::Ready) {
            State::Killing(message) => self.carry_out(message, shown, mint),
            State::Appending(appending) => self.killed_to_press(appending, &shown, mint),
            other => self.state = other,
        }
    }

    /// What a message makes of the memory, and the append that comes of it.
    fn carry_out(&mut self, message: Message<H>, shown: Shown, mint: &mut Mint) {
        match message {
            Message::Command { command, reply } => {
                let (names, urgent) = (command.task(), command.is_urgent());
                match self.take(command.into_input(shown), mint) {
                    Err(refusal) => self.reply(reply, Err(Failure::Refused(refusal))),
                    Ok(records) => self.append(records, urgent, append::Asked::Command { reply, names }),
                }
            }
            Message::Delete { reply } => {
                let records = self.stop_all(shown, mint);
                self.append(records, true, append::Asked::Deletion(reply));
            }
            Message::Fork { reply, .. } if self.duty != Duty::All => {
                self.reply(reply, Err(Failure::ShuttingDown));
            }
            Message::Fork { fork, reply } => {
                let names = Some(fork.task);
                match self.take(Input::Fork(fork), mint) {
                    Err(refusal) => self.reply(reply, Err(Failure::Refused(refusal))),
                    Ok(records) => self.append(records, false, append::Asked::Command { reply, names }),
                }
            }
            Message::Outcome { effect, input } => {
                self.running.retain(|running| *running != effect);
                self.outcome(*input, mint);
            }
            Message::Wake => self.outcome(Input::Wake, mint),
        }
    }

    fn outcome(&mut self, input: Input, mint: &mut Mint) {
        match self.take(input, mint) {
            Ok(records) => self.append(records, false, append::Asked::Nobody),
            Err(refusal) => self.orders.push_back(Order::OutcomeRefused(refusal)),
        }
    }

    /// Folds in what follows from an input: records of one append. While the daemon drains they are the input's own; else also those
    /// of all that follows by itself.
    fn take(&mut self, input: Input, mint: &mut Mint) -> Result<Vec<NewRecord>, Refusal> {
        if self.duty == Duty::All { handle(&mut self.history, input, mint) } else { self.record(input, mint) }
    }

    fn record(&mut self, input: Input, mint: &mut Mint) -> Result<Vec<NewRecord>, Refusal> {
        let records = accept(&self.history, input, mint)?;
        records.iter().for_each(|record| self.history.fold(record));
        Ok(records)
    }

    /// Before a deletion the root ends, and with it all tasks beneath it.
    fn stop_all(&mut self, shown: Shown, mint: &mut Mint) -> Vec<NewRecord> {
        let Some(task) = self.history.root().map(|root| root.id) else { return Vec::new() };
        // Refused is only what has ended already.
        self.record(Input::Stop { task, shown }, mint).unwrap_or_default()
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
                    self.rest();
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

    /// Nothing happens until the next input, or the next moment that a task waits for.
    fn rest(&mut self) {
        let alarm = self.history.live().filter_map(wake_at).min();
        self.orders.push_back(Order::SetAlarm(alarm));
    }

    fn reply(&mut self, reply: H::Reply, answer: Result<Applied, Failure<H::Error>>) {
        self.orders.push_back(Order::Reply { reply, answer });
    }

    fn applied(&self, names: Option<TaskId>) -> Applied {
        let named = names.and_then(|id| self.history.task(id)).or_else(|| self.history.root());
        Applied { task: named.map(|task| Box::new(view(self.conversation, task))) }
    }
}
