//! Recalls snippets of other conversations.

use super::record::record_at;
use crate::{
    Store,
    column::count,
    error::{ReadError, WriteError},
    memory, work,
    writer::Lane,
};
use abide_protocol::{
    ConversationId, Seq,
    memory::{Reason, Snippet},
};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter, types::Value};

/// How many chunks with the words are looked at, so that enough are left of those that say something new.
const CANDIDATES: u32 = 50;

/// Parameters of [`Store::recall`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecallQuery<'a> {
    /// Texts with the words to look for; the earlier ones count first.
    pub texts: &'a [&'a str],
    /// The workspace of the conversation that recalls. `None`: all workspaces.
    pub workspace: Option<&'a str>,
    /// The conversation that recalls; it knows what it says.
    pub except: Option<ConversationId>,
    /// The most snippets with the words.
    pub limit: u32,
    /// The newest summary is recalled too, whatever its words are.
    pub with_newest: bool,
}

/// How much can be recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySize {
    pub conversations: u64,
    /// Those that are indexed.
    pub passages: u64,
    pub indexed_to: Seq,
    pub newest: Seq,
}

/// Whose snippets are recalled, as a query of conversations and its parameters.
fn conversations(scope: Option<&str>, except: Option<ConversationId>) -> (String, Vec<Value>) {
    let mut conditions = vec!["memory <> 'private'"];
    let mut values = Vec::new();
    // Plain placeholders: they are counted where the query stands.
    if let Some(scope) = scope {
        conditions.push("scope = ?");
        values.push(Value::from(scope.to_owned()));
    }
    if let Some(id) = except {
        conditions.push("id <> ?");
        values.push(Value::from(id.0.as_bytes().to_vec()));
    }
    (format!("SELECT id FROM conversations WHERE {}", conditions.join(" AND ")), values)
}

/// The chunks with any of the words, the best first.
fn with_words(
    connection: &Connection,
    texts: &[String],
    (of, values): &(String, Vec<Value>),
) -> rusqlite::Result<Vec<i64>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let Some(words) = memory::to_match(&texts) else { return Ok(Vec::new()) };
    // CROSS JOIN: the words come first.
    let sql = format!(
        "SELECT w.rowid FROM memory_words w CROSS JOIN chunks c ON c.id = w.rowid
         WHERE w.text MATCH ? AND c.conversation IN ({of})
         ORDER BY bm25(memory_words), w.rowid DESC LIMIT {CANDIDATES}"
    );
    let parameters = [Value::from(words)].into_iter().chain(values.iter().cloned());
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(parameters), |row| row.get(0))?.collect()
}

fn newest_summary(
    connection: &Connection,
    (of, values): &(String, Vec<Value>),
) -> rusqlite::Result<Option<i64>> {
    let sql = format!(
        "SELECT id FROM chunks WHERE source = 'summary' AND conversation IN ({of}) ORDER BY id DESC LIMIT 1"
    );
    connection.prepare_cached(&sql)?.query_row(params_from_iter(values.iter()), |row| row.get(0)).optional()
}

/// The snippet of a chunk. `None`: its record cannot be read.
fn snippet(connection: &Connection, chunk: i64, why: Reason) -> Result<Option<Snippet>, ReadError> {
    let (seq, part) = memory::of_chunk_id(chunk);
    let record = match record_at(connection, seq) {
        Ok(Some(record)) => record,
        Ok(None) | Err(ReadError::Record { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let title: Option<String> = connection
        .prepare_cached("SELECT title FROM conversations WHERE id = ?1")?
        .query_row(params![record.conversation_id.0], |row| row.get(0))
        .optional()?;
    let mut chunks = memory::chunks_at(connection, &record)?;
    let part = usize::try_from(part).unwrap_or(usize::MAX);
    let (Some(title), true) = (title, part < chunks.len()) else { return Ok(None) };
    let memory::Chunk { source, before, text } = chunks.swap_remove(part);
    Ok(Some(Snippet {
        conversation_id: record.conversation_id,
        title,
        seq,
        at: record.at,
        source,
        before,
        text,
        why: vec![why],
    }))
}

/// Adds the snippets of chunks, one of each record and of each text, until there are `most`.
fn add(
    connection: &Connection,
    chunks: impl IntoIterator<Item = (i64, Reason)>,
    most: usize,
    snippets: &mut Vec<Snippet>,
) -> Result<(), ReadError> {
    for (chunk, why) in chunks {
        if snippets.len() >= most {
            break;
        }
        let Some(snippet) = snippet(connection, chunk, why)? else { continue };
        let says_the_same = |known: &&mut Snippet| known.seq == snippet.seq || known.text == snippet.text;
        match snippets.iter_mut().find(says_the_same) {
            Some(known) if why == Reason::Newest => known.why.push(why),
            Some(_) => {}
            None => snippets.push(snippet),
        }
    }
    Ok(())
}

impl Store {
    /// Snippets of other conversations that have to do with the texts: the best first, then the newest
    /// summary. Private conversations have none. The first call after many appends takes longer, because it
    /// updates the index.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn recall(&self, query: RecallQuery<'_>) -> Result<Vec<Snippet>, ReadError> {
        match self.recall_once(query).await {
            // The index may have damage that SQLite does not report as such.
            Err(ReadError::Sqlite(_) | ReadError::Index(WriteError::Invalid { .. })) => {
                let _ = self.repair().await;
                self.recall_once(query).await
            }
            found => found,
        }
    }

    /// Whether a conversation with this workspace could recall anything of others.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn remembers(&self, id: ConversationId, workspace: &str) -> Result<bool, ReadError> {
        let scope = memory::scope(id, workspace).to_owned();
        self.read(move |connection| {
            let (of, values) = conversations(Some(&scope), Some(id));
            Ok(connection.prepare_cached(&of)?.exists(params_from_iter(values))?)
        })
        .await
    }

    async fn recall_once(&self, query: RecallQuery<'_>) -> Result<Vec<Snippet>, ReadError> {
        let RecallQuery { texts, workspace, except, limit, with_newest } = query;
        let scope = workspace.map(|workspace| match except {
            Some(id) => memory::scope(id, workspace).to_owned(),
            None => workspace.to_owned(),
        });
        self.update_memory().await?;
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        // After a repair the index is empty, so the recall is repeated with an update of the index.
        self.read_once(move |connection| {
            let of = conversations(scope.as_deref(), except);
            let found = with_words(connection, &texts, &of)?;
            let (most, mut recalled) = (limit as usize, Vec::new());
            add(connection, found.into_iter().zip((1..).map(Reason::Words)), most, &mut recalled)?;
            if with_newest && let Some(newest) = newest_summary(connection, &of)? {
                add(connection, [(newest, Reason::Newest)], most + 1, &mut recalled)?;
            }
            Ok(recalled)
        })
        .await
    }

    /// How much can be recalled.
    pub async fn memory_size(&self) -> Result<MemorySize, ReadError> {
        self.read(|connection| {
            let counted = |sql: &str| connection.prepare_cached(sql)?.query_row([], |row| count(row, 0));
            let memory::Progress { remembered_to, newest } = memory::progress(connection)?;
            Ok(MemorySize {
                conversations: counted("SELECT count(*) FROM conversations WHERE memory <> 'private'")?,
                passages: counted("SELECT count(*) FROM chunks")?,
                indexed_to: remembered_to,
                newest,
            })
        })
        .await
    }

    /// Puts the records up to the newest one into the memory's index. On a full disk the index stays as it is.
    async fn update_memory(&self) -> Result<(), ReadError> {
        let mut progress = self.read(|connection| Ok(memory::progress(connection)?)).await?;
        let target = progress.newest;
        while progress.remembered_to < target {
            progress = match self
                .queue
                .run(Lane::Ordinary, work::IndexMemory::new)
                .await
                .map_err(WriteError::from)
            {
                Ok(progress) => progress,
                Err(WriteError::Closed) => return Err(ReadError::Closed),
                Err(WriteError::Full(_)) => return Ok(()),
                Err(error) => return Err(ReadError::Index(error)),
            };
        }
        Ok(())
    }
}
