use super::{RequestError, candidate, find_task, not_found, task, unique};
use crate::{
    service::{Caller, Service},
    session::CommandError,
};
use abide_engine::{Command, Refusal};
use abide_protocol::{
    ApprovalId, ConversationId, Error, ErrorKind, MAX_CANDIDATES, QuestionId, TaskId,
    inbox::PendingId,
    limits::MAX_RESPONSE,
    method::inbox::{
        DecideApprovalParams, DecideApprovalReply, InboxParams, InboxReply, UserResponseParams,
        UserResponseReply,
    },
};
use abide_store::{Addressee, PendingRef, Store};

pub(super) async fn list(service: &Service, params: InboxParams) -> Result<InboxReply, RequestError> {
    let task = match &params.task_id {
        Some(typed) => Some(find_task(&service.store, typed).await?),
        None => None,
    };
    Ok(InboxReply { items: service.store.inbox(task).await? })
}

/// The first response counts; later callers get it, with its time.
pub(super) async fn respond(
    service: &Service,
    caller: &Caller,
    params: UserResponseParams,
) -> Result<UserResponseReply, RequestError> {
    let UserResponseParams { task_id, question_id, response } = params;
    if response.as_ref().is_some_and(|r| r.len() > MAX_RESPONSE) {
        let words = format!("the response is over {MAX_RESPONSE} bytes");
        return Err(Error::new(ErrorKind::TooLarge, words).into());
    }
    let (task, conversation, question) = match question_id {
        Some(typed) => {
            let (task, conversation) = task::locate(service, &task_id).await?;
            match QUESTION.find(service, &typed).await? {
                Addressee::Item(item) if item.task_id == task => {
                    (task, conversation, QUESTION.of_item(item, &typed)?)
                }
                // A part of an id that the question has in common with its task.
                Addressee::Task(of) if of == task => {
                    let (task, id) = QUESTION.of_task(&service.store, task, &typed).await?;
                    (task, conversation, id)
                }
                _ => return Err(not_found("question", &typed).into()),
            }
        }
        None => {
            let Addressed { task, conversation, id } = QUESTION.addressed(service, &task_id).await?;
            (task, conversation, id)
        }
    };
    let command = Command::Answer { task, question, response: response.clone(), by: Some(caller.by()) };
    match service.sessions.command(conversation, command).await {
        Ok(_) => Ok(UserResponseReply { won: true, response, first_at: None }),
        Err(CommandError::Refused(Refusal::Answered(first))) => {
            Ok(UserResponseReply { won: false, response: first.said, first_at: Some(first.at) })
        }
        Err(e) => Err(e.into()),
    }
}

/// The item that an answer or a decision is for.
struct Addressed<Id> {
    task: TaskId,
    conversation: ConversationId,
    id: Id,
}

/// A kind of item, with the words for messages about it.
struct Kind<Id> {
    name: &'static str,
    done: &'static str,
    /// What an item of the other kind is, and what to do with it.
    other: &'static str,
    id: fn(PendingId) -> Option<Id>,
}

const QUESTION: Kind<QuestionId> = Kind {
    name: "question",
    done: "answered",
    other: "an approval: approve or reject it",
    id: |id| if let PendingId::Question(id) = id { Some(id) } else { None },
};

const APPROVAL: Kind<ApprovalId> = Kind {
    name: "approval",
    done: "decided",
    other: "a question: answer it",
    id: |id| if let PendingId::Approval(id) = id { Some(id) } else { None },
};

impl<Id: Copy> Kind<Id> {
    /// The item with this id, open or closed, or the item of the task with this id.
    async fn addressed(&self, service: &Service, typed: &str) -> Result<Addressed<Id>, RequestError> {
        match self.find(service, typed).await? {
            Addressee::Item(item) => {
                let PendingRef { task_id: task, conversation_id: conversation, .. } = item;
                Ok(Addressed { task, conversation, id: self.of_item(item, typed)? })
            }
            Addressee::Task(task) => {
                let conversation = task::conversation_of(service, task).await?;
                let (task, id) = self.of_task(&service.store, task, typed).await?;
                Ok(Addressed { task, conversation, id })
            }
        }
    }

    async fn find(&self, service: &Service, typed: &str) -> Result<Addressee, RequestError> {
        let store = &service.store;
        let lookup = store.find_addressee(typed).await?;
        let candidates = async |all: Vec<_>| candidate::addressees(store, &all).await;
        unique(lookup, &format!("{} or task", self.name), typed, candidates).await
    }

    fn of_item(&self, item: PendingRef, typed: &str) -> Result<Id, RequestError> {
        let other = || Error::new(ErrorKind::InvalidParams, format!("{typed:?} is {}", self.other));
        Ok((self.id)(item.id).ok_or_else(other)?)
    }

    /// A task's only open item, else the only one of its sub-tasks, with the task that asks. If none is open,
    /// the only item it ever had, so that a late caller is told the first response.
    async fn of_task(&self, store: &Store, task: TaskId, typed: &str) -> Result<(TaskId, Id), RequestError> {
        let Self { name, done, .. } = self;
        let items = store.inbox(Some(task)).await?;
        let open = items
            .iter()
            .filter_map(|item| Some((item.task_id, (self.id)(item.pending.id())?, &item.pending)));
        let (own, below): (Vec<_>, Vec<_>) = open.partition(|(asks, ..)| *asks == task);
        let (open, whose) = if own.is_empty() { (below, " in its sub-tasks") } else { (own, "") };
        match open.as_slice() {
            [(asks, one, _)] => return Ok((*asks, *one)),
            [] => {}
            _ => {
                let words =
                    format!("task {typed:?} has {} open {name}s{whose}: say which one is {done}", open.len());
                let candidates = open.iter().take(MAX_CANDIDATES).map(|(_, _, item)| candidate::open(item));
                let error = Error::new(ErrorKind::Ambiguous, words).about(typed);
                return Err(error.among(candidates.collect()).into());
            }
        }
        let all = store.pending_of(task).await?;
        match all.iter().filter_map(|item| (self.id)(item.id)).collect::<Vec<_>>().as_slice() {
            [one] => Ok((task, *one)),
            _ => {
                let words = format!("task {typed:?} has no open {name}");
                Err(Error::new(ErrorKind::IllegalState, words).about(typed).into())
            }
        }
    }
}

/// The first decision counts; later callers get it, with its time.
pub(super) async fn decide(
    service: &Service,
    caller: &Caller,
    params: DecideApprovalParams,
) -> Result<DecideApprovalReply, RequestError> {
    let DecideApprovalParams { approval_id, decision, note, rule } = params;
    if note.as_ref().is_some_and(|n| n.len() > MAX_RESPONSE) {
        let words = format!("the note is over {MAX_RESPONSE} bytes");
        return Err(Error::new(ErrorKind::TooLarge, words).into());
    }
    let Addressed { conversation, id: approval, .. } = APPROVAL.addressed(service, &approval_id).await?;
    let command = Command::Decide { approval, decision, note, rule, by: caller.by() };
    match service.sessions.command(conversation, command).await {
        Ok(_) => Ok(DecideApprovalReply { won: true, decision, first_at: None }),
        Err(CommandError::Refused(Refusal::Decided(first))) => {
            Ok(DecideApprovalReply { won: false, decision: first.said, first_at: Some(first.at) })
        }
        Err(e) => Err(e.into()),
    }
}
