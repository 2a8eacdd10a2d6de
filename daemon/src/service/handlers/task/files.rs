//! What a task has changed in its files, and taking it back.

use super::locate;
use crate::{
    clock,
    runner::place_of,
    service::{Caller, Service, handlers::RequestError},
};
use abide_engine::{Command, NoTrail, Trail};
use abide_protocol::{
    ConversationId, Error, ErrorKind, TaskId,
    checkpoint::{UndoBegun, UndoFrom, UndoResult, UndoneFiles},
    method::task::{TaskChangesParams, TaskChangesReply, UndoTaskReply},
};
use abide_tools::{Changes, Place};

pub(in crate::service::handlers) async fn changes(
    service: &Service,
    params: &TaskChangesParams,
) -> Result<TaskChangesReply, RequestError> {
    let Some(Asked { place, trail, first, .. }) = find(service, params).await? else {
        return Ok(TaskChangesReply::default());
    };
    let (steps, can_redo) = (trail.steps(), trail.first(UndoFrom::LastUndo).is_some());
    let (checkpoints, chain, all) = (service.tools.checkpoints().clone(), trail.chain, params.all);
    let shown = tokio::task::spawn_blocking(move || checkpoints.changes(&place, &chain, first, all)).await;
    let shown = match shown {
        Ok(Ok(shown)) => shown,
        Ok(Err(error)) => return Err(Error::new(ErrorKind::IllegalState, error.to_string()).into()),
        Err(error) => return Err(Error::new(ErrorKind::Internal, error.to_string()).into()),
    };
    let Changes { files, diff, is_cut: cut, notes } = shown;
    Ok(TaskChangesReply { files, diff, cut, steps, can_redo, notes })
}

pub(in crate::service::handlers) async fn undo(
    service: &Service,
    caller: &Caller,
    params: &TaskChangesParams,
) -> Result<UndoTaskReply, RequestError> {
    if params.hunk.is_some() && params.files.len() != 1 {
        let words = "a hunk is of one file: name the file in `files`";
        return Err(Error::new(ErrorKind::InvalidParams, words).into());
    }
    let Some(Asked { conversation, undone, from, .. }) = find(service, params).await? else {
        return Ok(UndoTaskReply::default());
    };
    let undo = clock::mint().record_id();
    // It is watched before it begins, so that its end is not missed.
    let end = service.hub.end_of_undo(undo);
    let TaskChangesParams { all, files, hunk, .. } = params.clone();
    let command = Command::Undo(UndoBegun { undo, undone, from, all, files, hunk, by: caller.by() });
    service.sessions.command(conversation, command).await?;
    match end.come().await {
        Ok(UndoResult::Done(UndoneFiles { restored, kept, notes, .. })) => {
            Ok(UndoTaskReply { restored, kept, notes })
        }
        Ok(UndoResult::Failed(words)) => {
            Err(Error::new(ErrorKind::IllegalState, format!("the undo failed: {words}")).about(undone).into())
        }
        Err(_) => {
            let words = "the daemon is shutting down; the undo goes on at its next start";
            Err(Error::new(ErrorKind::ShuttingDown, words).about(undone).into())
        }
    }
}

/// A request for the changes of a task.
struct Asked {
    conversation: ConversationId,
    undone: TaskId,
    from: UndoFrom,
    place: Place,
    trail: Trail,
    /// The first link that it is about.
    first: usize,
}

/// `None`: the task has changed nothing from there on, which is no error.
async fn find(service: &Service, params: &TaskChangesParams) -> Result<Option<Asked>, RequestError> {
    let (undone, conversation) = locate(service, &params.task_id).await?;
    let refused = |kind, words: String| Error::new(kind, words).about(undone);
    let from = match (params.step, params.redo) {
        (None, false) => UndoFrom::Start,
        (Some(step), false) => UndoFrom::Step(step),
        (None, true) => UndoFrom::LastUndo,
        (Some(_), true) => {
            let words = "name a step or the last undo, not both".to_owned();
            return Err(refused(ErrorKind::InvalidParams, words).into());
        }
    };
    let gone = || refused(ErrorKind::NotFound, "the task is gone".to_owned());
    let head = service.store.task_head(conversation, undone).await?.ok_or_else(gone)?;
    if let Some(above) = head.parent_id {
        let words = format!(
            "task {} is a sub-task: checkpoints are of the files of the whole tree, so name its root; the task above it is {}",
            undone.short(),
            above.short()
        );
        return Err(refused(ErrorKind::InvalidParams, words).into());
    }
    // The last checkpoint is made while the task ends.
    service.sessions.files_at_rest(conversation).await?;
    let records = service.store.file_records(conversation).await?;
    let none = |words: String| refused(ErrorKind::IllegalState, format!("task {}: {words}", undone.short()));
    let trail = match Trail::of(undone, &records) {
        Ok(trail) => trail,
        Err(NoTrail::NothingChanged) if from != UndoFrom::LastUndo => return Ok(None),
        Err(why) => return Err(none(why.to_string()).into()),
    };
    match trail.first(from) {
        Some(first) => Ok(Some(Asked { conversation, undone, from, place: place_of(*head), trail, first })),
        None if from == UndoFrom::LastUndo => Err(none("there is no undo of it to redo".to_owned()).into()),
        None => Ok(None),
    }
}
