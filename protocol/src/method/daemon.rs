use super::http::HttpStatus;
use crate::{
    CallId, ConversationId, TaskId, Timestamp,
    notification::DaemonUpdate,
    provider::{DefaultModel, ProviderEntry, ProviderInfo},
    record::ModelErrorKind,
    sandbox::SandboxLevel,
    start::StartStatus,
    task::{Limits, Mode},
    transcript::EffectClass,
    update::UpdateStatus,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::VariantNames;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListModelsParams {
    /// Do not ask the providers for their models.
    pub offline: bool,
    /// Only the provider of that name; absent: all, and the reply waits for the slowest.
    pub provider: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListModelsReply {
    pub providers: Vec<ProviderInfo>,
    pub default: DefaultModel,
    /// The limits of a task that names none, in the default mode.
    pub limits: Limits,
    /// The mode of a task that names none.
    pub mode: Mode,
    /// For each mode, the step limit of a task that names none.
    pub steps: Vec<ModeSteps>,
}

impl ListModelsReply {
    /// The step limit of a task in this mode that names none; 0: none.
    #[must_use]
    pub fn max_steps(&self, mode: Mode) -> u32 {
        self.steps
            .iter()
            .find(|steps| steps.mode == mode)
            .map_or(self.limits.max_steps, |steps| steps.max_steps)
    }
}

/// The default step limit of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModeSteps {
    pub mode: Mode,
    /// 0: no limit.
    pub max_steps: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusParams {
    /// No meaning; a struct without fields is not allowed on the wire.
    pub verbose: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReply {
    pub version: String,
    pub pid: u32,
    pub started_at: Timestamp,
    /// ms.
    pub uptime_ms: u64,
    /// Resident memory in bytes; 0 where the system does not tell.
    pub memory_bytes: u64,
    pub connections: u32,
    /// Conversations in memory.
    pub sessions: u32,
    pub tasks: TaskCounts,
    pub inbox: u64,
    pub daemon: DaemonUpdate,
    pub data_dir: String,
    pub socket: String,
    /// Names (not values) of the API keys the daemon has.
    pub keys: Vec<String>,
    pub config: ConfigStatus,
    pub sandbox: SandboxStatus,
    /// Absent: the program that runs is the one on disk.
    pub update: Option<UpdateStatus>,
    pub start: StartStatus,
    pub http: HttpStatus,
}

/// The sandbox of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxStatus {
    /// The best that this machine allows.
    pub level: SandboxLevel,
    /// Why a better one cannot be made, in words.
    pub why_not: Vec<String>,
    /// The least at which anything runs unattended.
    pub require: SandboxLevel,
}

/// The configuration in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigStatus {
    /// The file it is read from, which need not exist.
    pub path: String,
    /// When the configuration in force was read.
    pub read_at: Timestamp,
    /// Why the file's newest text is refused; the configuration read before it stays in force.
    pub refused: Option<RefusedConfig>,
}

/// A configuration text that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedConfig {
    /// What is wrong, where, and what to do about it.
    pub message: String,
    /// Counts from 1; absent where the problem is in no one line.
    pub line: Option<u32>,
    /// The dotted key, as far as it is known.
    pub key: Option<String>,
}

/// Root tasks that have not ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCounts {
    pub running: u64,
    /// For a person, or for sub-tasks of which none is at work.
    pub waiting: u64,
    pub paused: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShutdownParams {
    /// How long to wait for a boundary, in ms; absent: 5,000.
    pub deadline_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateDaemonParams {
    /// How long to wait until all tasks are at a boundary, in ms; absent: 30,000.
    pub patience_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateDaemonReply {
    /// The version that runs.
    pub version: String,
    /// Absent: the program that runs is the one on disk.
    pub update: Option<UpdateStatus>,
}

/// Sent when nothing runs any more, just before the daemon ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShutdownReply {
    /// Tasks that have not ended.
    pub unfinished: u64,
    /// The same by status. Those that run go on at the next start.
    pub tasks: TaskCounts,
    /// Work that had not ended by the deadline.
    pub cut: Vec<CutOff>,
}

/// Work that was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CutOff {
    pub conversation_id: ConversationId,
    pub title: String,
    pub task_id: TaskId,
    pub work: CutWork,
}

/// The kind of work that was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum CutWork {
    /// The model is asked again at the next start.
    ModelCall,
    /// A tool that was running, and its processes.
    ToolCall(CutCall),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CutCall {
    pub call_id: CallId,
    pub tool: String,
    /// What it does, in one line.
    pub summary: String,
    /// What the next start does with it.
    pub effect: EffectClass,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetKeyParams {
    pub provider: String,
    /// Absent: remove it.
    pub key: Option<String>,
}

impl fmt::Debug for SetKeyParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetKeyParams").field("provider", &self.provider).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetKeyReply {
    /// Where it is kept now, in words.
    pub stored_in: String,
    /// A key of this provider had been stored before, and was replaced or removed.
    pub had_key: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckModelParams {
    /// A model as `provider/model`; or a provider, whose default or first model is asked.
    pub model: String,
}

/// A model that does not answer is no error: `failure` says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckModelReply {
    /// The model that was asked, as `provider/model`; only the provider if its models are not known.
    pub model: String,
    /// Until the first words of the answer, or the failure, in ms.
    pub took_ms: u64,
    pub failure: Option<CheckFailure>,
}

/// Why a model does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckFailure {
    pub kind: ModelErrorKind,
    /// What happened, where, and what to do about it.
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckProviderParams {
    /// As it would be in the configuration.
    pub provider: ProviderEntry,
    /// Absent: the key that the daemon has for a provider of that name.
    pub key: Option<String>,
    /// The model that is sent a short prompt, as `provider/model`. Absent: the provider is asked for its
    /// models.
    pub model: Option<String>,
}

impl fmt::Debug for CheckProviderParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckProviderParams").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// A provider that does not answer, or that the configuration would refuse, is no error: `failure` says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckProviderReply {
    /// The models that the provider lists, as `provider/model`; empty if a model was asked.
    pub models: Vec<String>,
    /// Until the answer, or the failure, in ms.
    pub took_ms: u64,
    pub failure: Option<CheckFailure>,
    /// After a failure: an address near the one given that does list models.
    pub base_url: Option<String>,
}
