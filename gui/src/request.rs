//! Requests to the daemon and their replies as data, so that tests can compare what a click sends.

use crate::{
    catalog::Presets,
    daemon::{Daemon, Failure},
};
use abide_client::{
    environment::for_tasks,
    protocol::{
        ApprovalId, ConversationId, ErrorKind, QuestionId, Seq, TaskId,
        checkpoint::UndoFrom,
        inbox::Decision,
        method::{
            AgentTree, ArchiveConversation, CheckModel, CheckProvider, DecideApproval, DeleteConversation,
            Focus, ForgetRule, GetConfig, GetConversation, GetWorkspace, Intervene, ListConversations,
            ListMessages, ListModels, ListPersonas, ListRules, ListTasks, ListTemplates, ListTools, MarkRead,
            PauseTask, ResumeTask, Search, SetKey, StartTask, Status, StopTask, TaskChanges, UndoTask,
            UpdateConfig, UpdateConversation, UpdateDaemon, UserResponse,
            catalog::{ListPersonasParams, ListTemplatesParams, ListToolsParams},
            config::{ConfigReply, GetConfigParams, UpdateConfigParams},
            conversation::{
                ArchiveConversationParams, ConversationParams, FocusParams, ListConversationsParams,
                ListConversationsReply, ListMessagesParams, ListMessagesReply, MarkReadParams,
                UpdateConversationParams,
            },
            daemon::{
                CheckModelParams, CheckModelReply, CheckProviderParams, CheckProviderReply, ListModelsParams,
                ListModelsReply, SandboxStatus, SetKeyParams, StatusParams, UpdateDaemonParams,
            },
            inbox::{DecideApprovalParams, UserResponseParams},
            rule::{ForgetRuleParams, ListRulesParams, ListRulesReply},
            search::{SearchParams, SearchReply},
            task::{
                AgentTreeParams, InterveneParams, ListTasksParams, StartTaskParams, StartTaskReply,
                TaskChangesParams, TaskChangesReply, TaskParams,
            },
            workspace::{GetWorkspaceParams, WorkspaceReply},
        },
        task::AgentTask,
    },
    provider::{Draft, removal},
};
use futures_util::future::BoxFuture;
use std::{fmt, sync::Arc};

/// Messages in a page.
pub const PAGE: u32 = 200;
/// Messages in a page on the way to a message that is searched for.
pub const LONG_PAGE: u32 = 1000;
/// The most messages that a search shows.
const FOUND: u32 = 50;
/// The most messages of one conversation that a search steps through.
const FOUND_HERE: u32 = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    Start(Box<StartTaskParams>),
    Stop(TaskId),
    Pause(TaskId),
    Resume(TaskId),
    Intervene(TaskId, Intervention),
    /// `None` declines.
    Answer(TaskId, QuestionId, Option<String>),
    Decide(ApprovalId, Decision, Option<String>),
    /// A lasting decision that remembers this rule, which matches more than the very call.
    DecideByRule(ApprovalId, Decision, Option<String>, String),
    /// At most so many of the messages before this one.
    Older(Timeline, Seq, u32),
    /// The first of the messages after the one and before the other.
    Between(Timeline, Seq, Seq),
    /// What this root task has changed in files, from there on.
    Changes(TaskId, UndoFrom),
    /// Undoes that, or only this part of it; `true`: also what changed while a command ran.
    Undo(TaskId, UndoFrom, bool, Option<Part>),
    /// All root tasks of a conversation, to show how they ended.
    Tasks(ConversationId),
    /// The tasks of a conversation with all sub-tasks, to show those of earlier root tasks.
    SubTasks(ConversationId),
    /// The conversation with this id, or with a unique part of it.
    Conversation(String),
    Update(UpdateConversationParams),
    /// At most so many archived conversations, from this cursor on; without one from the last changed on.
    Archived {
        cursor: Option<String>,
        limit: u32,
    },
    /// Archives it, or brings it back.
    Archive(ConversationId, bool),
    Delete(ConversationId),
    MarkRead(ConversationId, Seq),
    Focus(FocusParams),
    Models,
    /// Personas, templates and tools.
    Presets,
    /// What tasks can do in this folder.
    Workspace(String),
    Search(String),
    /// Searches one conversation for this text.
    Find(ConversationId, String),
    Config,
    ChangeConfig(UpdateConfigParams),
    /// Lets the installed program take over from the daemon that runs.
    TakeOver,
    /// The sandbox of this machine.
    Sandbox,
    /// The rules older than this one; with `None` the newest.
    Rules(Option<Seq>),
    ForgetRule(String),
    /// Tests whether a provider answers.
    Check(String),
    /// Tests one that is being set up.
    CheckProvider(Box<CheckProviderParams>),
    /// Stores one: its key, then what the configuration has of it.
    SetUp(Box<Draft>),
    /// Removes it from the configuration, then its key.
    RemoveProvider(String),
}

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

/// A part of what a task has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub file: String,
    /// Only this hunk, as the diff has it.
    pub hunk: Option<String>,
}

/// How a person changes the course of a task at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intervention {
    /// A note for the model.
    Comment(String),
    /// New instructions in place of the task's own.
    Modify(String),
    /// The task ends, and its parent learns that it was deleted.
    Delete,
}

impl Intervention {
    fn of(self, task: TaskId) -> InterveneParams {
        // A status, unlike the comment that does the same, is not shown among the person's words.
        let status = |status: &str| Some(status.to_owned());
        let (comment, content, status) = match self {
            Self::Comment(words) => return abide_client::comment(task, words),
            Self::Modify(content) => (String::new(), Some(content), status("modified")),
            Self::Delete => (String::new(), None, status("deleted")),
        };
        InterveneParams { task_id: task.to_string(), comment, content, status }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Done; the fold shows the result.
    Done,
    Started(StartTaskReply),
    /// Another client was first.
    TooLate,
    Page(Timeline, ListMessagesReply),
    Tasks(ConversationId, Vec<AgentTask>),
    Conversation(ConversationId),
    Archived(ListConversationsReply),
    Changes(Box<TaskChangesReply>),
    Models(ListModelsReply),
    Presets(Box<Presets>),
    Workspace(String, WorkspaceReply),
    Found(SearchReply),
    Config(ConfigReply),
    Sandbox(SandboxStatus),
    Rules(ListRulesReply),
    Checked(CheckModelReply),
    ProviderChecked(CheckProviderReply),
}

/// The receiver of requests.
#[derive(Clone)]
pub struct Asker(Arc<dyn Fn(Request) -> BoxFuture<'static, Result<Answer, Failure>> + Send + Sync>);

impl Asker {
    /// Sends requests to this function.
    pub fn new(
        ask: impl Fn(Request) -> BoxFuture<'static, Result<Answer, Failure>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(ask))
    }

    pub(crate) fn ask(&self, request: Request) -> BoxFuture<'static, Result<Answer, Failure>> {
        (self.0)(request)
    }
}

impl From<Daemon> for Asker {
    fn from(daemon: Daemon) -> Self {
        Self::new(move |request| Box::pin(daemon.clone().ask(request)))
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asker")
    }
}

impl Daemon {
    /// Sends the request.
    ///
    /// # Errors
    /// Why it failed, for a person.
    pub async fn ask(self, request: Request) -> Result<Answer, Failure> {
        let task = |id: TaskId| TaskParams { task_id: id.to_string() };
        match request {
            Request::Start(params) => Ok(Answer::Started(self.call::<StartTask>(*params).await?)),
            Request::Stop(id) => self.call::<StopTask>(task(id)).await.map(done),
            Request::Pause(id) => self.call::<PauseTask>(task(id)).await.map(done),
            Request::Resume(id) => self.call::<ResumeTask>(task(id)).await.map(done),
            Request::Intervene(id, intervention) => {
                self.call::<Intervene>(intervention.of(id)).await.map(done)
            }
            Request::Answer(id, question, response) => {
                let question_id = Some(question.to_string());
                let params =
                    UserResponseParams { task_id: id.to_string(), question_id, response: response.clone() };
                let reply = self.call::<UserResponse>(params).await?;
                Ok(in_force(reply.won || reply.response == response))
            }
            Request::Decide(id, decision, note) => self.decide(id, decision, note, None).await,
            Request::DecideByRule(id, decision, note, rule) => {
                self.decide(id, decision, note, Some(rule)).await
            }
            Request::Older(of, before, messages) => self.page(of, None, before, messages).await,
            Request::Between(of, after, before) => self.page(of, Some(after), before, PAGE).await,
            Request::Tasks(id) => self.tasks(id).await,
            Request::SubTasks(id) => self.sub_tasks(id).await,
            Request::Conversation(conversation_id) => {
                let reply = self.call::<GetConversation>(ConversationParams { conversation_id }).await?;
                Ok(Answer::Conversation(reply.conversation.id))
            }
            Request::Changes(id, from) => {
                Ok(Answer::Changes(Box::new(self.call::<TaskChanges>(changes_of(id, from)).await?)))
            }
            Request::Undo(id, from, all, part) => {
                let (files, hunk) = part.map_or((Vec::new(), None), |Part { file, hunk }| (vec![file], hunk));
                let params = TaskChangesParams { all, files, hunk, ..changes_of(id, from) };
                self.call::<UndoTask>(params).await.map(done)
            }
            Request::Update(params) => self.call::<UpdateConversation>(params).await.map(done),
            Request::Archived { cursor, limit } => {
                let params = ListConversationsParams { archived: true, cursor, limit: Some(limit) };
                Ok(Answer::Archived(self.call::<ListConversations>(params).await?))
            }
            Request::Archive(id, archived) => {
                let params = ArchiveConversationParams { conversation_id: id.to_string(), archived };
                self.call::<ArchiveConversation>(params).await.map(done)
            }
            Request::Delete(id) => {
                let params = ConversationParams { conversation_id: id.to_string() };
                self.call::<DeleteConversation>(params).await.map(done)
            }
            Request::MarkRead(id, seq) => {
                let params = MarkReadParams { conversation_id: id.to_string(), seq };
                self.call::<MarkRead>(params).await.map(done)
            }
            Request::Focus(shown) => self.call::<Focus>(shown).await.map(done),
            Request::Search(query) => {
                let params = SearchParams { query, conversation_id: None, before: None, limit: Some(FOUND) };
                Ok(Answer::Found(self.call::<Search>(params).await?))
            }
            Request::Find(id, query) => {
                let conversation_id = Some(id.to_string());
                // The missing closing quote lets the last word be a prefix.
                let query = format!("\"{}", query.replace('"', " "));
                let params = SearchParams { query, conversation_id, before: None, limit: Some(FOUND_HERE) };
                Ok(Answer::Found(self.call::<Search>(params).await?))
            }
            Request::Config => Ok(Answer::Config(self.call::<GetConfig>(GetConfigParams::default()).await?)),
            Request::Sandbox => {
                Ok(Answer::Sandbox(self.call::<Status>(StatusParams::default()).await?.sandbox))
            }
            Request::TakeOver => self.take_over().await,
            Request::ChangeConfig(params) => Ok(Answer::Config(self.call::<UpdateConfig>(params).await?)),
            Request::Rules(before) => {
                let params = ListRulesParams { before, limit: None };
                Ok(Answer::Rules(self.call::<ListRules>(params).await?))
            }
            Request::ForgetRule(rule_id) => {
                self.call::<ForgetRule>(ForgetRuleParams { rule_id }).await.map(done)
            }
            Request::CheckProvider(params) => {
                Ok(Answer::ProviderChecked(self.call::<CheckProvider>(*params).await?))
            }
            Request::SetUp(draft) => self.set_up(*draft).await,
            Request::RemoveProvider(name) => self.remove_provider(name).await,
            Request::Check(model) => {
                Ok(Answer::Checked(self.call::<CheckModel>(CheckModelParams { model }).await?))
            }
            Request::Presets => self.presets().await,
            Request::Workspace(workspace) => {
                let path = for_tasks().variables.get("PATH").cloned();
                let params = GetWorkspaceParams { workspace: workspace.clone(), path };
                Ok(Answer::Workspace(workspace, self.call::<GetWorkspace>(params).await?))
            }
            Request::Models => {
                Ok(Answer::Models(self.call::<ListModels>(ListModelsParams::default()).await?))
            }
        }
    }

    async fn set_up(self, draft: Draft) -> Result<Answer, Failure> {
        let stored = match draft.set_key() {
            Some(key) => Some(self.clone().call::<SetKey>(key).await?),
            None => None,
        };
        let changed = self.clone().call::<UpdateConfig>(draft.change()).await;
        if changed.is_err() && stored.is_some_and(|stored| !stored.had_key) {
            // The error that matters is the first one.
            drop(self.call::<SetKey>(SetKeyParams { provider: draft.entry.name, key: None }).await);
        }
        Ok(Answer::Config(changed?))
    }

    async fn remove_provider(self, name: String) -> Result<Answer, Failure> {
        let config = self.clone().call::<GetConfig>(GetConfigParams::default()).await?;
        let config = match self.clone().call::<UpdateConfig>(removal(&name, &config.model)).await {
            Ok(changed) => changed,
            // One that is built in has no entry, but may have a key.
            Err(failure) if failure.kind == Some(ErrorKind::NotFound) => config,
            Err(failure) => return Err(failure),
        };
        self.call::<SetKey>(SetKeyParams { provider: name, key: None }).await?;
        Ok(Answer::Config(config))
    }

    async fn presets(self) -> Result<Answer, Failure> {
        let personas = self.clone().call::<ListPersonas>(ListPersonasParams::default()).await?.personas;
        let templates = self.clone().call::<ListTemplates>(ListTemplatesParams::default()).await?.templates;
        let tools = self.call::<ListTools>(ListToolsParams::default()).await?.tools;
        Ok(Answer::Presets(Box::new(Presets { personas, templates, tools })))
    }

    async fn take_over(self) -> Result<Answer, Failure> {
        match self.call::<UpdateDaemon>(UpdateDaemonParams::default()).await {
            // Without a kind the connection has ended: the daemon is on its way, and could not say so before.
            Err(failure) if failure.kind.is_some_and(|kind| kind != ErrorKind::ShuttingDown) => Err(failure),
            Ok(_) | Err(_) => Ok(Answer::Done),
        }
    }
}

impl Daemon {
    async fn decide(
        self,
        id: ApprovalId,
        decision: Decision,
        note: Option<String>,
        rule: Option<String>,
    ) -> Result<Answer, Failure> {
        let params = DecideApprovalParams { approval_id: id.to_string(), decision, note, rule };
        let reply = self.call::<DecideApproval>(params).await?;
        Ok(in_force(reply.won || reply.decision == decision))
    }

    async fn tasks(self, id: ConversationId) -> Result<Answer, Failure> {
        let params = ListTasksParams {
            conversation_id: Some(id),
            all: true,
            limit: Some(1000),
            ..ListTasksParams::default()
        };
        Ok(Answer::Tasks(id, self.call::<ListTasks>(params).await?.tasks))
    }

    async fn sub_tasks(self, id: ConversationId) -> Result<Answer, Failure> {
        let params = AgentTreeParams {
            conversation_id: Some(id.to_string()),
            all: true,
            ..AgentTreeParams::default()
        };
        let agents = self.call::<AgentTree>(params).await?.agents;
        Ok(Answer::Tasks(id, agents.into_values().map(|agent| agent.task).collect()))
    }

    async fn page(
        self,
        of: Timeline,
        after: Option<Seq>,
        before: Seq,
        messages: u32,
    ) -> Result<Answer, Failure> {
        let params = ListMessagesParams {
            conversation_id: of.conversation.to_string(),
            task_id: of.sub_task.map(|id| id.to_string()),
            before: Some(before),
            after,
            limit: Some(messages),
        };
        Ok(Answer::Page(of, self.call::<ListMessages>(params).await?))
    }
}

/// What a task has changed, from there on.
fn changes_of(task: TaskId, from: UndoFrom) -> TaskChangesParams {
    let (step, redo) = match from {
        UndoFrom::Start => (None, false),
        UndoFrom::Step(step) => (Some(step), false),
        UndoFrom::LastUndo => (None, true),
    };
    TaskChangesParams { task_id: task.to_string(), step, redo, all: false, files: Vec::new(), hunk: None }
}

fn done<T>(_: T) -> Answer {
    Answer::Done
}

/// `Done` if what was asked for is in force, `TooLate` if another answer is.
const fn in_force(is_so: bool) -> Answer {
    if is_so { Answer::Done } else { Answer::TooLate }
}
