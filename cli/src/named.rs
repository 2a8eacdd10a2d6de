//! The open questions and approvals that an id names: by their own id or by that of their task.

use crate::{connection::Daemon, error::CommandError};
use abide_client::protocol::{
    Candidate, Error, ErrorKind, MAX_CANDIDATES, TaskId,
    inbox::{Approval, InboxItem, Pending, PendingId, Question},
    method::{GetTask, Inbox, inbox::InboxParams, task::TaskParams},
    task::Status,
};

pub(crate) struct Named {
    id: String,
    /// The open items with this id.
    items: Vec<InboxItem>,
    /// The open items of the task with this id; `None` if there is no such task.
    task: Option<OfTask>,
}

struct OfTask {
    own: Vec<InboxItem>,
    /// The open items of its sub-tasks.
    below: Vec<InboxItem>,
}

impl Named {
    /// Asks the daemon what is open. A task is found as every other command finds it.
    ///
    /// # Errors
    ///
    /// The id is a part of the ids of several tasks.
    pub(crate) async fn find(daemon: &mut Daemon, id: &str) -> Result<Self, CommandError> {
        let all = daemon.call::<Inbox>(InboxParams::default()).await?.items;
        let task = match daemon.call::<GetTask>(TaskParams { task_id: id.to_owned() }.into()).await {
            Ok(reply) => reply.task.id,
            Err(error) if error.is_not_found() => return Ok(Self::among(all, None, id)),
            Err(error) => return Err(error),
        };
        let of_task = InboxParams { task_id: Some(task.to_string()) };
        let items = daemon.call::<Inbox>(of_task).await?.items;
        Ok(Self::among(all, Some((task, items)), id))
    }

    /// `task`: the task with this id, and the items of it and its sub-tasks.
    fn among(all: Vec<InboxItem>, task: Option<(TaskId, Vec<InboxItem>)>, id: &str) -> Self {
        // An external id comes before any part of an id: more of it cannot be typed.
        let is_external = task.as_ref().is_some_and(|(task, _)| !fits_task(*task, id));
        let fits_item = |item: &InboxItem| !is_external && fits(&uuid(item.pending.id()), id);
        let items = all.into_iter().filter(fits_item).collect();
        let task = task.map(|(task, items)| {
            let (own, below) = items.into_iter().partition(|item| item.task_id == task);
            OfTask { own, below }
        });
        Self { id: id.to_owned(), items, task }
    }

    /// Whether a task has this id.
    pub(crate) const fn is_task(&self) -> bool {
        self.task.is_some()
    }

    /// The question that is named, with the task that asks it; `None` if none is open.
    ///
    /// # Errors
    ///
    /// Several are.
    pub(crate) fn only_question(self) -> Result<Option<(TaskId, Question)>, CommandError> {
        self.only("question", Status::WaitingUser, |item| match item.pending {
            Pending::Question(question) => Some((item.task_id, question)),
            Pending::Approval(_) => None,
        })
    }

    /// The approval that is named, with its task; `None` if none is open.
    ///
    /// # Errors
    ///
    /// Several are.
    pub(crate) fn only_approval(self) -> Result<Option<(TaskId, Approval)>, CommandError> {
        self.only("approval", Status::WaitingApproval, |item| match item.pending {
            Pending::Approval(approval) => Some((item.task_id, approval)),
            Pending::Question(_) => None,
        })
    }

    fn only<T>(
        self,
        kind: &str,
        waits: Status,
        of_kind: impl Fn(InboxItem) -> Option<T>,
    ) -> Result<Option<T>, CommandError> {
        let of = |items: Vec<InboxItem>| -> Vec<InboxItem> {
            items.into_iter().filter(|item| of_kind(item.clone()).is_some()).collect()
        };
        let mut open = of(self.items);
        let mut is_clear = true;
        if let Some(OfTask { own, below }) = self.task {
            let own = of(own);
            let of_task = if own.is_empty() { of(below) } else { own };
            let is_new =
                |item: &InboxItem| of_task.iter().all(|other| other.pending.id() != item.pending.id());
            open.retain(is_new);
            // It fits an item and another task.
            is_clear = open.is_empty();
            open.extend(of_task);
        }
        if is_clear && open.len() <= 1 {
            return Ok(open.pop().and_then(of_kind));
        }
        let candidate = |item: &InboxItem| Candidate {
            id: uuid(item.pending.id()),
            title: match &item.pending {
                Pending::Question(question) => question.text.clone(),
                Pending::Approval(approval) => approval.summary.clone(),
            },
            status: waits.name().to_owned(),
        };
        let candidates = open.iter().take(MAX_CANDIDATES).map(candidate).collect();
        let words = match is_clear {
            true => format!("{:?} fits several open {kind}s; give more of the id of one", self.id),
            false => format!("{:?} fits {kind}s and another task; give more of the id", self.id),
        };
        Err(Error::new(ErrorKind::Ambiguous, words).about(self.id).among(candidates).into())
    }
}

fn uuid(id: PendingId) -> String {
    match id {
        PendingId::Question(id) => id.to_string(),
        PendingId::Approval(id) => id.to_string(),
    }
}

/// Whether `given` is a beginning or end of `id`.
fn fits(id: &str, given: &str) -> bool {
    let plain = |s: &str| s.trim().replace('-', "").to_ascii_lowercase();
    let (id, given) = (plain(id), plain(given));
    !given.is_empty() && (id.starts_with(&given) || id.ends_with(&given))
}

/// The same of a task's id, or whether it is the beginning of its last eight digits.
fn fits_task(id: TaskId, given: &str) -> bool {
    let is_as_shown = !given.is_empty() && id.short().starts_with(&given.to_ascii_lowercase());
    is_as_shown || fits(&id.to_string(), given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::QuestionId;
    use uuid::Uuid;

    /// Of the task with this number.
    fn item(pending: Pending, task: u128) -> InboxItem {
        InboxItem {
            task_id: TaskId(Uuid::from_u128(task)),
            conversation_id: fixture::task().conversation_id,
            conversation_title: String::new(),
            pending,
            root_id: None,
            title: String::new(),
            depth: 0,
        }
    }

    fn asked(id: u128, task: u128) -> InboxItem {
        item(Pending::Question(Question { id: QuestionId(Uuid::from_u128(id)), ..fixture::question() }), task)
    }

    /// `task`: its number, and what waits in it.
    fn of(
        all: Vec<InboxItem>,
        task: Option<(u128, Vec<InboxItem>)>,
        id: &str,
    ) -> Result<Option<u128>, CommandError> {
        let task = task.map(|(task, items)| (TaskId(Uuid::from_u128(task)), items));
        let question = Named::among(all, task, id).only_question()?;
        Ok(question.map(|(_, question)| question.id.0.as_u128()))
    }

    #[test]
    fn an_item_is_found_by_its_own_id() {
        let all = || vec![item(Pending::Approval(fixture::approval()), 1), asked(4, 1)];
        for id in ["00000004", "00000000-0000-0000-0000-000000000004", " 0000004 "] {
            assert_eq!(of(all(), None, id).unwrap(), Some(4), "{id}");
        }
        for id in ["00000005", "", "-", "4444", "00000001"] {
            assert_eq!(of(all(), None, id).unwrap(), None, "{id}");
        }
        let approval = Named::among(all(), None, "00000005").only_approval().unwrap();
        assert_eq!(approval, Some((TaskId(Uuid::from_u128(1)), fixture::approval())));
    }

    #[test]
    fn the_only_item_of_a_task_is_found_before_those_of_its_sub_tasks() {
        let of = |items| of(vec![], Some((1, items)), "00000001");
        assert_eq!(of(vec![asked(4, 1), asked(5, 2)]).unwrap(), Some(4));
        assert_eq!(of(vec![asked(5, 2)]).unwrap(), Some(5));
        assert!(of(vec![asked(4, 1), asked(5, 1)]).is_err());
        assert!(of(vec![asked(4, 2), asked(5, 3)]).is_err());
    }

    #[test]
    fn an_item_is_not_taken_where_another_task_fits_too() {
        assert!(of(vec![asked(0x14, 9)], Some((4, vec![asked(5, 4)])), "4").is_err());
        assert!(
            of(vec![asked(0x14, 9)], Some((4, vec![])), "4").is_err(),
            "also if nothing waits in the task"
        );
        assert_eq!(of(vec![asked(0x14, 4)], Some((4, vec![asked(0x14, 4)])), "4").unwrap(), Some(0x14));
    }

    #[test]
    fn an_external_id_comes_before_a_part_of_an_id() {
        assert_eq!(of(vec![asked(7, 9), asked(4, 1)], Some((1, vec![asked(4, 1)])), "7").unwrap(), Some(4));
    }
}
