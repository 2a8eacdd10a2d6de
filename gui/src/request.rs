//! What the window asks of the daemon: requests of the protocol as data, so that tests can compare what a
//! click sends. Those that are made in several places, or that few words say, are made here.

mod asker;

pub use abide_client::protocol::method::{Reply, Request};
use abide_client::{
    as_comment, comment,
    protocol::{
        ApprovalId, ConversationId, QuestionId, Seq, TaskId,
        checkpoint::UndoFrom,
        inbox::Decision,
        method::{
            catalog::{ListPersonasParams, ListTemplatesParams, ListToolsParams},
            config::{ConfigReply, GetConfigParams},
            conversation::{ArchiveConversationParams, ListMessagesParams, MarkReadParams},
            daemon::ListModelsParams,
            inbox::{DecideApprovalParams, UserResponseParams},
            rule::ListRulesParams,
            search::SearchParams,
            task::{AgentTreeParams, InterveneParams, ListTasksParams, TaskChangesParams},
            workspace::GetWorkspaceParams,
        },
    },
};
use abide_host::environment::for_tasks;
pub use asker::Asker;

/// Messages in a page.
pub const PAGE: u32 = 200;
/// Messages in a page on the way to a message that is searched for.
pub const LONG_PAGE: u32 = 1000;
/// The most messages that a search shows.
const FOUND: u32 = 50;
/// The most messages of one conversation that a search steps through.
const FOUND_HERE: u32 = 1000;

/// Whose messages are wanted: those of a conversation's root tasks, or those of one of its sub-tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeline {
    pub conversation: ConversationId,
    pub sub_task: Option<TaskId>,
}

impl From<ConversationId> for Timeline {
    fn from(conversation: ConversationId) -> Self {
        Self { conversation, sub_task: None }
    }
}

impl Timeline {
    /// Whether these messages are its own.
    #[must_use]
    pub fn is_of(self, asked: &ListMessagesParams) -> bool {
        let sub_task = self.sub_task.map(|id| id.to_string());
        asked.conversation_id == self.conversation.to_string() && asked.task_id == sub_task
    }

    /// At most so many of the messages before this one.
    #[must_use]
    pub fn older(self, before: Seq, limit: u32) -> Request {
        self.page(None, before, limit)
    }

    /// The first of the messages after the one and before the other.
    #[must_use]
    pub fn between(self, after: Seq, before: Seq) -> Request {
        self.page(Some(after), before, PAGE)
    }

    fn page(self, after: Option<Seq>, before: Seq, limit: u32) -> Request {
        Request::ListMessages(ListMessagesParams {
            conversation_id: self.conversation.to_string(),
            task_id: self.sub_task.map(|id| id.to_string()),
            before: Some(before),
            after,
            limit: Some(limit),
        })
    }
}

/// A part of what a task has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub file: String,
    /// Only this hunk, as the diff has it.
    pub hunk: Option<String>,
}

/// What a root task has changed in files, from there on.
#[must_use]
pub fn changes(task: TaskId, from: UndoFrom) -> Request {
    Request::TaskChanges(changes_from(task, from))
}

/// Undoes that, or only this part of it; `all`: also what changed while a command ran.
#[must_use]
pub fn undo(task: TaskId, from: UndoFrom, all: bool, part: Option<Part>) -> Request {
    let (files, hunk) = part.map_or((Vec::new(), None), |Part { file, hunk }| (vec![file], hunk));
    Request::UndoTask(TaskChangesParams { all, files, hunk, ..changes_from(task, from) })
}

fn changes_from(task: TaskId, from: UndoFrom) -> TaskChangesParams {
    let (step, redo) = match from {
        UndoFrom::Start => (None, false),
        UndoFrom::Step(step) => (Some(step), false),
        UndoFrom::LastUndo => (None, true),
    };
    TaskChangesParams { task_id: task.to_string(), step, redo, all: false, files: Vec::new(), hunk: None }
}

/// Where the changes begin that were asked for.
#[must_use]
pub const fn beginning(asked: &TaskChangesParams) -> UndoFrom {
    match asked.step {
        _ if asked.redo => UndoFrom::LastUndo,
        Some(step) => UndoFrom::Step(step),
        None => UndoFrom::Start,
    }
}

/// A note for a task's model.
#[must_use]
pub fn note(task: TaskId, words: String) -> Request {
    Request::Intervene(comment(task, words))
}

/// New instructions in place of the task's own.
#[must_use]
pub fn modify(task: TaskId, content: String) -> Request {
    // The status, unlike the comment that does the same, is not shown among the person's words.
    intervene(task, Some(content), "modified")
}

/// The task ends, and its parent learns that it was deleted.
#[must_use]
pub fn delete_task(task: TaskId) -> Request {
    intervene(task, None, "deleted")
}

fn intervene(task: TaskId, content: Option<String>, status: &str) -> Request {
    let (task_id, status) = (task.to_string(), Some(status.to_owned()));
    Request::Intervene(InterveneParams { task_id, comment: String::new(), content, status })
}

/// Whether the intervention has these words for the model, as a note or as new instructions.
#[must_use]
pub fn says(intervention: &InterveneParams, words: &str) -> bool {
    intervention.content.as_deref() == Some(words) || intervention.comment == as_comment(words.to_owned())
}

/// Answers a question; `None` declines.
#[must_use]
pub fn answer(task: TaskId, question: QuestionId, response: Option<String>) -> Request {
    let question_id = Some(question.to_string());
    Request::UserResponse(UserResponseParams { task_id: task.to_string(), question_id, response })
}

/// Decides an approval. A lasting decision may remember a rule that matches more than the very call.
#[must_use]
pub fn decide(
    approval: ApprovalId,
    decision: Decision,
    note: Option<String>,
    rule: Option<String>,
) -> Request {
    Request::DecideApproval(DecideApprovalParams { approval_id: approval.to_string(), decision, note, rule })
}

/// Whether somebody else was first, and answered or decided otherwise.
#[must_use]
pub fn came_too_late(request: &Request, reply: &Reply) -> bool {
    match (request, reply) {
        (Request::UserResponse(mine), Reply::UserResponse(first)) => {
            !first.won && first.response != mine.response
        }
        (Request::DecideApproval(mine), Reply::DecideApproval(first)) => {
            !first.won && first.decision != mine.decision
        }
        _ => false,
    }
}

/// All root tasks of a conversation, to show how they ended.
#[must_use]
pub fn tasks(of: ConversationId) -> Request {
    let limit = Some(1000);
    Request::ListTasks(ListTasksParams { conversation_id: Some(of), all: true, limit, cursor: None })
}

/// The tasks of a conversation with all sub-tasks, to show those of earlier root tasks.
#[must_use]
pub fn sub_tasks(of: ConversationId) -> Request {
    let conversation_id = Some(of.to_string());
    Request::AgentTree(AgentTreeParams { conversation_id, all: true, task_id: None })
}

/// Archives a conversation, or brings it back.
#[must_use]
pub fn archive(id: ConversationId, archived: bool) -> Request {
    Request::ArchiveConversation(ArchiveConversationParams { conversation_id: id.to_string(), archived })
}

#[must_use]
pub fn mark_read(id: ConversationId, seq: Seq) -> Request {
    Request::MarkRead(MarkReadParams { conversation_id: id.to_string(), seq })
}

/// Searches all conversations.
#[must_use]
pub fn search(query: String) -> Request {
    let limit = Some(FOUND);
    Request::Search(SearchParams { query, conversation_id: None, before: None, limit })
}

/// Searches one conversation for this text.
#[must_use]
pub fn find(id: ConversationId, text: &str) -> Request {
    // The missing closing quote lets the last word be a prefix.
    let query = format!("\"{}", text.replace('"', " "));
    let (conversation_id, limit) = (Some(id.to_string()), Some(FOUND_HERE));
    Request::Search(SearchParams { query, conversation_id, before: None, limit })
}

#[must_use]
pub fn models() -> Request {
    Request::ListModels(ListModelsParams::default())
}

/// Personas, templates and tools.
#[must_use]
pub fn presets() -> [Request; 3] {
    [
        Request::ListPersonas(ListPersonasParams::default()),
        Request::ListTemplates(ListTemplatesParams::default()),
        Request::ListTools(ListToolsParams::default()),
    ]
}

/// What tasks can do in this folder.
#[must_use]
pub fn workspace(folder: String) -> Request {
    let path = for_tasks().variables.get("PATH").cloned();
    Request::GetWorkspace(GetWorkspaceParams { workspace: folder, path })
}

/// The remembered rules older than this one; with `None` the newest.
#[must_use]
pub fn rules(before: Option<Seq>) -> Request {
    Request::ListRules(ListRulesParams { before, limit: None })
}

#[must_use]
pub fn config() -> Request {
    Request::GetConfig(GetConfigParams::default())
}

/// The configuration, if the reply is it.
#[must_use]
pub const fn config_of(reply: &Reply) -> Option<&ConfigReply> {
    match reply {
        Reply::GetConfig(config) | Reply::UpdateConfig(config) => Some(config),
        _ => None,
    }
}
