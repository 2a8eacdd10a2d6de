//! Records: the durable facts of a conversation, in order. Everything else is derived from them.

use crate::{
    ApprovalId, CallId, ConversationId, JsonText, QuestionId, RecordId, Seq, TaskId, Timestamp,
    checkpoint::{Checkpointed, UndoBegun, UndoEnded},
    inbox::{Approval, Decision, NamedFile, Preview, Question, Rule, WiderRule},
    memory::{MemoryUse, RecallWay, Snippet},
    message::{CallOutcome, Message, MessageKind, Role},
    task::{Approvals, EndReason, Limits, Mode, PauseReason, Phase, RestartPolicy},
    transcript::{CallBlock, EffectClass, Reply, Risk, ToolResult, ToolSpec, Usage},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::VariantNames;

/// A committed record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub seq: Seq,
    pub id: RecordId,
    pub conversation_id: ConversationId,
    pub task_id: Option<TaskId>,
    pub at: Timestamp,
    pub body: RecordBody,
}

/// A record before its commit: it has no seq yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    pub id: RecordId,
    pub task_id: Option<TaskId>,
    pub at: Timestamp,
    pub body: RecordBody,
}

/// What happened. Variants are only ever appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RecordBody {
    ConversationCreated(ConversationCreated),
    ConversationUpdated(ConversationUpdated),
    ConversationArchived(ConversationArchived),
    /// The conversation was deleted: of its records only this one is left.
    ConversationDeleted(ConversationDeleted),
    TaskStarted(Box<TaskStarted>),
    UserMessage(UserMessage),
    /// For the person.
    Notice(Notice),
    /// For the model, at the tail of the transcript; not shown.
    Nudge(Nudge),
    /// By `send_update`.
    Update(Update),
    ModelRequested(ModelRequested),
    /// Withdraws the live output of its item.
    ModelFailed(ModelFailed),
    Reply(ReplyRecord),
    /// The part of a reply that was shown when the task ended. A call in it is dropped.
    PartialReply(PartialReply),
    /// Arguments, permission and preview of a call, before anything of it runs.
    CallAssessed(CallAssessed),
    ApprovalRequested(Approval),
    ApprovalDecided(ApprovalDecided),
    RuleRemembered(RuleRemembered),
    /// Written before the call does anything.
    CallStarted(CallStarted),
    CallFinished(CallFinished),
    QuestionAsked(Question),
    QuestionAnswered(QuestionAnswered),
    Paused(Paused),
    Resumed(Resumed),
    LimitsRaised(LimitsRaised),
    /// The oldest tool outputs or steps are no longer sent to the model whole, so that its context has room.
    Compacted(Compacted),
    /// This task's work was interrupted: nothing of it is under way any more.
    Restarted(Restarted),
    TaskEnded(TaskEnded),
    /// Parts of an attempt's stream that its reply leaves out. It comes right before the reply or the
    /// failure.
    ModelTraced(ModelTraced),
    /// Sub-tasks have ended, and their results are delivered to the task's model. It is in the append of
    /// their end.
    ResultsDelivered(ResultsDelivered),
    /// A phase of a step begins. If it asks the model, `model_requested` follows in the same append.
    PhaseBegan(PhaseBegan),
    /// A message of the agent that is not a model's reply. It is not in the transcript.
    AgentMessage(AgentMessage),
    /// A message of an earlier conversation that the task was started with.
    Imported(Imported),
    Joining(Joining),
    Intervened(Intervened),
    Checkpointed(Checkpointed),
    UndoBegun(UndoBegun),
    UndoEnded(UndoEnded),
    ClockMoved(ClockMoved),
    Recalled(Recalled),
    /// By `remember`.
    Noted(Noted),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCreated {
    pub title: String,
    pub workspace: String,
    pub mode: Option<Mode>,
    pub model: Option<String>,
    pub persona: Option<String>,
    /// Absent in records of earlier versions: `normal`.
    #[serde(default)]
    pub memory: MemoryUse,
}

/// What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationUpdated {
    pub title: Option<String>,
    pub workspace: Option<String>,
    pub mode: Option<Mode>,
    pub model: Option<String>,
    pub persona: Option<String>,
    pub muted: Option<bool>,
    pub memory: Option<MemoryUse>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationArchived {
    pub archived: bool,
}

/// What is left of a deleted conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationDeleted {
    /// Records removed.
    pub records: u64,
}

/// A task's first record. What the model's requests begin with is frozen here, so that their prefix stays
/// byte-identical.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStarted {
    pub parent_id: Option<TaskId>,
    pub mode: Mode,
    /// `provider/model`.
    pub model: String,
    pub system_prompt: String,
    pub tools: Vec<ToolSpec>,
    pub workspace: String,
    /// The client's environment without what looks like a secret, for tools.
    pub environment: BTreeMap<String, String>,
    pub limits: Limits,
    pub approvals: Approvals,
    pub restart: RestartPolicy,
    pub original_prompt: String,
    pub metadata: Option<JsonText>,
    pub client_message: Option<ClientMessage>,
    /// Tasks above this one; 0: it is a root.
    pub depth: u32,
    /// Absent: another task has started it.
    pub by: Option<By>,
    /// The mode's templates, by phase.
    pub prompts: BTreeMap<String, String>,
    /// The persona's name; what it says is in the other fields.
    pub persona: Option<String>,
    /// The repository's notes for agents; their texts are in the system prompt.
    pub instructions: Vec<InstructionFile>,
    /// What a sub-task is about, in a few words. (Roots have none.)
    pub title: String,
    /// The call that has started this sub-task.
    pub forked_by: Option<ForkedBy>,
    /// The system prompt of its sub-tasks; absent: its own, since it is an agent as they are.
    pub child_system_prompt: Option<String>,
    /// From this many tokens of context on, old outputs and steps are left out before a new step. 0: only
    /// when a request was too long for the model.
    pub compact_at_tokens: u64,
    /// The id that its client gave it besides its own.
    pub external_id: Option<String>,
    /// Files that the user named, relative to the workspace.
    pub files: Vec<String>,
    /// Checkpoints of its files are made, so that its changes can be taken back.
    pub checkpoints: bool,
    /// It is parked while a limit of its provider lasts; otherwise the limit ends it.
    pub parks: bool,
}

/// The call of a parent that has started a sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkedBy {
    pub call_id: CallId,
    /// Counts the sub-tasks of this call from 0.
    pub index: u32,
}

/// An `AGENTS.md`, or `CLAUDE.md`, that a task's model has been given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstructionFile {
    /// From the repository's root.
    pub path: String,
    pub bytes: u64,
    /// SHA-256 of its content, in hex.
    pub sha256: String,
}

/// Who started, answered or decided something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct By {
    pub via: Via,
    /// The name that the client gives itself, at most 64 bytes. It is not checked, and may be empty.
    pub name: String,
}

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Via {
    /// The local socket: the same user.
    Socket,
    /// An action of a desktop notification; the name is that of the notification server.
    Notification,
    /// The HTTP interface; the name is that of the token.
    Http,
}

/// A client's own id of a request, so that sending it again starts nothing twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientMessage {
    pub id: String,
    /// SHA-256 (hex) of the request.
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    pub about: NoticeKind,
    pub text: String,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum NoticeKind {
    Stopped,
    /// The task ended at a step or time limit.
    LimitReached,
    /// Most of a token or cost limit is used.
    BudgetNear,
    Error,
    /// The task ended with an incomplete reply.
    Incomplete,
    /// The model's server seems to cut what it is sent: it counts far fewer tokens than the request must
    /// have.
    ContextCut,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Nudge {
    pub text: String,
    /// It says which sub-tasks are still at work, as the task wanted to end.
    pub names_children: bool,
}

impl Nudge {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), names_children: false }
    }
}

/// A call waits for sub-tasks. It ends with their results, in the append in which the last of them ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Joining {
    pub call_id: CallId,
    pub tasks: Vec<TaskId>,
}

/// A person or another task changes the course of this task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intervened {
    pub by: Intervener,
    pub kind: InterventionKind,
    /// The words of the intervention.
    pub comment: String,
    /// What takes the place of the task's prompt; only of `modify`.
    pub content: Option<String>,
    /// The reply that is withdrawn, if one was under way.
    pub withdraws: Option<RecordId>,
}

/// Who intervenes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Intervener {
    Person(By),
    /// The task's parent, or one of its sub-tasks.
    Task(TaskId),
}

/// How an intervention changes the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum InterventionKind {
    /// A remark. The task goes on as it was.
    Comment,
    /// The task's instructions are replaced.
    Modify,
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Update {
    pub call_id: CallId,
    pub text: String,
}

/// An attempt of a model call begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequested {
    /// The id that the reply's record will have.
    pub item: RecordId,
    pub step: u32,
    /// Counts from 1 within the step.
    pub attempt: u32,
    pub phase: Option<Phase>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFailed {
    pub item: RecordId,
    pub attempt: u32,
    pub kind: ModelErrorKind,
    /// For people.
    pub message: String,
    /// When the next attempt begins; absent if there is none.
    pub retry_at: Option<Timestamp>,
    /// The request was sent, so it counts as a model call.
    pub sent: bool,
}

/// What went wrong with a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ModelErrorKind {
    /// No or a wrong key.
    Auth,
    /// Out of credit.
    Quota,
    RateLimited,
    /// The server says that it is overloaded, or a gateway before it does not reach it (502 to 504, 520 and
    /// above).
    Overloaded,
    /// Could not connect, or the stream was cut.
    Network,
    /// The provider sent nothing for too long.
    Stalled,
    /// The request is longer than the model's context.
    ContextOverflow,
    /// The provider declined to answer.
    Refused,
    /// The provider rejected the request as invalid.
    BadRequest,
    /// The response could not be decoded.
    Malformed,
    /// The provider or model does not exist.
    NotFound,
    /// The daemon ended during the request, or cancelled it.
    Interrupted,
    /// Nothing answers at the address: connection refused, unknown host, a certificate that is not accepted.
    Unreachable,
    /// The server failed as it worked on the request, and does not say that it is overloaded.
    ServerError,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTraced {
    pub item: RecordId,
    pub attempt: u32,
    pub traces: Vec<Trace>,
    /// How many more there were that were not kept.
    pub left_out: u64,
}

/// A part of a model's stream that the reply leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// What is wrong with it, in words.
    pub what: String,
    /// As it was received, cut if it is long.
    pub raw: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyRecord {
    pub step: u32,
    pub attempt: u32,
    pub reply: Reply,
    pub phase: Option<Phase>,
    /// The control block that the mode has read in the reply's text.
    pub control: Option<ControlBlock>,
    /// The text that people see, if it is not the reply's own.
    pub text: Option<String>,
    /// Calls that the mode has read in the reply's text. The provider does not know of them.
    pub calls: Vec<CallBlock>,
}

impl ReplyRecord {
    /// A reply of a mode without phases: nothing is read in its text.
    #[must_use]
    pub const fn new(step: u32, attempt: u32, reply: Reply) -> Self {
        Self { step, attempt, reply, phase: None, control: None, text: None, calls: Vec::new() }
    }

    /// The text that people see.
    #[must_use]
    pub fn shown(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.reply.text())
    }

    /// All calls: those of the reply, then those read in its text.
    pub fn calls(&self) -> impl Iterator<Item = &CallBlock> {
        self.reply.calls().chain(&self.calls)
    }
}

/// What a reply decides about its task's loop, as a mode has read it in the reply's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ControlBlock {
    Reason(ReasonBlock),
    Observe(ObserveBlock),
    Summarize(SummarizeBlock),
}

/// The control block of phase `reason`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonBlock {
    pub plan: String,
    pub tools_to_consider: Vec<String>,
    /// There is nothing left to do.
    pub finish: bool,
}

/// The control block of phase `observe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObserveBlock {
    pub observation: String,
    pub should_continue: bool,
    /// Empty: none yet.
    pub final_answer: String,
}

impl Default for ObserveBlock {
    fn default() -> Self {
        Self { observation: String::new(), should_continue: true, final_answer: String::new() }
    }
}

/// The control block of phase `summarize`. Its question is a call of the reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummarizeBlock {
    pub answer: String,
    pub uncertain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialReply {
    pub text: String,
}

/// What is known of a call before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallAssessed {
    pub call_id: CallId,
    pub tool: String,
    pub arguments: String,
    pub summary: String,
    pub effect: EffectClass,
    pub risk: Risk,
    pub preview: Option<Box<Preview>>,
    /// For a verifiable call.
    pub edit: Option<EditHashes>,
    /// SHA-256 (hex) of tool, arguments and workspace.
    pub digest: String,
    pub permission: Permission,
    /// The sandbox that its processes will run in.
    pub sandbox: String,
    /// The rule that allows, asks or denies, as it is written.
    pub rule: Option<String>,
    /// The command that a rule allows: it is executed like this, without a shell.
    pub direct: Option<Box<Direct>>,
    /// The rules that an approval offers besides the exact one, the narrowest first.
    pub wider: Vec<WiderRule>,
    /// Why it asks although a sandbox could confine it, in a sentence without a full stop.
    pub why: Option<String>,
    /// See [`Approval::in_passing`].
    pub in_passing: bool,
    /// See [`Approval::files`].
    pub files: Vec<NamedFile>,
    /// See [`Approval::only_once`].
    pub only_once: Option<String>,
    /// See [`Approval::for_task`].
    pub for_task: bool,
    /// What of its arguments was left out, for the model: it is told with the result.
    pub notes: Vec<String>,
}

/// A command that is executed without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Direct {
    /// An absolute path.
    pub program: String,
    pub arguments: Vec<String>,
    /// What it sets besides the task's environment.
    pub environment: BTreeMap<String, String>,
    pub stdout: DirectOutput,
    pub stderr: DirectOutput,
}

/// Where a stream of a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectOutput {
    /// To its own place.
    Own,
    /// To stdout, wherever stdout goes after that.
    Stdout,
    Dropped,
}

/// How to find out whether an edit happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditHashes {
    /// Relative to the workspace.
    pub path: String,
    /// SHA-256 (hex) of the content before; absent if there is no such file.
    pub before: Option<String>,
    /// SHA-256 (hex) of the content after.
    pub after: String,
    /// The size of the content after, in bytes.
    pub bytes: u64,
}

/// What the file of an interrupted edit shows. (Between tools and engine; never on the wire.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditState {
    NotAnEdit,
    NotDone,
    Done,
    /// The file is neither what it was nor what it should become.
    Unknown,
}

/// Whether a call may run, and what decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Permission {
    /// The tool's tier allows.
    Tier,
    /// A remembered rule allows.
    Rule,
    /// The task was started with `approvals: allow`.
    Yes,
    /// A person is asked.
    Ask,
    /// It may not run, for this reason.
    Denied(String),
    /// It stays in the sandbox, where what it does can be undone.
    Sandbox,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDecided {
    pub approval_id: ApprovalId,
    pub call_id: CallId,
    pub decision: Decision,
    pub note: Option<String>,
    pub by: By,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleRemembered {
    /// The call.
    pub rule: Rule,
    /// Otherwise it denies.
    pub allow: bool,
    /// The rule that is remembered, if it matches more than the very call.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallStarted {
    pub call_id: CallId,
    /// Counts from 1.
    pub attempt: u32,
    /// The sandbox that it runs in.
    pub sandbox: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFinished {
    pub call_id: CallId,
    pub attempt: u32,
    pub outcome: CallOutcome,
    pub result: ToolResult,
    /// ms.
    pub duration_ms: u64,
    /// The sub-tasks whose results the call's code has read. The model is not sent them a second time as
    /// notes.
    pub read_results: Vec<TaskId>,
    /// What a model that the call has asked has used.
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswered {
    pub question_id: QuestionId,
    /// Absent: declined.
    pub response: Option<String>,
    /// Absent: the question was closed for another reason than an answer.
    pub by: Option<By>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    pub reason: PauseReason,
}

/// A pause is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    pub was: PauseReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsRaised {
    pub limits: Limits,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compacted {
    /// Calls whose results are replaced by a short note.
    pub elided: Vec<CallId>,
    /// Whole steps that are replaced by a line about each, the oldest first.
    pub steps: Vec<CompactedStep>,
    /// All that was recalled is replaced by a short note.
    #[serde(default)]
    pub recalled: bool,
}

/// What is left of a step in the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactedStep {
    pub step: u32,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restarted {
    /// Starts of the daemon in a row without progress of the root task or a sub-task.
    pub without_progress: u32,
    pub cause: Interruption,
    /// The daemon that was interrupted certainly ran until then: the task worked until then. Absent: until
    /// its newest record.
    pub ran_until: Option<Timestamp>,
}

/// The system's clock no longer shows the time since the records before: the machine has slept, or the clock
/// was set. Neither counts as work, and what is due after a time is due that time after the clock was set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClockMoved {
    /// How long the machine slept, in ms.
    pub slept_ms: u64,
    /// How far the clock was set, in ms; negative: back.
    pub set_by_ms: i64,
}

impl ClockMoved {
    /// What has come since an earlier sum of such moves.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            slept_ms: self.slept_ms.saturating_sub(earlier.slept_ms),
            set_by_ms: self.set_by_ms.saturating_sub(earlier.set_by_ms),
        }
    }
}

/// What interrupted a task's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// The daemon ended during the work, and another one started.
    DaemonRestarted,
    /// Records of the conversation could not be appended, and everything under way was cancelled.
    AppendFailed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskEnded {
    pub reason: EndReason,
    pub summary: Option<String>,
    pub error: Option<String>,
    /// The result for programs, of mode `tree`:
    /// `{answer, subResults[], questions[{question, answer}], usage}`, where a sub-result is what `wait`
    /// gives.
    pub data: Option<JsonText>,
}

impl TaskEnded {
    /// An end without a result.
    #[must_use]
    pub const fn of(reason: EndReason) -> Self {
        Self { reason, summary: None, error: None, data: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultsDelivered {
    pub tasks: Vec<TaskId>,
    /// For the model, at the tail of the transcript; not shown.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseBegan {
    pub step: u32,
    pub phase: Phase,
    /// For the model, at the tail of the transcript; not shown.
    pub text: Option<String>,
    /// The model is asked. Otherwise the phase is over at once.
    pub asks: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMessage {
    pub text: String,
}

/// A message of an earlier conversation, in the order that a provider requires: the results of a reply's
/// calls follow it at once, one for each call, in call order, and no reply follows another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Imported {
    User(ImportedText),
    Assistant(ImportedReply),
    System(ImportedText),
    Result(ImportedResult),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedText {
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedReply {
    pub text: String,
    /// `providerId` is the id that the request gave the call.
    pub calls: Vec<CallBlock>,
}

/// The result of a call in an imported reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedResult {
    pub call_id: CallId,
    pub provider_id: String,
    pub tool: String,
    pub text: String,
}

/// An agent's note for later tasks of its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Noted {
    pub text: String,
}

/// Passages of other conversations that a task is given before its first request, or by a call of `recall`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recalled {
    /// That of the text that the model reads, as the engine numbers it.
    pub form: u32,
    pub how: RecallWay,
    /// The best first.
    pub snippets: Vec<Snippet>,
    /// Why nothing could be recalled, or only by words; for people.
    pub problem: Option<String>,
}

impl Recalled {
    /// The record in words for a person, as `recalled 4 · words`.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.problem {
            Some(problem) if self.snippets.is_empty() => format!("recalled nothing: {problem}"),
            Some(problem) => format!("recalled {} · {} ({problem})", self.snippets.len(), self.how.words()),
            None => format!("recalled {} · {}", self.snippets.len(), self.how.words()),
        }
    }
}

impl Imported {
    /// The text that people see.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::User(said) | Self::System(said) => said.text.clone(),
            Self::Assistant(reply) => reply.shown(),
            Self::Result(result) => result.shown(),
        }
    }

    const fn role(&self) -> Role {
        match self {
            Self::User(_) => Role::User,
            Self::Assistant(_) => Role::Agent,
            Self::System(_) | Self::Result(_) => Role::System,
        }
    }
}

impl ImportedReply {
    /// Its text and its calls in words.
    #[must_use]
    pub fn shown(&self) -> String {
        let calls = self.calls.iter().map(|call| format!("[Called {} with {}]", call.tool, call.arguments));
        let parts: Vec<String> =
            [self.text.clone()].into_iter().filter(|text| !text.trim().is_empty()).chain(calls).collect();
        parts.join("\n\n")
    }
}

impl ImportedResult {
    /// In words that name its tool.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("Result of {}:\n{}", self.tool, self.text)
    }
}

impl RecordBody {
    /// The names of all kinds on the wire and in the store, in the order of the variants.
    pub const KINDS: &[&str] = <Self as VariantNames>::VARIANTS;
}

impl Record {
    /// The record as a message, if it is one.
    #[must_use]
    pub fn message(&self) -> Option<Message> {
        use MessageKind as K;
        let (role, kind, text) = match &self.body {
            RecordBody::UserMessage(m) => (Role::User, K::Text, m.text.clone()),
            RecordBody::Notice(n) => (Role::System, K::Notice, n.text.clone()),
            RecordBody::Update(u) => (Role::Agent, K::Update, u.text.clone()),
            RecordBody::Reply(r) => (Role::Agent, K::Text, r.shown()),
            RecordBody::AgentMessage(m) => (Role::Agent, K::Text, m.text.clone()),
            RecordBody::Imported(m) => (m.role(), K::Imported, m.shown()),
            RecordBody::Intervened(i) => {
                let role = if matches!(i.by, Intervener::Person(_)) { Role::User } else { Role::Agent };
                (role, K::Intervention, i.content.as_ref().unwrap_or(&i.comment).clone())
            }
            RecordBody::PartialReply(p) => (Role::Agent, K::Partial, p.text.clone()),
            RecordBody::QuestionAsked(q) => (Role::Agent, K::Question, q.text.clone()),
            RecordBody::QuestionAnswered(a) => {
                (Role::User, K::Answer, a.response.clone().unwrap_or_else(|| "(declined)".to_owned()))
            }
            _ => return None,
        };
        if text.is_empty() && matches!(self.body, RecordBody::Reply(_) | RecordBody::Intervened(_)) {
            return None;
        }
        let reasoning = match &self.body {
            RecordBody::Reply(r) => Some(r.reply.reasoning()).filter(|t| !t.is_empty()),
            _ => None,
        };
        let question_id = match &self.body {
            RecordBody::QuestionAsked(q) => Some(q.id),
            RecordBody::QuestionAnswered(a) => Some(a.question_id),
            _ => None,
        };
        Some(Message {
            id: self.id,
            seq: self.seq,
            conversation_id: self.conversation_id,
            task_id: self.task_id,
            at: self.at,
            role,
            kind,
            text,
            reasoning,
            question_id,
        })
    }
}
