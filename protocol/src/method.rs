//! The table of methods, and their parameters and replies by resource.

pub mod config;
pub mod conversation;
pub mod daemon;
pub mod inbox;
pub mod rule;
pub mod search;
pub mod subscription;
pub mod task;

use crate::codec::{DecodeError, EncodeError, binary};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

/// A method: its name on the wire, and what goes in and comes out.
pub trait Method {
    const NAME: &'static str;
    /// The binary envelope's kind.
    const KIND: u32;
    type Params: Serialize + DeserializeOwned + Send + 'static;
    type Reply: Serialize + DeserializeOwned + Send + 'static;
    /// Wraps the parameters.
    fn request(params: Self::Params) -> Request;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $kind:literal $name:literal $variant:ident($params:ty) -> $reply:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub enum $variant {}

            impl Method for $variant {
                const NAME: &'static str = $name;
                const KIND: u32 = $kind;
                type Params = $params;
                type Reply = $reply;
                fn request(params: $params) -> Request {
                    Request::$variant(params)
                }
            }
        )*

        /// A request, decoded.
        #[derive(Debug, Clone, PartialEq, Eq)]
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

            pub(crate) fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
                match self { $(Self::$variant(params) => serde_json::value::to_raw_value(params),)* }
            }

            pub(crate) fn from_json(name: &str, params: &str) -> serde_json::Result<Option<Self>> {
                match name { $($name => serde_json::from_str(params).map(|p| Some(Self::$variant(p))),)* _ => Ok(None) }
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
    1 "startTask" StartTask(task::StartTaskParams) -> task::StartTaskReply;
    /// Ends a task at once: the model call and the tools' processes too. For good.
    2 "stopTask" StopTask(task::TaskParams) -> task::TaskReply;
    /// Lets what runs finish and begins nothing new.
    3 "pauseTask" PauseTask(task::TaskParams) -> task::TaskReply;
    /// Lets a paused task go on; the answer to what the pause has asked, too.
    4 "resumeTask" ResumeTask(task::TaskParams) -> task::TaskReply;
    /// A page of tasks.
    5 "listTasks" ListTasks(task::ListTasksParams) -> task::ListTasksReply;
    /// A task whole, with its prompt, scratchpad and calls.
    6 "getTask" GetTask(task::GetTaskParams) -> task::GetTaskReply;

    /// Answers a question, or declines to.
    20 "userResponse" UserResponse(inbox::UserResponseParams) -> inbox::UserResponseReply;
    /// Decides an approval. Losing a race is not an error.
    21 "decideApproval" DecideApproval(inbox::DecideApprovalParams) -> inbox::DecideApprovalReply;
    /// All that waits for a person.
    22 "inbox" Inbox(inbox::InboxParams) -> inbox::InboxReply;
    /// A page of the decisions that are remembered ("always").
    23 "listRules" ListRules(rule::ListRulesParams) -> rule::ListRulesReply;
    /// Forgets a remembered decision: the same call asks again.
    24 "forgetRule" ForgetRule(rule::ForgetRuleParams) -> rule::ForgetRuleReply;

    /// Makes a conversation without a task.
    40 "createConversation" CreateConversation(conversation::CreateConversationParams) -> conversation::ConversationReply;
    /// A page of conversations.
    41 "listConversations" ListConversations(conversation::ListConversationsParams) -> conversation::ListConversationsReply;
    /// A conversation's own facts.
    42 "getConversation" GetConversation(conversation::ConversationParams) -> conversation::ConversationReply;
    /// A page of what was said, with the calls and events among it.
    43 "listMessages" ListMessages(conversation::ListMessagesParams) -> conversation::ListMessagesReply;
    /// Changes title, workspace or defaults; what is absent stays as it is.
    44 "updateConversation" UpdateConversation(conversation::UpdateConversationParams) -> conversation::ConversationReply;
    /// Puts it away, or takes it out again.
    45 "archiveConversation" ArchiveConversation(conversation::ArchiveConversationParams) -> conversation::ConversationReply;
    /// Deletes its records for good; a running task is stopped first.
    46 "deleteConversation" DeleteConversation(conversation::ConversationParams) -> conversation::DeleteConversationReply;
    /// Everything up to a seq has been read.
    47 "markRead" MarkRead(conversation::MarkReadParams) -> conversation::ConversationReply;
    /// What this client's person is looking at: no notification for that.
    48 "focus" Focus(conversation::FocusParams) -> conversation::FocusReply;
    /// Finds words in messages and titles.
    49 "search" Search(search::SearchParams) -> search::SearchReply;

    /// Answers with how things stand; what happens from then on follows as notifications.
    60 "subscribe" Subscribe(subscription::SubscribeParams) -> subscription::SubscribeReply;
    /// Ends a subscription.
    61 "unsubscribe" Unsubscribe(subscription::UnsubscribeParams) -> subscription::UnsubscribeReply;

    /// Providers with their models, and which model is the default and why.
    80 "listModels" ListModels(daemon::ListModelsParams) -> daemon::ListModelsReply;
    /// What runs, and how the daemon is.
    81 "status" Status(daemon::StatusParams) -> daemon::StatusReply;
    /// Lets what runs come to a boundary, cuts off what does not in time, then answers; then the daemon ends.
    82 "shutdown" Shutdown(daemon::ShutdownParams) -> daemon::ShutdownReply;
    /// Stores or removes a provider's key.
    83 "setKey" SetKey(daemon::SetKeyParams) -> daemon::SetKeyReply;
    /// Asks a model for a few words, to see whether address, key and model work. It may cost a fraction of a cent.
    84 "checkModel" CheckModel(daemon::CheckModelParams) -> daemon::CheckModelReply;
    /// What clients can change of the configuration.
    85 "getConfig" GetConfig(config::GetConfigParams) -> config::ConfigReply;
    /// Changes the configuration's file, unless it is one that is refused.
    86 "updateConfig" UpdateConfig(config::UpdateConfigParams) -> config::ConfigReply;
}
