//! The table of methods, and their parameters and replies by resource.

pub mod catalog;
pub mod config;
pub mod conversation;
pub mod daemon;
pub mod http;
pub mod inbox;
pub mod memory;
pub mod rule;
pub mod search;
pub mod subscription;
pub mod task;
pub mod usage;
pub mod workspace;
pub mod worktree;

use crate::codec::{DecodeError, EncodeError, ReplyBody, binary, json};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

/// What a method may change, from least to most. A caller that may use one may use those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing but the caller's own subscriptions and focus.
    Read,
    /// Conversations, tasks, and what waits in the inbox.
    Act,
    /// The daemon: its configuration and keys, and whether it runs.
    Administer,
}

/// How many requests of a caller may be under way before one more is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// [`MAX_REQUESTS`](crate::limits::MAX_REQUESTS)
    Ordinary,
    /// [`MAX_URGENT_REQUESTS`](crate::limits::MAX_URGENT_REQUESTS): for requests that end work or let it go
    /// on, so that slow requests do not block them.
    Urgent,
}

/// A method: its name on the wire, its parameters and its reply.
pub trait Method {
    const NAME: &'static str;
    /// The binary envelope's kind.
    const KIND: u32;
    /// What it may change.
    const ACCESS: Access;
    type Params: Clone + Serialize + DeserializeOwned + Send + 'static;
    type Reply: Serialize + DeserializeOwned + Send + 'static;
    /// Wraps the parameters.
    fn request(params: Self::Params) -> Request;
    /// Decodes the reply. (Each method has a function of its own: a generic one would be compiled again in
    /// every crate that calls it.)
    ///
    /// # Errors
    /// The body is not of that type.
    fn reply(body: &ReplyBody) -> Result<Self::Reply, DecodeError>;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $kind:literal $name:literal $access:ident $priority:ident $variant:ident($params:ty) -> $reply:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub enum $variant {}

            impl Method for $variant {
                const NAME: &'static str = $name;
                const KIND: u32 = $kind;
                const ACCESS: Access = Access::$access;
                type Params = $params;
                type Reply = $reply;
                fn request(params: $params) -> Request {
                    Request::$variant(params)
                }
                fn reply(body: &ReplyBody) -> Result<$reply, DecodeError> {
                    body.decode()
                }
            }
        )*

        /// A request, decoded.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::large_enum_variant, reason = "few live at a time, and starting a task is the longest of them")]
        pub enum Request {
            $($(#[$doc])* $variant($params),)*
        }

        /// A reply, to be encoded.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Reply {
            $($variant($reply),)*
        }

        impl Request {
            /// All methods' names.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            #[must_use]
            pub const fn kind(&self) -> u32 {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            /// What its method may change.
            #[must_use]
            pub const fn access(&self) -> Access {
                match self { $(Self::$variant(_) => Access::$access,)* }
            }

            /// Decodes its reply.
            ///
            /// # Errors
            /// The body is not of that type.
            pub fn reply(&self, body: &ReplyBody) -> Result<Reply, DecodeError> {
                match self { $(Self::$variant(_) => body.decode().map(Reply::$variant),)* }
            }

            #[must_use]
            pub const fn priority(&self) -> Priority {
                match self { $(Self::$variant(_) => Priority::$priority,)* }
            }

            pub(crate) fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
                match self { $(Self::$variant(params) => serde_json::value::to_raw_value(params),)* }
            }

            /// `unknown` gets the names of fields that no parameter has.
            pub(crate) fn from_json(
                name: &str,
                params: &str,
                unknown: &mut Vec<String>,
            ) -> serde_json::Result<Option<Self>> {
                match name {
                    $($name => json::decode_params(params, unknown).map(|p| Some(Self::$variant(p))),)*
                    _ => Ok(None)
                }
            }

            pub(crate) fn to_binary(&self) -> Result<Vec<u8>, EncodeError> {
                match self { $(Self::$variant(params) => binary::encode(params),)* }
            }

            pub(crate) fn from_binary(kind: u32, body: &[u8]) -> Result<Option<Self>, DecodeError> {
                match kind { $($kind => binary::decode(body).map(|p| Some(Self::$variant(p))),)* _ => Ok(None) }
            }
        }

        impl Reply {
            /// The method's name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            #[must_use]
            pub const fn kind(&self) -> u32 {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            pub(crate) fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
                match self { $(Self::$variant(reply) => serde_json::value::to_raw_value(reply),)* }
            }

            pub(crate) fn to_binary(&self) -> Result<Vec<u8>, EncodeError> {
                match self { $(Self::$variant(reply) => binary::encode(reply),)* }
            }
        }
    };
}

methods! {
    /// Starts a task, in a new conversation unless one is named.
    1 "startTask" Act Ordinary StartTask(task::StartTaskParams) -> task::StartTaskReply;
    /// Ends a task at once, its model call and its tools' processes too. It cannot be resumed.
    2 "stopTask" Act Urgent StopTask(task::TaskParams) -> task::TaskReply;
    /// Lets what runs finish and begins nothing new.
    3 "pauseTask" Act Urgent PauseTask(task::TaskParams) -> task::TaskReply;
    /// Lets a paused task go on. If the pause asked a question, this answers it.
    4 "resumeTask" Act Urgent ResumeTask(task::TaskParams) -> task::TaskReply;
    /// A page of tasks.
    5 "listTasks" Read Ordinary ListTasks(task::ListTasksParams) -> task::ListTasksReply;
    /// A task with its prompt, scratchpad and calls. The reply about a root task that has just ended comes
    /// after the last checkpoint of its files: what is changed after the reply does not count as the task's.
    6 "getTask" Read Ordinary GetTask(task::GetTaskParams) -> task::GetTaskReply;
    /// The files that the user named for a task and that its tools have written.
    7 "listFiles" Read Ordinary ListFiles(task::TaskParams) -> task::ListFilesReply;

    /// Comments on a task while it works, replaces its instructions, or ends it.
    8 "intervene" Act Urgent Intervene(task::InterveneParams) -> task::InterveneReply;
    /// Tasks with their sub-tasks, without history.
    9 "agentTree" Read Ordinary AgentTree(task::AgentTreeParams) -> task::AgentTreeReply;

    /// What a task and its sub-tasks have changed in its files, and still is changed.
    10 "taskChanges" Read Ordinary TaskChanges(task::TaskChangesParams) -> task::TaskChangesReply;
    /// Takes that back, once the task has ended or is paused. What somebody else has changed since is kept.
    11 "undoTask" Act Ordinary UndoTask(task::TaskChangesParams) -> task::UndoTaskReply;

    /// The git worktrees of conversations and sub-tasks.
    12 "listWorktrees" Read Ordinary ListWorktrees(worktree::ListWorktreesParams) -> worktree::ListWorktreesReply;
    /// Removes a git worktree in which nothing works and nothing would be lost: no changed or new file, and
    /// no commit that only its branch has. The conversation goes on in the work tree of which it was made.
    13 "removeWorktree" Act Ordinary RemoveWorktree(worktree::WorktreeParams) -> worktree::RemoveWorktreeReply;
    /// What tasks can do in a folder, and what of it asks.
    14 "getWorkspace" Read Ordinary GetWorkspace(workspace::GetWorkspaceParams) -> workspace::WorkspaceReply;

    /// Answers a question, or declines to.
    20 "userResponse" Act Urgent UserResponse(inbox::UserResponseParams) -> inbox::UserResponseReply;
    /// Decides an approval. Losing a race is not an error.
    21 "decideApproval" Act Urgent DecideApproval(inbox::DecideApprovalParams) -> inbox::DecideApprovalReply;
    /// All that waits for a person.
    22 "inbox" Read Ordinary Inbox(inbox::InboxParams) -> inbox::InboxReply;
    /// A page of the decisions that are remembered ("always").
    23 "listRules" Read Ordinary ListRules(rule::ListRulesParams) -> rule::ListRulesReply;
    /// Forgets a remembered decision: the same call asks again.
    24 "forgetRule" Act Ordinary ForgetRule(rule::ForgetRuleParams) -> rule::ForgetRuleReply;
    /// Remembers a rule for a workspace.
    25 "addRule" Administer Ordinary AddRule(rule::AddRuleParams) -> rule::AddRuleReply;
    /// The verdict of the rules on a command line, and why. Nothing runs.
    26 "testRule" Read Ordinary TestRule(rule::TestRuleParams) -> rule::TestRuleReply;

    /// Makes a conversation without a task.
    40 "createConversation" Act Ordinary CreateConversation(conversation::CreateConversationParams) -> conversation::ConversationReply;
    /// A page of conversations.
    41 "listConversations" Read Ordinary ListConversations(conversation::ListConversationsParams) -> conversation::ListConversationsReply;
    /// A conversation's own facts.
    42 "getConversation" Read Ordinary GetConversation(conversation::ConversationParams) -> conversation::ConversationReply;
    /// A page of messages, with the calls and events among them.
    43 "listMessages" Read Ordinary ListMessages(conversation::ListMessagesParams) -> conversation::ListMessagesReply;
    /// Changes title, workspace or defaults; what is absent stays as it is.
    44 "updateConversation" Act Ordinary UpdateConversation(conversation::UpdateConversationParams) -> conversation::ConversationReply;
    /// Archives a conversation, or brings it back.
    45 "archiveConversation" Act Ordinary ArchiveConversation(conversation::ArchiveConversationParams) -> conversation::ConversationReply;
    /// Deletes a conversation's records for good; a running task is stopped first.
    46 "deleteConversation" Act Urgent DeleteConversation(conversation::ConversationParams) -> conversation::DeleteConversationReply;
    /// Marks everything up to a seq as read.
    47 "markRead" Act Ordinary MarkRead(conversation::MarkReadParams) -> conversation::ConversationReply;
    /// Tells what this client shows: a conversation, the inbox, or neither. A conversation that is shown gets
    /// no desktop notification meanwhile; while the inbox is shown, no question and no approval does. When
    /// all clients that showed a question or an approval have disconnected, it is notified.
    48 "focus" Read Ordinary Focus(conversation::FocusParams) -> conversation::FocusReply;
    /// Finds words in messages and titles.
    49 "search" Read Ordinary Search(search::SearchParams) -> search::SearchReply;

    /// The memory's state.
    51 "memory" Read Ordinary GetMemory(memory::GetMemoryParams) -> memory::MemoryReply;
    /// Finds what a task with these words would be given of earlier conversations.
    52 "searchMemory" Read Ordinary SearchMemory(memory::SearchMemoryParams) -> memory::SearchMemoryReply;
    /// Forgets what a record says: it is recalled no more, and what tasks were given of it is taken out of
    /// their records. The record itself stays.
    53 "forgetMemory" Act Ordinary ForgetMemory(memory::ForgetMemoryParams) -> memory::ForgetMemoryReply;
    /// Makes a note that each later task of a workspace, or of all, is given. `forgetMemory` erases it.
    54 "addNote" Act Ordinary AddNote(memory::AddNoteParams) -> memory::AddNoteReply;
    /// The notes of a workspace and those for all, the newest first.
    55 "listNotes" Read Ordinary ListNotes(memory::ListNotesParams) -> memory::ListNotesReply;
    /// Takes what old passages mean, or the passages, out of the memory for good. Records, and notes, stay.
    56 "pruneMemory" Act Ordinary PruneMemory(memory::PruneMemoryParams) -> memory::PruneMemoryReply;

    /// What model calls have used, by day, model and conversation.
    50 "usage" Read Ordinary GetUsage(usage::UsageParams) -> usage::UsageReply;

    /// Replies with a snapshot; what happens after it follows as notifications.
    60 "subscribe" Read Ordinary Subscribe(subscription::SubscribeParams) -> subscription::SubscribeReply;
    /// Ends a subscription.
    61 "unsubscribe" Read Ordinary Unsubscribe(subscription::UnsubscribeParams) -> subscription::UnsubscribeReply;

    /// Providers with their models, and which model is the default and why.
    80 "listModels" Read Ordinary ListModels(daemon::ListModelsParams) -> daemon::ListModelsReply;
    /// The daemon's state, and how many tasks run.
    81 "status" Read Ordinary Status(daemon::StatusParams) -> daemon::StatusReply;
    /// Ends the daemon. What runs may finish until the deadline and is then cut off; the reply comes just
    /// before the end.
    82 "shutdown" Administer Urgent Shutdown(daemon::ShutdownParams) -> daemon::ShutdownReply;
    /// Stores or removes a provider's key.
    83 "setKey" Administer Ordinary SetKey(daemon::SetKeyParams) -> daemon::SetKeyReply;
    /// Sends a model a short prompt, to test address, key and model name. It may cost a fraction of a cent.
    84 "checkModel" Administer Ordinary CheckModel(daemon::CheckModelParams) -> daemon::CheckModelReply;
    /// Asks a provider that need not be configured for its models, or one of them for a few words, to test
    /// address, key and model name. Nothing is stored.
    91 "checkProvider" Administer Ordinary CheckProvider(daemon::CheckProviderParams) -> daemon::CheckProviderReply;
    /// Goes over to the program that has replaced the daemon's own on disk, if that cuts nothing off. The
    /// reply says how far it is.
    90 "updateDaemon" Administer Ordinary UpdateDaemon(daemon::UpdateDaemonParams) -> daemon::UpdateDaemonReply;
    /// The settings that clients can change.
    85 "getConfig" Read Ordinary GetConfig(config::GetConfigParams) -> config::ConfigReply;
    /// The personas that a task can have.
    87 "listPersonas" Read Ordinary ListPersonas(catalog::ListPersonasParams) -> catalog::ListPersonasReply;
    /// The tools that a task can have.
    88 "listTools" Read Ordinary ListTools(catalog::ListToolsParams) -> catalog::ListToolsReply;
    /// The templates that a task can be started with.
    89 "listTemplates" Read Ordinary ListTemplates(catalog::ListTemplatesParams) -> catalog::ListTemplatesReply;
    /// Changes the configuration's file, unless its text is refused as invalid.
    86 "updateConfig" Administer Ordinary UpdateConfig(config::UpdateConfigParams) -> config::ConfigReply;

    /// Opens the HTTP interface at these addresses.
    92 "serveHttp" Administer Ordinary ServeHttp(http::ServeHttpParams) -> http::ServeHttpReply;
    /// Closes the HTTP interface at all addresses, and cuts its connections.
    93 "stopHttp" Administer Ordinary StopHttp(http::StopHttpParams) -> http::StopHttpReply;
    /// Makes a token, with which a device may use the HTTP interface.
    94 "addToken" Administer Ordinary AddToken(http::AddTokenParams) -> http::AddTokenReply;
    /// The tokens, without their texts.
    95 "listTokens" Administer Ordinary ListTokens(http::ListTokensParams) -> http::ListTokensReply;
    /// Makes a token void, and cuts what its bearer has open.
    96 "revokeToken" Administer Ordinary RevokeToken(http::RevokeTokenParams) -> http::RevokeTokenReply;
}
