//! Tasks. Lists have root tasks only; a sub-task is part of its root.

use super::{
    Cursor,
    conversation::conversation,
    page_size,
    record::{COLUMNS, records},
};
use crate::{Store, column::at, error::ReadError};
use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    method::task::Agent,
    record::{Intervened, Intervener, InterventionKind, Record, RecordBody, TaskStarted},
    task::AgentTask,
};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use uuid::Uuid;

/// The columns that [`from_row`] reads.
const SELECT: &str = "SELECT id, brief FROM tasks";

fn from_row(row: &Row<'_>) -> Result<AgentTask, ReadError> {
    let id = TaskId(row.get(0)?);
    let brief = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
    serde_json::from_str(brief).map_err(|source| ReadError::Task { id, source })
}

fn tasks(connection: &Connection, sql: &str, params: &[&dyn ToSql]) -> Result<Vec<AgentTask>, ReadError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next()? {
        tasks.push(from_row(row)?);
    }
    Ok(tasks)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tasks {
    All,
    Unfinished,
}

/// Root tasks, newest first, in the short form.
fn listed(
    connection: &Connection,
    conversation: Option<ConversationId>,
    which: Tasks,
    cursor: Cursor,
    limit: usize,
) -> Result<Vec<AgentTask>, ReadError> {
    let of = if conversation.is_some() { "conversation = ?4 AND" } else { "?4 IS NULL AND" };
    let live = match which {
        Tasks::All => "",
        Tasks::Unfinished => "ended = 0 AND",
    };
    let sql = format!(
        "{SELECT} WHERE {of} {live} parent IS NULL AND (started_at, id) < (?1, ?2) ORDER BY started_at DESC, id DESC LIMIT ?3"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tasks(connection, &sql, params![cursor.at, cursor.id, limit, conversation.map(|id| id.0)])
}

/// All root tasks that have not ended, newest first.
pub(super) fn unfinished(connection: &Connection) -> Result<Vec<AgentTask>, ReadError> {
    listed(connection, None, Tasks::Unfinished, Cursor::NEWEST, usize::MAX)
}

/// All tasks that have not ended, newest first.
pub(super) fn unfinished_with_sub_tasks(connection: &Connection) -> Result<Vec<AgentTask>, ReadError> {
    let sql = format!("{SELECT} WHERE ended = 0 ORDER BY started_at DESC, id DESC");
    tasks(connection, &sql, params![])
}

/// A conversation's newest root task and its root tasks that have not ended, newest first; then all sub-tasks
/// of the newest root, oldest first.
pub(super) fn current(connection: &Connection, id: ConversationId) -> Result<Vec<AgentTask>, ReadError> {
    let mut current = listed(connection, Some(id), Tasks::All, Cursor::NEWEST, 1)?;
    let Some(newest) = current.first().map(|task| task.id) else { return Ok(current) };
    let unfinished = listed(connection, Some(id), Tasks::Unfinished, Cursor::NEWEST, usize::MAX)?;
    current.extend(unfinished.into_iter().filter(|task| task.id != newest));
    current.extend(beneath(connection, newest)?);
    Ok(current)
}

/// Selects the ids of a task, `?1`, and of all its sub-tasks. The index by conversation finds a
/// conversation's few sub-tasks; there is no index by parent.
pub(super) const TREE: &str = "WITH RECURSIVE
         mine AS (SELECT t.id, t.parent FROM tasks t JOIN tasks r ON r.conversation = t.conversation
                  WHERE r.id = ?1 AND t.parent IS NOT NULL),
         tree (id) AS (SELECT ?1 UNION SELECT mine.id FROM mine JOIN tree ON mine.parent = tree.id)
     SELECT id FROM tree";

/// All sub-tasks of a task, at any depth, oldest first.
fn beneath(connection: &Connection, root: TaskId) -> Result<Vec<AgentTask>, ReadError> {
    let sql = format!("{SELECT} WHERE id IN ({TREE}) AND id <> ?1 ORDER BY started_at, id");
    tasks(connection, &sql, params![root.0])
}

/// The root above a sub-task, its title and its depth.
#[derive(Debug, Default)]
pub(crate) struct TreePosition {
    /// `None`: the task is a root itself.
    pub(crate) root: Option<TaskId>,
    pub(crate) title: String,
    pub(crate) depth: u32,
}

/// Where a task is in its tree.
pub(crate) fn place(connection: &Connection, id: TaskId) -> rusqlite::Result<TreePosition> {
    let mut above = connection.prepare_cached(
        "SELECT parent, coalesce(json_extract(brief, '$.title'), '') FROM tasks WHERE id = ?1",
    )?;
    let mut read = |id: TaskId| {
        let row =
            above.query_row([id.0], |row| Ok((row.get::<_, Option<Uuid>>(0)?.map(TaskId), row.get(1)?)));
        row.optional()
    };
    let mut place = TreePosition::default();
    let Some((mut parent, title)) = read(id)? else { return Ok(place) };
    place.title = title;
    while let Some(id) = parent {
        place.root = Some(id);
        place.depth = place.depth.saturating_add(1);
        parent = read(id)?.and_then(|(parent, _)| parent);
    }
    Ok(place)
}

/// Which tasks a tree shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeOf {
    Everything,
    Conversation(ConversationId),
    /// A task with all its sub-tasks.
    Task(TaskId),
}

/// The most tasks of a tree that are read.
const MOST: usize = 1000;

fn tree(connection: &Connection, of: TreeOf, with_ended: bool) -> Result<Vec<Agent>, ReadError> {
    let (filter, id) = match of {
        TreeOf::Everything => ("?1 IS NULL".to_owned(), None),
        TreeOf::Conversation(id) => ("conversation = ?1".to_owned(), Some(id.0)),
        TreeOf::Task(id) => (format!("id IN ({TREE})"), Some(id.0)),
    };
    // The named task is the oldest of its tree.
    let first = if matches!(of, TreeOf::Task(_)) { "id = ?1 DESC," } else { "" };
    // All sub-tasks of a task that has ended have ended, too.
    let ended =
        if with_ended { "" } else { "AND (ended = 0 OR id = ?1 OR (SELECT ended FROM tasks WHERE id = ?1))" };
    let sql =
        format!("{SELECT} WHERE {filter} {ended} ORDER BY {first} started_at DESC, id DESC LIMIT {MOST}");
    let agent = |task: AgentTask| {
        let title = match task.parent_id {
            Some(_) => task.title.clone(),
            None => conversation(connection, task.conversation_id)?.map(|c| c.title).unwrap_or_default(),
        };
        let said = interventions(connection, task.conversation_id, task.id)?;
        let user_comment =
            said.iter().find(|i| i.kind == InterventionKind::Comment).map(|i| i.comment.clone());
        let user_content =
            said.into_iter().find(|i| i.kind == InterventionKind::Modify).and_then(|i| i.content);
        Ok(Agent { depth: task.depth, title, user_content, user_comment, task })
    };
    tasks(connection, &sql, params![id])?.into_iter().map(agent).collect()
}

/// People's interventions in a task, newest first.
fn interventions(
    connection: &Connection,
    conversation: ConversationId,
    task: TaskId,
) -> Result<Vec<Intervened>, ReadError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND task = ?2 AND kind = 'intervened' ORDER BY seq DESC"
    );
    let by_person = |record: Record| match record.body {
        RecordBody::Intervened(said) if matches!(said.by, Intervener::Person(_)) => Some(said),
        _ => None,
    };
    let said = records(connection, &sql, params![conversation.0, task.0])?;
    Ok(said.into_iter().filter_map(by_person).collect())
}

/// Parameters of [`Store::tasks`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskQuery {
    /// `None`: all conversations.
    pub conversation: Option<ConversationId>,
    /// Include ended tasks.
    pub with_ended: bool,
    /// The cursor that came with the page before.
    pub cursor: Option<String>,
    /// The most tasks on the page.
    pub limit: u32,
}

impl Store {
    /// Root tasks, newest first, without prompts and scratchpads; with the cursor of the next page, if there
    /// is one.
    pub async fn tasks(&self, query: TaskQuery) -> Result<(Vec<AgentTask>, Option<String>), ReadError> {
        let TaskQuery { conversation, with_ended, cursor, limit } = query;
        let cursor = Cursor::parse(cursor.as_deref())?;
        let limit = page_size(limit);
        let tasks = if with_ended { Tasks::All } else { Tasks::Unfinished };
        self.read(move |connection| {
            let mut page = listed(connection, conversation, tasks, cursor, limit + 1)?;
            let more = page.len() > limit;
            page.truncate(limit);
            let next = page.last().filter(|_| more);
            let next = next.map(|last| Cursor { at: last.started_at.0, id: last.id.0 }.to_text());
            Ok((page, next))
        })
        .await
    }

    /// The newest tasks of a tree. Ended tasks are left out unless asked for.
    pub async fn tree(&self, of: TreeOf, with_ended: bool) -> Result<Vec<Agent>, ReadError> {
        self.read(move |connection| tree(connection, of, with_ended)).await
    }

    /// The whole task with this id.
    pub async fn task(&self, id: TaskId) -> Result<Option<AgentTask>, ReadError> {
        self.read(move |connection| {
            let Some(mut task) = tasks(connection, &format!("{SELECT} WHERE id = ?1"), params![id.0])?.pop()
            else {
                return Ok(None);
            };
            let mut texts =
                connection.prepare_cached("SELECT prompt, scratchpad FROM task_texts WHERE task = ?1")?;
            let scratchpad: String;
            (task.original_prompt, scratchpad) =
                texts.query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            task.scratchpad =
                serde_json::from_str(&scratchpad).map_err(|source| ReadError::Task { id, source })?;
            Ok(Some(task))
        })
        .await
    }

    /// A task's first record.
    pub async fn task_head(
        &self,
        conversation: ConversationId,
        id: TaskId,
    ) -> Result<Option<Box<TaskStarted>>, ReadError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND kind = 'task_started' AND task = ?2"
            );
            let found = records(connection, &sql, params![conversation.0, id.0])?.pop();
            Ok(found.and_then(|record| match record.body {
                RecordBody::TaskStarted(head) => Some(head),
                _ => None,
            }))
        })
        .await
    }

    /// The conversation that a task belongs to.
    pub async fn conversation_of(&self, id: TaskId) -> Result<Option<ConversationId>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached("SELECT conversation FROM tasks WHERE id = ?1")?;
            Ok(statement.query_row([id.0], |row| row.get(0).map(ConversationId)).optional()?)
        })
        .await
    }

    /// Conversations with a task that a starting daemon has to load.
    pub async fn needing_daemon(&self) -> Result<Vec<ConversationId>, ReadError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT DISTINCT conversation FROM tasks WHERE ended = 0 AND needs_daemon")?;
            let ids = statement.query_map([], |row| row.get(0).map(ConversationId))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The next wake-up time of each conversation, soonest first.
    pub async fn wakes(&self) -> Result<Vec<(Timestamp, ConversationId)>, ReadError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT min(wake_at), conversation FROM tasks WHERE wake_at IS NOT NULL
                 GROUP BY conversation ORDER BY 1",
            )?;
            let wakes = statement.query_map([], |row| Ok((at(row, 0)?, ConversationId(row.get(1)?))))?;
            Ok(wakes.collect::<Result<_, _>>()?)
        })
        .await
    }
}
