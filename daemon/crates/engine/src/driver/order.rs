use super::{Host, Message};
use crate::{effects::Effect, history::Checkpoint, input::Refusal, view::Projection};
use abide_protocol::{CallId, TaskId, Timestamp, record::NewRecord, task::AgentTask};

/// What a driver wants done. Orders are carried out one after the other, in the order in which they are given.
#[derive(Debug)]
pub enum Order<H: Host> {
    /// Read the conversation's records, from its checkpoint on if there is one: [`super::Event::Loaded`] or
    /// [`super::Event::LoadFailed`].
    Load,
    /// Keep this checkpoint for later readings, in place of the one before. Nothing waits for it, and it may fail.
    KeepCheckpoint(Box<Checkpoint>),
    /// Look at these calls, which were under way when their work was interrupted: [`super::Event::Inspected`].
    Inspect(Vec<StartedCall>),
    /// Have this committed and published: [`super::Event::Committed`] or [`super::Event::AppendFailed`].
    Append(Append),
    /// Nobody waits for this append any more. It may be too late for that.
    Withdraw(AppendId),
    /// Start this attempt.
    Start {
        effect: Effect,
        gate: Gate,
    },
    /// This attempt is not wanted any more.
    Cancel(Effect),
    /// Cancel these attempts, those that run, and only then say what people have seen of their replies: [`super::Event::Killed`]
    /// comes before any other event.
    Kill(Vec<Effect>),
    /// What waits at the gate may act and be shown.
    OpenGate,
    /// What waits at the gate never was.
    ShutGate,
    /// The output that was kept of these attempts in case of a crash has served.
    DropOutput(Vec<(CallId, u32)>),
    /// The one moment that the conversation waits for, in place of the one before.
    SetAlarm(Option<Timestamp>),
    Reply {
        reply: H::Reply,
        answer: Result<Applied, Failure<H::Error>>,
    },
    /// Delete the conversation's records: [`super::Event::Erased`].
    Erase,
    ReplyDeleted {
        reply: H::Deletion,
        answer: Result<u64, Failure<H::Error>>,
    },
    /// An outcome or a wake changed nothing. Unless it came too late, that is a defect.
    OutcomeRefused(Refusal),
    /// This actor is not the conversation's any more: from here on messages start its successor. Those that its mailbox still holds
    /// are told to the driver, and when there are none left the actor ends.
    Leave,
    /// This message is for the successor.
    PassOn(Message<H>),
}

/// Appends of one driver, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppendId(pub u64);

/// Records, stored all or none.
#[derive(Debug)]
pub struct Append {
    pub id: AppendId,
    pub records: Vec<NewRecord>,
    /// The tasks that these records change.
    pub tasks: Vec<Projection>,
    /// It does not wait for room on a full disk.
    pub urgent: bool,
}

/// Whether an attempt waits for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It is prepared, or asked; nothing of it is shown or done before [`Order::OpenGate`].
    Closed,
    /// What led to it is on disk.
    Open,
}

/// A call that was started and has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedCall {
    pub task: TaskId,
    pub call: CallId,
    pub attempt: u32,
}

/// What a command came to.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The task that the command names; else the conversation's newest, if it has one.
    pub task: Option<Box<AgentTask>>,
}

/// Why a command came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure<E> {
    Refused(Refusal),
    /// The next daemon may be asked again.
    ShuttingDown,
    /// An order could not be carried out.
    Failed(E),
}
