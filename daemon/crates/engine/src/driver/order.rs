use super::{Host, Message};
use crate::{
    decide::{effect::Effect, input::Refusal, view::Projection},
    state::snapshot::HistorySnapshot,
};
use abide_protocol::{CallId, RecordId, TaskId, Timestamp, record::NewRecord, task::AgentTask};

/// An output of the driver. The host carries out orders one after the other, in the order in which they are
/// given.
#[derive(Debug)]
pub enum Order<H: Host> {
    /// Cancel all attempts, wait for their ends, then load the conversation's records, starting at its
    /// snapshot if it has one. Answered by [`super::Event::Loaded`] or [`super::Event::LoadFailed`].
    Load,
    /// Load the conversation's records, while its attempts go on. Answered by [`super::Event::Loaded`] or
    /// [`super::Event::LoadFailed`].
    Reread,
    /// Keep this snapshot for later loads, in place of the previous one. It has no answer, and it may fail.
    KeepSnapshot(Box<HistorySnapshot>),
    /// Inspect these calls, which were interrupted. Answered by [`super::Event::Inspected`].
    Inspect(Vec<StartedCall>),
    /// Commit and publish these records. Answered by [`super::Event::Committed`] or
    /// [`super::Event::AppendFailed`].
    Append(Append),
    /// Withdraw this append. It may have committed already; its answer is ignored.
    Withdraw(AppendId),
    /// Start this attempt.
    Start {
        effect: Effect,
        gate: Gate,
    },
    /// Cancel these attempts, wait until nothing of them is under way, then report the text that clients were
    /// shown of these replies. Answered by [`super::Event::Killed`], before any other event.
    Kill(CutOff),
    /// The append committed: the attempts that wait at the gate may act and show output.
    OpenGate,
    /// The append failed: the attempts that wait at the gate never act.
    DropGate,
    /// Delete the output kept on disk for all attempts of these calls. The results of the calls are
    /// committed, so no recovery needs the output. A call that never started may have kept files too, if a
    /// daemon died after it had prepared the call.
    DropOutput(Vec<CallId>),
    /// Set the conversation's next wake-up time, in place of the previous one.
    SetAlarm(Option<Timestamp>),
    Reply {
        reply: H::Reply,
        answer: Result<Applied, Failure<H::Error>>,
    },
    /// Delete the conversation's records. Answered by [`super::Event::Erased`].
    Erase,
    ReplyDeleted {
        reply: H::Deletion,
        answer: Result<u64, Failure<H::Error>>,
    },
    /// Log that an outcome or a wake was refused. Unless it came too late, that is a defect.
    OutcomeRefused(Refusal),
    /// Cancel all attempts, and unregister this actor, so that the conversation's next message starts a new
    /// one. The driver still takes the messages that are in the mailbox; the actor ends when it is empty.
    Leave,
    /// Send this message to the conversation's next actor.
    PassOn(Message<H>),
}

/// What an end cuts off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CutOff {
    /// Some of them may not run any more.
    pub attempts: Vec<Effect>,
    /// Replies that are not recorded: those of the attempts, and those that broke and whose next attempt has
    /// not begun.
    pub replies: Vec<RecordId>,
}

impl CutOff {
    pub(super) const fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.replies.is_empty()
    }
}

/// The number of an append, counted by its driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppendId(pub u64);

/// Records to commit in one transaction.
#[derive(Debug)]
pub struct Append {
    pub id: AppendId,
    pub records: Vec<NewRecord>,
    /// The projections of the tasks that these records change.
    pub tasks: Vec<Projection>,
    /// May use the disk reserve, so it does not wait for room on a full disk.
    pub urgent: bool,
}

/// Whether an attempt waits for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The attempt is prepared (a model request may be sent), but shows no output and runs no tool before
    /// [`Order::OpenGate`].
    Closed,
    /// The attempt's records are committed: it need not wait.
    Open,
}

/// An attempt of a call that was started and has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedCall {
    pub task: TaskId,
    pub call: CallId,
    pub attempt: u32,
}

/// The reply to an accepted command.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The task that the command names, else the newest root task, if there is one.
    pub task: Option<Box<AgentTask>>,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure<E> {
    Refused(Refusal),
    /// The daemon shuts down. The command may be sent again to the next daemon.
    ShuttingDown,
    /// An order could not be carried out.
    Failed(E),
}
