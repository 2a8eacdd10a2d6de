//! Finds things by a unique part of an id: its beginning, its end, or the beginning of the last eight digits,
//! which people see. Tasks are also found by their age.

use crate::{Store, error::ReadError};
use abide_protocol::{
    ApprovalId, ConversationId, MAX_CANDIDATES, QuestionId, TaskId, inbox::PendingId, task::TaskAge,
};
use rusqlite::{Connection, OptionalExtension as _, Row};
use uuid::Uuid;

/// The result of looking for a part of an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<T> {
    One(T),
    None,
    /// Several match: the newest of them, at most [`MAX_CANDIDATES`].
    Many(Vec<T>),
}

impl<T> Lookup<T> {
    fn map<U>(self, to: impl FnMut(T) -> U) -> Lookup<U> {
        Lookup::of(self.into_vec().into_iter().map(to).collect())
    }

    /// What either of two lookups found.
    fn and(self, other: Self) -> Self {
        let mut all = self.into_vec();
        all.extend(other.into_vec());
        all.truncate(MAX_CANDIDATES);
        Self::of(all)
    }

    fn of(mut all: Vec<T>) -> Self {
        match all.pop() {
            None => Self::None,
            Some(one) if all.is_empty() => Self::One(one),
            Some(last) => {
                all.push(last);
                Self::Many(all)
            }
        }
    }

    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::None => Vec::new(),
            Self::Many(many) => many,
        }
    }
}

/// A question or approval, with its task and conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRef {
    pub id: PendingId,
    pub task_id: TaskId,
    pub conversation_id: ConversationId,
    /// The item has no answer or decision yet.
    pub open: bool,
}

/// What the id in an answer or a decision names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressee {
    Item(PendingRef),
    /// The item is the one that waits in this task.
    Task(TaskId),
}

/// The typed hex digits in upper case; `None` if they cannot be part of an id.
fn digits(typed: &str) -> Option<String> {
    let digits: String = typed.trim().chars().filter(|c| *c != '-').map(|c| c.to_ascii_uppercase()).collect();
    let fits = (1..=32).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
    fits.then_some(digits)
}

/// The condition for a beginning or an end of an id.
const BEGINS_OR_ENDS: &str = "hex(id) LIKE ?1 || '%' OR hex(id) LIKE '%' || ?1";
/// The same, or for a beginning of the last eight digits.
const AS_SHOWN_TOO: &str =
    "hex(id) LIKE ?1 || '%' OR hex(id) LIKE '%' || ?1 OR substr(hex(id), -8) LIKE ?1 || '%'";

/// Finds ids in a table with a column `id`. A whole id uses the index. A part of an id scans all ids, about a
/// thousand in a millisecond.
fn find<T>(
    connection: &Connection,
    columns_from: &str,
    digits: &str,
    condition: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Lookup<T>> {
    let found = match Uuid::parse_str(digits) {
        Ok(id) => {
            let mut statement = connection.prepare_cached(&format!("SELECT {columns_from} id = ?1"))?;
            statement.query_map([id], &read)?.collect::<Result<Vec<_>, _>>()?
        }
        Err(_) => {
            let sql = format!("SELECT {columns_from} ({condition}) ORDER BY id DESC LIMIT {MAX_CANDIDATES}");
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_map([digits], &read)?.collect::<Result<Vec<_>, _>>()?
        }
    };
    Ok(Lookup::of(found))
}

/// The columns that [`pending`] reads, and their table.
const PENDING: &str = "id, kind, task, conversation, item IS NOT NULL FROM inbox WHERE";

fn pending(row: &Row<'_>) -> rusqlite::Result<PendingRef> {
    let id = row.get(0)?;
    let is_question = row.get_ref(1)?.as_str()? == "question";
    Ok(PendingRef {
        id: if is_question {
            PendingId::Question(QuestionId(id))
        } else {
            PendingId::Approval(ApprovalId(id))
        },
        task_id: TaskId(row.get(2)?),
        conversation_id: ConversationId(row.get(3)?),
        open: row.get(4)?,
    })
}

fn tasks(connection: &Connection, digits: &str) -> rusqlite::Result<Lookup<TaskId>> {
    find(connection, "id FROM tasks WHERE", digits, AS_SHOWN_TOO, |row| row.get(0).map(TaskId))
}

/// The task with this external id.
pub(crate) fn external_task(connection: &Connection, id: &str) -> rusqlite::Result<Option<TaskId>> {
    let mut statement = connection.prepare_cached("SELECT task FROM external_ids WHERE id = ?1")?;
    statement.query_row([id], |row| row.get(0).map(TaskId)).optional()
}

/// The task with this external id, or of this age.
fn named_task(connection: &Connection, typed: &str) -> rusqlite::Result<Option<TaskId>> {
    match (external_task(connection, typed)?, TaskAge::parse(typed)) {
        (None, Some(age)) => root_of_age(connection, age),
        (external, _) => Ok(external),
    }
}

/// As `listTasks` sorts them.
fn root_of_age(connection: &Connection, TaskAge(age): TaskAge) -> rusqlite::Result<Option<TaskId>> {
    let sql = "SELECT id FROM tasks WHERE parent IS NULL ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([age.get() - 1], |row| row.get(0).map(TaskId)).optional()
}

impl Store {
    /// The task with this external id, of this age (`last`, `@2`), or with this part of an id, with or
    /// without hyphens, in any case. Only a whole id precedes an external id: more of an external id cannot
    /// be typed.
    pub async fn find_task(&self, typed: &str) -> Result<Lookup<TaskId>, ReadError> {
        let (typed, digits) = (typed.trim().to_owned(), digits(typed));
        self.read(move |connection| {
            let of = |digits: &str| tasks(connection, digits);
            let (whole, part) =
                digits.into_iter().partition::<Vec<_>, _>(|digits| Uuid::parse_str(digits).is_ok());
            if let Some(Lookup::One(task)) = whole.first().map(|digits| of(digits)).transpose()? {
                return Ok(Lookup::One(task));
            }
            if let Some(task) = named_task(connection, &typed)? {
                return Ok(Lookup::One(task));
            }
            Ok(part.first().map(|digits| of(digits)).transpose()?.unwrap_or(Lookup::None))
        })
        .await
    }

    /// The task with this external id.
    pub async fn external_task(&self, id: &str) -> Result<Option<TaskId>, ReadError> {
        let id = id.to_owned();
        self.read(move |connection| Ok(external_task(connection, &id)?)).await
    }

    /// The conversation with this part of an id.
    pub async fn find_conversation(&self, typed: &str) -> Result<Lookup<ConversationId>, ReadError> {
        let Some(digits) = digits(typed) else { return Ok(Lookup::None) };
        self.read(move |connection| {
            Ok(find(connection, "id FROM conversations WHERE", &digits, AS_SHOWN_TOO, |row| {
                row.get(0).map(ConversationId)
            })?)
        })
        .await
    }

    /// A task's questions and approvals, open and closed, oldest first.
    pub async fn pending_of(&self, task: TaskId) -> Result<Vec<PendingRef>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {PENDING} conversation = (SELECT conversation FROM tasks WHERE id = ?1) AND task = ?1 ORDER BY at, id"
            ))?;
            Ok(statement.query_map([task.0], pending)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The question, approval or task with this whole id; else the task with this external id or of this age;
    /// else the item or task with this part of an id. A closed item counts only if no open item fits, so that
    /// a late answer gets the first answer. Because something is decided, all that fit are found, and only a
    /// task is found by the beginning of its shown digits.
    pub async fn find_addressee(&self, typed: &str) -> Result<Lookup<Addressee>, ReadError> {
        let (typed, digits) = (typed.trim().to_owned(), digits(typed));
        self.read(move |connection| {
            let items = |digits: &str, columns_from: &str| {
                find(connection, columns_from, digits, BEGINS_OR_ENDS, pending)
                    .map(|found| found.map(Addressee::Item))
            };
            let tasks = |digits: &str| tasks(connection, digits).map(|found| found.map(Addressee::Task));
            let is_whole = digits.as_deref().is_some_and(|digits| Uuid::parse_str(digits).is_ok());
            if let Some(digits) = digits.as_deref().filter(|_| is_whole) {
                let found = items(digits, PENDING)?.and(tasks(digits)?);
                if found != Lookup::None {
                    return Ok(found);
                }
            }
            if let Some(task) = named_task(connection, &typed)? {
                return Ok(Lookup::One(Addressee::Task(task)));
            }
            let Some(digits) = digits.as_deref().filter(|_| !is_whole) else { return Ok(Lookup::None) };
            let of_items = match items(digits, &format!("{PENDING} item IS NOT NULL AND"))? {
                Lookup::None => items(digits, PENDING)?,
                open => open,
            };
            Ok(match (of_items, tasks(digits)?) {
                // The task stands for the item, if nothing else of the task is open.
                (Lookup::One(Addressee::Item(item)), Lookup::One(Addressee::Task(task)))
                    if item.open && item.task_id == task =>
                {
                    Lookup::One(Addressee::Task(task))
                }
                (of_items, of_tasks) => of_items.and(of_tasks),
            })
        })
        .await
    }
}
