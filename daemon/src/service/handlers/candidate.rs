//! Candidates for an ambiguous id, each with text that distinguishes it.

use abide_protocol::{
    Candidate, ConversationId, TaskId,
    inbox::{Pending, PendingId},
    task::Status,
};
use abide_store::{Addressee, PendingRef, ReadError, RuleId, Store};

/// The longest text of a candidate, in characters.
const MAX_TITLE: usize = 80;

pub(super) async fn tasks(store: &Store, ids: &[TaskId]) -> Result<Vec<Candidate>, ReadError> {
    let mut candidates = Vec::new();
    for id in ids {
        // Deleted since the lookup.
        let Some(task) = store.task(*id).await? else { continue };
        candidates.push(Candidate {
            id: id.to_string(),
            title: title(store, task.conversation_id).await?,
            status: task.status.name().to_owned(),
        });
    }
    Ok(candidates)
}

pub(super) async fn conversations(
    store: &Store,
    ids: &[ConversationId],
) -> Result<Vec<Candidate>, ReadError> {
    let mut candidates = Vec::new();
    for id in ids {
        let Some(conversation) = store.conversation(*id).await? else { continue };
        let status = conversation.task.map_or("", |task| task.status.name());
        candidates.push(Candidate {
            id: id.to_string(),
            title: conversation.title,
            status: status.to_owned(),
        });
    }
    Ok(candidates)
}

/// Questions and approvals, open or closed, and tasks.
pub(super) async fn addressees(store: &Store, all: &[Addressee]) -> Result<Vec<Candidate>, ReadError> {
    let mut candidates = Vec::new();
    for addressee in all {
        match addressee {
            Addressee::Task(id) => candidates.extend(tasks(store, &[*id]).await?),
            Addressee::Item(found) => candidates.extend(item(store, found).await?),
        }
    }
    Ok(candidates)
}

async fn item(store: &Store, item: &PendingRef) -> Result<Option<Candidate>, ReadError> {
    let Some(task) = store.task(item.task_id).await? else { return Ok(None) };
    Ok(Some(match task.pending.iter().find(|pending| pending.id() == item.id) {
        Some(pending) => open(pending),
        None => Candidate {
            id: id(item.id),
            title: title(store, item.conversation_id).await?,
            status: task.status.name().to_owned(),
        },
    }))
}

/// An open question or approval.
pub(super) fn open(pending: &Pending) -> Candidate {
    let (title, status) = match pending {
        Pending::Question(question) => (&question.text, Status::WaitingUser),
        Pending::Approval(approval) => (&approval.summary, Status::WaitingApproval),
    };
    Candidate {
        id: id(pending.id()),
        title: title.chars().take(MAX_TITLE).collect(),
        status: status.name().to_owned(),
    }
}

fn id(pending: PendingId) -> String {
    match pending {
        PendingId::Question(id) => id.to_string(),
        PendingId::Approval(id) => id.to_string(),
    }
}

async fn title(store: &Store, id: ConversationId) -> Result<String, ReadError> {
    Ok(store.conversation(id).await?.map(|conversation| conversation.title).unwrap_or_default())
}

pub(super) async fn rules(store: &Store, ids: &[RuleId]) -> Result<Vec<Candidate>, ReadError> {
    let mut candidates = Vec::new();
    for id in ids {
        let Some(rule) = store.remembered_rule(*id).await? else { continue };
        let about = rule.origin.map(|o| format!("{} {}", o.rule.tool, o.rule.arguments.as_str()));
        candidates.push(Candidate {
            id: id.to_string(),
            title: about.unwrap_or_default().chars().take(MAX_TITLE).collect(),
            status: String::new(),
        });
    }
    Ok(candidates)
}
