//! One function for each method; this file dispatches.

mod candidate;
mod catalog;
mod config;
mod conversation;
pub(super) mod daemon;
mod http;
mod inbox;
mod key;
mod memory;
mod model;
mod rule;
mod search;
mod task;
mod usage;
mod workspace;
mod worktree;

use super::{Caller, Service, request_error::RequestError};
use abide_protocol::{
    Candidate, ConversationId, Error, ErrorKind, TaskId,
    conversation::Conversation,
    method::{Reply, Request},
};
use abide_store::{Lookup, ReadError, Store};
use tokio_util::sync::CancellationToken;

/// Carries out a request. `gone` is cancelled when its caller has gone without waiting for the reply.
pub(super) async fn handle(
    service: &Service,
    caller: &Caller,
    request: Request,
    gone: &CancellationToken,
) -> Result<Reply, RequestError> {
    Ok(match request {
        Request::StartTask(params) => Reply::StartTask(task::start(service, caller, params, gone).await?),
        Request::StopTask(params) => Reply::StopTask(task::stop(service, &params).await?),
        Request::PauseTask(params) => Reply::PauseTask(task::pause(service, &params).await?),
        Request::ResumeTask(params) => Reply::ResumeTask(task::resume(service, caller, &params).await?),
        Request::Intervene(params) => Reply::Intervene(task::intervene(service, caller, &params).await?),
        Request::ListTasks(params) => Reply::ListTasks(task::list(service, params).await?),
        Request::ListFiles(params) => Reply::ListFiles(task::files(service, &params).await?),
        Request::AgentTree(params) => Reply::AgentTree(task::tree(service, &params).await?),
        Request::TaskChanges(params) => Reply::TaskChanges(task::changes(service, &params).await?),
        Request::UndoTask(params) => Reply::UndoTask(task::undo(service, caller, &params).await?),
        Request::ListWorktrees(params) => Reply::ListWorktrees(worktree::list(service, params).await?),
        Request::RemoveWorktree(params) => Reply::RemoveWorktree(worktree::remove(service, &params).await?),
        Request::GetWorkspace(params) => Reply::GetWorkspace(workspace::get(service, params).await?),
        Request::GetTask(params) => Reply::GetTask(task::get(service, &params).await?),
        Request::UserResponse(params) => Reply::UserResponse(inbox::respond(service, caller, params).await?),
        Request::DecideApproval(params) => {
            Reply::DecideApproval(inbox::decide(service, caller, params).await?)
        }
        Request::Inbox(params) => Reply::Inbox(inbox::list(service, params).await?),
        Request::ListRules(params) => Reply::ListRules(rule::list(service, params).await?),
        Request::ForgetRule(params) => Reply::ForgetRule(rule::forget(service, caller, &params).await?),
        Request::AddRule(params) => Reply::AddRule(rule::add(service, caller, params).await?),
        Request::TestRule(params) => Reply::TestRule(rule::test(service, params).await?),
        Request::CreateConversation(params) => {
            Reply::CreateConversation(conversation::create(service, params).await?)
        }
        Request::ListConversations(params) => {
            Reply::ListConversations(conversation::list(service, params).await?)
        }
        Request::GetConversation(params) => {
            Reply::GetConversation(conversation::get(service, &params).await?)
        }
        Request::ListMessages(params) => Reply::ListMessages(conversation::messages(service, &params).await?),
        Request::UpdateConversation(params) => {
            Reply::UpdateConversation(conversation::update(service, params).await?)
        }
        Request::ArchiveConversation(params) => {
            Reply::ArchiveConversation(conversation::archive(service, &params).await?)
        }
        Request::DeleteConversation(params) => {
            Reply::DeleteConversation(conversation::delete(service, &params).await?)
        }
        Request::MarkRead(params) => Reply::MarkRead(conversation::mark_read(service, &params).await?),
        Request::GetUsage(params) => Reply::GetUsage(usage::usage(service, params).await?),
        Request::Search(params) => Reply::Search(search::search(service, params).await?),
        Request::GetMemory(_) => Reply::GetMemory(memory::get(service).await?),
        Request::SearchMemory(params) => Reply::SearchMemory(memory::search(service, &params).await?),
        Request::ForgetMemory(params) => Reply::ForgetMemory(memory::forget(service, caller, params).await?),
        Request::AddNote(params) => Reply::AddNote(memory::add_note(service, caller, params).await?),
        Request::PruneMemory(params) => Reply::PruneMemory(memory::prune(service, caller, params).await?),
        Request::ListNotes(params) => Reply::ListNotes(memory::notes(service, params).await?),
        // These concern the line itself and are carried out there.
        Request::Subscribe(_)
        | Request::Unsubscribe(_)
        | Request::Focus(_)
        | Request::Shutdown(_)
        | Request::ServeHttp(_) => {
            let words = format!("{} was not dispatched", request.name());
            return Err(Error::new(ErrorKind::Internal, words).into());
        }
        Request::ListModels(params) => Reply::ListModels(model::list(service, &params).await),
        Request::Status(_) => Reply::Status(daemon::status(service).await?),
        Request::UpdateDaemon(params) => Reply::UpdateDaemon(daemon::update(service, params).await?),
        Request::SetKey(params) => Reply::SetKey(key::set(service, params).await?),
        Request::CheckModel(params) => Reply::CheckModel(model::check(service, params).await),
        Request::CheckProvider(params) => Reply::CheckProvider(model::check_provider(service, params).await),
        Request::StopHttp(_) => Reply::StopHttp(http::stop(service)),
        Request::AddToken(params) => Reply::AddToken(http::add_token(service, params)?),
        Request::ListTokens(_) => Reply::ListTokens(http::list_tokens(service)?),
        Request::RevokeToken(params) => Reply::RevokeToken(http::revoke_token(service, &params)?),
        Request::ListPersonas(params) => Reply::ListPersonas(catalog::personas(service, params).await?),
        Request::ListTemplates(params) => Reply::ListTemplates(catalog::templates(service, params).await),
        Request::ListTools(params) => Reply::ListTools(catalog::tools(service, params).await?),
        Request::GetConfig(_) => Reply::GetConfig(config::get(service).await),
        Request::UpdateConfig(params) => Reply::UpdateConfig(config::update(service, params).await?),
    })
}

/// The only match of an id. If several match, the error lists them as candidates.
async fn unique<T>(
    lookup: Lookup<T>,
    what: &str,
    typed: &str,
    candidates: impl AsyncFnOnce(Vec<T>) -> Result<Vec<Candidate>, ReadError>,
) -> Result<T, RequestError> {
    match lookup {
        Lookup::One(id) => Ok(id),
        Lookup::None => Err(not_found(what, typed).into()),
        Lookup::Many(fitting) => {
            let words = format!("{typed:?} fits more than one {what}; give more of its id");
            let candidates = candidates(fitting).await?;
            Err(Error::new(ErrorKind::Ambiguous, words).about(typed).among(candidates).into())
        }
    }
}

fn not_found(what: &str, typed: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no {what} {typed:?}")).about(typed)
}

async fn find_task(store: &Store, typed: &str) -> Result<TaskId, RequestError> {
    let lookup = store.find_task(typed).await?;
    unique(lookup, "task", typed, async |ids| candidate::tasks(store, &ids).await).await
}

async fn find_conversation(store: &Store, typed: &str) -> Result<ConversationId, RequestError> {
    let lookup = store.find_conversation(typed).await?;
    unique(lookup, "conversation", typed, async |ids| candidate::conversations(store, &ids).await).await
}

/// The conversation with this id.
pub(super) async fn existing(store: &Store, id: ConversationId) -> Result<Conversation, RequestError> {
    let conversation = store.conversation(id).await?;
    let gone = || Error::new(ErrorKind::NotFound, format!("there is no conversation {id}")).about(id);
    Ok(conversation.ok_or_else(gone)?)
}
