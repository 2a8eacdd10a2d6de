//! Git worktrees of conversations and sub-tasks.

use super::{RequestError, existing, find_conversation, not_found, task};
use crate::service::Service;
use abide_engine::Command;
use abide_protocol::{
    ConversationId, Error, ErrorKind, TaskId,
    method::worktree::{
        ListWorktreesParams, ListWorktreesReply, RemoveWorktreeReply, Worktree as Shown, WorktreeParams,
    },
    record::ConversationUpdated,
};
use abide_store::TaskQuery;
use abide_tools::{NoWorktree, Unmerged, Worktree, Worktrees};
use std::path::Path;

pub(super) async fn list(
    service: &Service,
    params: ListWorktreesParams,
) -> Result<ListWorktreesReply, RequestError> {
    let named = match params.worktree {
        Some(named) => vec![find(service, &named).await?],
        None => blocking(service, Worktrees::list).await?,
    };
    let worktrees = blocking(service, move |worktrees| {
        named.into_iter().map(|worktree| shown(&worktree, worktrees.unmerged(&worktree))).collect()
    });
    Ok(ListWorktreesReply { worktrees: worktrees.await? })
}

pub(super) async fn remove(
    service: &Service,
    params: &WorktreeParams,
) -> Result<RemoveWorktreeReply, RequestError> {
    let worktree = find(service, &params.worktree).await?;
    refuse_at_work(service, &worktree).await?;
    let (removed, conversation) = (worktree.clone(), worktree.conversation);
    blocking(service, move |worktrees| worktrees.remove(&removed)).await?.map_err(|e| refused(&e))?;
    // The conversation goes on where its worktree came from.
    if worktree.task.is_none()
        && let Some(known) = service.store.conversation(conversation).await?
        && let Some(workspace) = worktree.origin(&known.workspace)
        && let Ok(workspace) = service.launcher.workspace(conversation, Some(&workspace)).await
    {
        let update = ConversationUpdated { workspace: Some(workspace), ..ConversationUpdated::default() };
        service.sessions.command(conversation, Command::Update(update)).await?;
    }
    Ok(RemoveWorktreeReply { worktree: shown(&worktree, Ok(Unmerged::default())) })
}

/// Refuses to delete a conversation in whose worktrees something would be lost.
pub(super) async fn refuse_unmerged(service: &Service, id: ConversationId) -> Result<(), RequestError> {
    let unmerged = blocking(service, move |worktrees| {
        worktrees.of(id).into_iter().try_for_each(|worktree| {
            let what = worktrees.unmerged(&worktree)?;
            if what == Unmerged::default() {
                Ok(())
            } else {
                Err(NoWorktree::Unmerged { path: worktree.path, what })
            }
        })
    });
    Ok(unmerged.await?.map_err(|error| refused(&error))?)
}

/// The newest root task of another conversation that has not ended and works in the same git work tree.
pub(super) async fn beside(
    service: &Service,
    id: ConversationId,
    workspace: &str,
) -> Result<Option<TaskId>, RequestError> {
    let given = workspace.to_owned();
    let Some(top) = blocking(service, move |_| Worktrees::work_tree(&given)).await? else { return Ok(None) };
    let query = TaskQuery { conversation: None, with_ended: false, cursor: None, limit: task::PAGE };
    let (tasks, _) = service.store.tasks(query).await?;
    let mut others = Vec::new();
    for other in tasks.into_iter().filter(|other| other.conversation_id != id) {
        if let Some(conversation) = service.store.conversation(other.conversation_id).await? {
            others.push((other.id, conversation.workspace));
        }
    }
    if others.is_empty() {
        return Ok(None);
    }
    blocking(service, move |_| {
        others
            .into_iter()
            .find(|(_, other)| Worktrees::work_tree(other).as_ref() == Some(&top))
            .map(|(id, _)| id)
    })
    .await
}

/// Refuses a worktree in which a task works.
async fn refuse_at_work(service: &Service, worktree: &Worktree) -> Result<(), RequestError> {
    let works = match worktree.task {
        Some(task) => {
            service.store.task(task).await?.filter(|task| !task.status.has_ended()).map(|task| task.id)
        }
        None => {
            let conversation = service.store.conversation(worktree.conversation).await?;
            let latest = conversation.and_then(|known| known.task);
            latest.filter(|task| !task.status.has_ended()).map(|task| task.id)
        }
    };
    let Some(task) = works else { return Ok(()) };
    let words = format!("task {} works in this worktree; wait for its end, or stop it", task.short());
    Err(Error::new(ErrorKind::IllegalState, words).about(task).into())
}

/// The worktree that this names: its branch, its conversation, or a task that works there.
async fn find(service: &Service, named: &str) -> Result<Worktree, RequestError> {
    let all = blocking(service, Worktrees::list).await?;
    let none = || not_found("worktree", named);
    if let Some(worktree) = all.iter().find(|worktree| worktree.branch == named) {
        return Ok(worktree.clone());
    }
    let of = |conversation: ConversationId, task: Option<TaskId>| {
        all.iter().find(|worktree| (worktree.conversation, worktree.task) == (conversation, task)).cloned()
    };
    let conversation = match task::locate(service, named).await {
        Ok((task, conversation)) => match of(conversation, Some(task)) {
            Some(worktree) => return Ok(worktree),
            None => conversation,
        },
        Err(_) => match find_conversation(&service.store, named).await {
            Ok(conversation) => existing(&service.store, conversation).await?.id,
            // One whose conversation is gone is named by its id.
            Err(_) => {
                let id = |worktree: &&Worktree| worktree.conversation.to_string().ends_with(named);
                return Ok(all.iter().find(id).filter(|_| named.len() >= 8).cloned().ok_or_else(none)?);
            }
        },
    };
    Ok(of(conversation, None).ok_or_else(none)?)
}

fn shown(worktree: &Worktree, unmerged: Result<Unmerged, NoWorktree>) -> Shown {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (unmerged, problem) = match unmerged {
        Ok(unmerged) => (unmerged, None),
        Err(error) => (Unmerged::default(), Some(error.to_string())),
    };
    Shown {
        conversation_id: worktree.conversation,
        task_id: worktree.task,
        path: text(&worktree.path),
        branch: worktree.branch.clone(),
        repository: text(&worktree.repository),
        files: unmerged.files.len() as u64,
        commits: unmerged.commits,
        problem,
    }
}

fn refused(error: &NoWorktree) -> Error {
    Error::new(ErrorKind::Conflict, error.to_string())
}

async fn blocking<T: Send + 'static>(
    service: &Service,
    work: impl FnOnce(&Worktrees) -> T + Send + 'static,
) -> Result<T, RequestError> {
    let worktrees = service.tools.worktrees().clone();
    let done = tokio::task::spawn_blocking(move || work(&worktrees)).await;
    Ok(done.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?)
}
