use super::{candidate, find_task, found, not_found, refused, storage, task};
use crate::{ipc::Service, session::CommandError};
use abide_engine::{Input, Refusal};
use abide_protocol::{
    ApprovalId, ConversationId, Error, ErrorKind, MAX_CANDIDATES, QuestionId, TaskId,
    inbox::{Pending, PendingId},
    limits::MAX_RESPONSE,
    method::inbox::{
        DecideApprovalParams, DecideApprovalReply, InboxParams, InboxReply, UserResponseParams,
        UserResponseReply,
    },
    task::AgentTask,
};
use abide_store::{Lookup, PendingRef};

pub(super) async fn list(service: &Service, params: InboxParams) -> Result<InboxReply, Error> {
    let task = match &params.task_id {
        Some(typed) => Some(find_task(&service.store, typed).await?),
        None => None,
    };
    Ok(InboxReply { items: service.store.inbox(task).await.map_err(storage)? })
}

/// The first response counts; the others are told which it was, and since when.
pub(super) async fn respond(
    service: &Service,
    params: UserResponseParams,
) -> Result<UserResponseReply, Error> {
    let UserResponseParams { task_id, question_id, response } = params;
    if response.as_ref().is_some_and(|r| r.len() > MAX_RESPONSE) {
        return Err(Error::new(ErrorKind::TooLarge, format!("the response is over {MAX_RESPONSE} bytes")));
    }
    let (task, conversation, question) = match question_id {
        Some(typed) => {
            let (task, conversation) = task::place(service, &task_id).await?;
            (task, conversation, question(service, &typed).await?)
        }
        None => asked(service, &task_id).await?,
    };
    let input = Input::Answer { task, question, response: response.clone() };
    match service.sessions.command(conversation, input).await {
        Ok(_) => Ok(UserResponseReply { won: true, response, first_at: None }),
        Err(CommandError::Refused(Refusal::Answered(first))) => {
            Ok(UserResponseReply { won: false, response: first.said, first_at: Some(first.at) })
        }
        Err(e) => Err(refused(&e)),
    }
}

async fn question(service: &Service, typed: &str) -> Result<QuestionId, Error> {
    let store = &service.store;
    let lookup = store.find_pending(typed).await.map_err(storage)?;
    match found(lookup, "question", typed, async |items| candidate::items(store, &items).await).await?.id {
        PendingId::Question(id) => Ok(id),
        PendingId::Approval(_) => Err(is_approval(typed)),
    }
}

fn is_approval(typed: &str) -> Error {
    Error::new(ErrorKind::InvalidParams, format!("{typed:?} is an approval: approve or reject it"))
}

/// The only open question of the task of that id; or the question of that id, open or not.
async fn asked(service: &Service, typed: &str) -> Result<(TaskId, ConversationId, QuestionId), Error> {
    let store = &service.store;
    match store.find_pending(typed).await.map_err(storage)? {
        Lookup::One(PendingRef { id: PendingId::Question(id), task_id, conversation_id, .. }) => {
            return Ok((task_id, conversation_id, id));
        }
        Lookup::One(PendingRef { id: PendingId::Approval(_), .. }) => return Err(is_approval(typed)),
        Lookup::Many(_) | Lookup::None => {}
    }
    let (task, conversation) = task::place(service, typed).await?;
    let view = store.task(task).await.map_err(storage)?;
    Ok((task, conversation, only_question(view.as_ref(), typed)?))
}

fn only_question(task: Option<&AgentTask>, typed: &str) -> Result<QuestionId, Error> {
    let open: Vec<(QuestionId, &Pending)> = task
        .iter()
        .flat_map(|t| &t.pending)
        .filter_map(|p| if let Pending::Question(q) = p { Some((q.id, p)) } else { None })
        .collect();
    match open.as_slice() {
        [(one, _)] => Ok(*one),
        [] => {
            Err(Error::new(ErrorKind::IllegalState, format!("task {typed:?} has no open question"))
                .about(typed))
        }
        _ => {
            let words =
                format!("task {typed:?} has {} open questions: say which one is answered", open.len());
            let candidates = open.iter().take(MAX_CANDIDATES).map(|(_, item)| candidate::open(item));
            Err(Error::new(ErrorKind::Ambiguous, words).about(typed).among(candidates.collect()))
        }
    }
}

/// The first decision counts; the others are told which it was, and since when.
pub(super) async fn decide(
    service: &Service,
    params: DecideApprovalParams,
) -> Result<DecideApprovalReply, Error> {
    let DecideApprovalParams { approval_id, decision, note } = params;
    if note.as_ref().is_some_and(|n| n.len() > MAX_RESPONSE) {
        return Err(Error::new(ErrorKind::TooLarge, format!("the note is over {MAX_RESPONSE} bytes")));
    }
    let (approval, conversation) = approval(service, &approval_id).await?;
    match service.sessions.command(conversation, Input::Decide { approval, decision, note }).await {
        Ok(_) => Ok(DecideApprovalReply { won: true, decision, first_at: None }),
        Err(CommandError::Refused(Refusal::Decided(first))) => {
            Ok(DecideApprovalReply { won: false, decision: first.said, first_at: Some(first.at) })
        }
        Err(e) => Err(refused(&e)),
    }
}

/// An approval's own id, or that of a task with exactly one open.
async fn approval(service: &Service, typed: &str) -> Result<(ApprovalId, ConversationId), Error> {
    match service.store.find_pending(typed).await.map_err(storage)? {
        Lookup::One(pending) => match pending.id {
            PendingId::Approval(id) => return Ok((id, pending.conversation_id)),
            PendingId::Question(_) => {
                return Err(Error::new(
                    ErrorKind::InvalidParams,
                    format!("{typed:?} is a question: answer it"),
                ));
            }
        },
        many @ Lookup::Many(_) => {
            let item =
                found(many, "approval", typed, async |items| candidate::items(&service.store, &items).await);
            return item.await.and_then(|_| Err(not_found("approval", typed)));
        }
        Lookup::None => {}
    }
    let Lookup::One(task) = service.store.find_task(typed).await.map_err(storage)? else {
        return Err(not_found("approval", typed));
    };
    let items = service.store.inbox(Some(task)).await.map_err(storage)?;
    let open: Vec<_> = items
        .iter()
        .filter_map(|i| if let Pending::Approval(a) = &i.pending { Some((a.id, i)) } else { None })
        .collect();
    match open.as_slice() {
        [(id, item)] => Ok((*id, item.conversation_id)),
        [] => {
            Err(Error::new(ErrorKind::IllegalState, format!("task {typed:?} has no open approval"))
                .about(typed))
        }
        _ => {
            let words = format!("task {typed:?} has {} open approvals: say which one is decided", open.len());
            let candidates = open.iter().take(MAX_CANDIDATES).map(|(_, i)| candidate::open(&i.pending));
            Err(Error::new(ErrorKind::Ambiguous, words).about(typed).among(candidates.collect()))
        }
    }
}
