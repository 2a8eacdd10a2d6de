//! Finding things by what people type: any unique prefix or suffix of an id.

use crate::{Store, error::ReadError};
use abide_protocol::{ApprovalId, ConversationId, MAX_CANDIDATES, QuestionId, TaskId, inbox::PendingId};
use rusqlite::{Connection, Row};
use uuid::Uuid;

/// What a prefix or suffix fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<T> {
    One(T),
    None,
    /// Two or more: the newest of them, at most [`MAX_CANDIDATES`].
    Many(Vec<T>),
}

/// A question or approval, and where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRef {
    pub id: PendingId,
    pub task_id: TaskId,
    pub conversation_id: ConversationId,
    /// Nobody has answered it yet.
    pub open: bool,
}

/// The hex digits of what was typed, upper case; nothing if it cannot be part of an id.
fn digits(typed: &str) -> Option<String> {
    let digits: String = typed.trim().chars().filter(|c| *c != '-').map(|c| c.to_ascii_uppercase()).collect();
    let fits = (1..=32).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
    fits.then_some(digits)
}

/// Looks through a table whose column `id` is an id. A whole id goes by the index; a part of one goes through all ids, about a
/// thousand in a millisecond.
fn find<T>(
    connection: &Connection,
    columns_from: &str,
    digits: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Lookup<T>> {
    let mut found = match Uuid::parse_str(digits) {
        Ok(id) => {
            let mut statement = connection.prepare_cached(&format!("SELECT {columns_from} id = ?1"))?;
            statement.query_map([id], &read)?.collect::<Result<Vec<_>, _>>()?
        }
        Err(_) => {
            let sql = format!(
                "SELECT {columns_from} (hex(id) LIKE ?1 || '%' OR hex(id) LIKE '%' || ?1) ORDER BY id DESC LIMIT {MAX_CANDIDATES}"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_map([digits], &read)?.collect::<Result<Vec<_>, _>>()?
        }
    };
    Ok(match found.pop() {
        None => Lookup::None,
        Some(one) if found.is_empty() => Lookup::One(one),
        Some(last) => {
            found.push(last);
            Lookup::Many(found)
        }
    })
}

/// What [`pending`] reads, and where from.
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

impl Store {
    /// The task whose id begins or ends so, with or without hyphens, in any case.
    pub async fn find_task(&self, typed: &str) -> Result<Lookup<TaskId>, ReadError> {
        let Some(digits) = digits(typed) else { return Ok(Lookup::None) };
        self.read(move |connection| {
            Ok(find(connection, "id FROM tasks WHERE", &digits, |row| row.get(0).map(TaskId))?)
        })
        .await
    }

    /// The conversation whose id begins or ends so.
    pub async fn find_conversation(&self, typed: &str) -> Result<Lookup<ConversationId>, ReadError> {
        let Some(digits) = digits(typed) else { return Ok(Lookup::None) };
        self.read(move |connection| {
            Ok(find(connection, "id FROM conversations WHERE", &digits, |row| {
                row.get(0).map(ConversationId)
            })?)
        })
        .await
    }

    /// Questions and approvals of a task, oldest first; closed ones too.
    pub async fn pending_of(&self, task: TaskId) -> Result<Vec<PendingRef>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {PENDING} conversation = (SELECT conversation FROM tasks WHERE id = ?1) AND task = ?1 ORDER BY at, id"
            ))?;
            Ok(statement.query_map([task.0], pending)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The question or approval whose id begins or ends so: an open one, or else a closed one, for those who come late.
    pub async fn find_pending(&self, typed: &str) -> Result<Lookup<PendingRef>, ReadError> {
        let Some(digits) = digits(typed) else { return Ok(Lookup::None) };
        self.read(move |connection| {
            let open = find(connection, &format!("{PENDING} item IS NOT NULL AND"), &digits, pending)?;
            match open {
                Lookup::None => Ok(find(connection, PENDING, &digits, pending)?),
                one_or_many => Ok(one_or_many),
            }
        })
        .await
    }
}
