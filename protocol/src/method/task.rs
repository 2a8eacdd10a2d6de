use crate::{
    CallId, ConversationId, JsonText, TaskId,
    checkpoint::{ChangedFile, KeptFile},
    event::{Event, StartedEvent},
    memory::MemoryUse,
    message::{CallView, Message},
    record::EditHashes,
    task::{AgentTask, Approvals, LimitsRequest, Mode, RestartPolicy},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};
use strum::{IntoStaticStr, VariantNames};

/// All but `message` may be absent.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartTaskParams {
    /// Absent: a new conversation.
    pub conversation_id: Option<ConversationId>,
    pub message: String,
    /// Absent: that of `messageMode`, the template, the conversation, the persona, the configuration, else
    /// `auto`.
    pub mode: Option<Mode>,
    /// `provider/model`. Absent: the conversation's, the persona's, else the default.
    pub model: Option<String>,
    /// Absolute path. For a new conversation; absent: a private scratch folder.
    pub workspace: Option<String>,
    /// Absent: the template's, else the conversation's.
    pub persona: Option<String>,
    /// Names of the tools it may use, none if empty; absent: the template's, the persona's, else all.
    pub tools: Option<Vec<String>>,
    pub limits: LimitsRequest,
    pub approvals: Approvals,
    /// Absent: the configuration's, else `resume`.
    pub restart: Option<RestartPolicy>,
    pub metadata: Option<JsonText>,
    /// Globally unique: the same again with the same payload starts nothing twice.
    pub client_message_id: Option<String>,
    /// The client's environment, for tools; variables that look like secrets are left out. Absent: the
    /// daemon's.
    pub environment: BTreeMap<String, String>,
    /// The message takes the place of `{input}` in this template's prompt.
    pub template: Option<String>,
    /// `Task` asks for the mode `agent`, unless `mode` is there. Other values are ignored.
    pub message_mode: Option<String>,
    /// An earlier conversation, oldest first, that the task continues with `message`. It comes after what
    /// this conversation has already.
    pub messages: Vec<ImportMessage>,
    /// An unused `UUIDv7` becomes the task's id. Another text (no control characters) becomes its external
    /// id, by which requests may name it. A used one is a conflict, unless `clientMessageId` says that the
    /// request is a repeated one.
    pub task_id: Option<String>,
    /// Files of the workspace that the message is about, absolute or relative to it. Naming one permits
    /// nothing.
    pub files: Vec<String>,
    /// The conversation, a new one, works in a git worktree of its own, made of the work tree around
    /// `workspace` with the commit that it is at.
    pub worktree: Option<OwnWorktree>,
    /// For a new conversation; absent: `normal`.
    pub memory: Option<MemoryUse>,
    /// As in [`TaskParams`]. The task becomes a sub-task of this one, which has not ended: in its
    /// conversation and workspace, with its model and what it may, and with its limits for sub-tasks. Then
    /// only `message`, `tools` (of those of the parent), `metadata`, `taskId` and `clientMessageId` may be
    /// given. Absent or `null`: it is a root.
    pub parent_id: Option<String>,
}

/// A git worktree to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnWorktree {
    /// Created unless it exists. Absent: a new one, `abide/` and the conversation's short id.
    pub branch: Option<String>,
}

/// A message of an earlier conversation: a text, of the assistant with calls, or the result of a call.
///
/// The results of an assistant's message follow it before any other message, one for each of its calls, in
/// any order. The assistant's messages in a row become one. `system` is sent to the model as a note: what it
/// says is no rule.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportMessage {
    /// `user` for a result.
    pub role: ImportRole,
    #[serde(default)]
    pub text: String,
    /// Only with the role `assistant`.
    #[serde(default)]
    pub tool_calls: Vec<ImportCall>,
    /// The `id` of the call whose result this is.
    #[serde(default)]
    pub call_id: Option<String>,
    /// A text, or any other JSON. Only with `callId`, and then without `text`.
    #[serde(default)]
    pub result: Option<JsonText>,
}

/// A tool call in a message of an earlier conversation. It is not carried out again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportCall {
    /// Unlike the ids of the message's other calls.
    pub id: String,
    pub tool: String,
    /// An object, or its text; absent: an empty object.
    #[serde(default = "JsonText::empty")]
    pub arguments: JsonText,
}

/// Who speaks in a message of an earlier conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ImportRole {
    User,
    Assistant,
    System,
}

impl ImportMessage {
    /// The size of its texts in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let calls = self.tool_calls.iter().map(|c| c.id.len() + c.tool.len() + c.arguments.as_str().len());
        let result = self.result.as_ref().map_or(0, |result| result.as_str().len());
        self.text.len() + calls.sum::<usize>() + self.call_id.as_ref().map_or(0, String::len) + result
    }
}

impl fmt::Debug for ImportMessage {
    /// Without the texts: this may reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImportMessage({}, {} bytes)", self.role.name(), self.bytes())
    }
}

impl fmt::Debug for ImportCall {
    /// As above.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImportCall({:?})", self.tool)
    }
}

impl ImportRole {
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }
}

/// `comment` and `status` say what happens; give one of them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterveneParams {
    /// The whole id, or a unique part of it.
    pub task_id: String,
    /// `unchanged`: nothing happens. `delete`: the task ends. `modify`: `content` takes the place of its
    /// instructions. Any other text is a comment, which the model reads before its next request.
    #[serde(default)]
    pub comment: String,
    /// With `modify` the new instructions; with `completed` the result, with `error` the reason.
    #[serde(default)]
    pub content: Option<String>,
    /// `running` resumes, `awaiting_user` pauses, `modified` and `deleted` do as the comments, `completed`
    /// and `error` end the task so.
    #[serde(default)]
    pub status: Option<String>,
}

impl fmt::Debug for InterveneParams {
    /// Without the texts: this may reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InterveneParams({}, {:?}, {} bytes)", self.task_id, self.status, self.comment.len())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterveneReply {
    /// Always true: what cannot be done is an error.
    pub success: bool,
    /// The task after it.
    pub task: AgentTask,
}

impl fmt::Debug for StartTaskParams {
    /// Neither the prompt nor the environment's values: this may reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartTaskParams")
            .field("conversation_id", &self.conversation_id)
            .field("message", &format_args!("{} bytes", self.message.len()))
            .field("mode", &self.mode)
            .field("model", &self.model)
            .field("environment", &self.environment.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartTaskReply {
    pub task_id: TaskId,
    pub conversation_id: ConversationId,
    /// The newest root task of another conversation that has not ended and works in the same git work tree:
    /// what one changes, the other finds.
    pub beside: Option<TaskId>,
}

/// Names a task by its id, any unique prefix or suffix of it or of its last eight digits, or its external id.
/// `last` or `@1` is the newest root task of all conversations, `@2` the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams {
    pub task_id: String,
}

impl From<TaskId> for TaskParams {
    fn from(id: TaskId) -> Self {
        Self { task_id: id.to_string() }
    }
}

/// Which changes of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskChangesParams {
    /// As in [`TaskParams`]; a root task.
    pub task_id: String,
    /// Only those of this step and of later ones; absent: all.
    #[serde(default)]
    pub step: Option<u32>,
    /// Those of the task's newest undo, and what came after it; without `step`.
    #[serde(default)]
    pub redo: bool,
    /// An undo restores also files that have changed while a command ran, whoever changed them.
    #[serde(default)]
    pub all: bool,
    /// An undo restores these files only, as [`ChangedFile::path`] names them; empty: all. Ignored when
    /// changes are asked for.
    #[serde(default)]
    pub files: Vec<String>,
    /// An undo takes back only this hunk of the one file that `files` names: its text in the diff of the
    /// changes, from `@@` on. Ignored when changes are asked for.
    #[serde(default)]
    pub hunk: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskChangesReply {
    /// By path.
    pub files: Vec<ChangedFile>,
    /// A unified diff from what the files were to what they are, at most 1 MiB. The files that have changed
    /// while a command ran come last, beneath a line that says so.
    pub diff: String,
    /// The diff is cut.
    pub cut: bool,
    /// The steps of the task that have changed files.
    pub steps: Vec<u32>,
    /// Changes of it were taken back, so that its newest undo can be taken back (`redo`).
    pub can_redo: bool,
    /// What else an undo leaves as it is, in sentences without a full stop: commits that were made since.
    pub notes: Vec<String>,
}

/// An undo is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoTaskReply {
    /// How many files are restored.
    pub restored: u32,
    /// Files of the task that are as they were, and why.
    pub kept: Vec<KeptFile>,
    /// See [`TaskChangesReply::notes`].
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskParams {
    /// As in [`TaskParams`].
    pub task_id: String,
    /// Reply with the task's history too.
    #[serde(default)]
    pub history: bool,
}

impl From<TaskParams> for GetTaskParams {
    /// Without its history.
    fn from(named: TaskParams) -> Self {
        Self { task_id: named.task_id, history: false }
    }
}

/// Which tasks: one with its sub-tasks, those of a conversation, or if neither is named those of all
/// conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentTreeParams {
    /// As in [`TaskParams`].
    pub task_id: Option<String>,
    pub conversation_id: Option<String>,
    /// Ended tasks too. (The named task is always there, and if it has ended all of its sub-tasks.)
    pub all: bool,
}

/// The newest tasks, at most 1,000.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentTreeReply {
    pub agents: BTreeMap<TaskId, Agent>,
}

/// A task of a tree; `task.parentId` says beneath which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// As lists have it.
    pub task: AgentTask,
    /// What it is about: a root's is its conversation's title.
    pub title: String,
    pub depth: u32,
    /// The instructions by which a person replaced the task's own, the newest ones.
    pub user_content: Option<String>,
    /// A person's newest remark.
    pub user_comment: Option<String>,
}

/// The newest last, each file once, at most 200.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListFilesReply {
    pub files: Vec<TaskFile>,
}

/// A file that the user named, or that a tool of the task has written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskFile {
    /// Relative to the workspace.
    pub path: String,
    pub change: FileChange,
    /// The call that has written it last.
    pub call_id: Option<CallId>,
    /// Its size after that, in bytes.
    pub bytes: Option<u64>,
}

impl TaskFile {
    /// A file that the user named.
    #[must_use]
    pub const fn named(path: String) -> Self {
        Self { path, change: FileChange::Named, call_id: None, bytes: None }
    }

    /// The file that a call has written.
    #[must_use]
    pub fn written(edit: &EditHashes, call: CallId) -> Self {
        let change = if edit.before.is_none() { FileChange::Created } else { FileChange::Modified };
        Self { path: edit.path.clone(), change, call_id: Some(call), bytes: Some(edit.bytes) }
    }
}

/// What has happened to a file of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FileChange {
    /// The user named it, and no tool has written it.
    Named,
    Created,
    Modified,
}

impl FileChange {
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReply {
    pub task: AgentTask,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTasksParams {
    pub conversation_id: Option<ConversationId>,
    /// Ended tasks too.
    pub all: bool,
    pub cursor: Option<String>,
    /// At most 1,000; absent: 100.
    pub limit: Option<u32>,
}

/// Newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTasksReply {
    pub tasks: Vec<AgentTask>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskReply {
    pub task: AgentTask,
    pub conversation_title: String,
    pub workspace: String,
    /// Oldest first.
    pub calls: Vec<CallView>,
    /// Only if `history` was asked for.
    pub history: Option<TaskHistory>,
    /// Older calls are left out because there are very many.
    pub calls_cut: bool,
    /// How it was started.
    pub started: Option<Box<StartedEvent>>,
}

/// What happened to a task besides its calls, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskHistory {
    pub messages: Vec<Message>,
    /// Complete, with the traces of model streams.
    pub events: Vec<Event>,
    /// Older messages and events are left out because there are very many.
    pub is_cut: bool,
}
