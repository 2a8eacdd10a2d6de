//! Recalls snippets of other conversations.

use super::meaning::{Meaning, with_meaning};
use crate::{
    Store,
    column::{count, seq_to_sql},
    error::{ReadError, WriteError},
    hidden::HIDDEN,
    memory,
    work::{self, Prune},
    writer::Lane,
};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    memory::{Note, Reason, Snippet},
    record::By,
};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter, types::Value};

/// How many chunks with the words, and how many with the meaning, are looked at, so that enough are left of
/// those that say something new.
pub(super) const CANDIDATES: u32 = 50;
/// How many of the own conversation's newest replies that its transcript has lost are recalled.
const OWN: u32 = 20;
/// The most notes of a list.
const NOTES: u32 = 1000;

/// Parameters of [`Store::recall`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecallQuery<'a> {
    /// Texts with the words to look for; the earlier ones count first.
    pub texts: &'a [&'a str],
    /// What the texts mean; `None`: only their words count.
    pub meaning: Option<Meaning<'a>>,
    /// The recalling conversation's workspace, and the workspaces that share its memory. `None`: all workspaces.
    pub workspaces: Option<&'a [String]>,
    /// The conversation that recalls. It knows what it says, but for the replies that compactions have taken out
    /// of its transcript.
    pub except: Option<ConversationId>,
    /// The most snippets with the words or the meaning.
    pub limit: u32,
    /// For a task that starts: the notes come first and the newest summary last, whatever their words are.
    pub at_start: bool,
}

/// How much can be recalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySize {
    pub conversations: u64,
    /// Those that are indexed.
    pub passages: u64,
    /// Passages whose meaning is known to this embedder.
    pub vectors: u64,
    pub embedder: String,
    pub indexed_to: Seq,
    pub newest: Seq,
}

/// What is recalled: SQL and its parameters.
#[derive(Clone)]
pub(super) struct Recallable {
    /// A query of conversations.
    conversations: String,
    /// A query of the seqs of persons' notes.
    notes: String,
    /// A query of the seqs of the own conversation's replies that its transcript has lost.
    lost: String,
    values: Vec<Value>,
}

impl Recallable {
    /// The condition on a chunk `c`.
    pub(super) fn of_chunk(&self) -> String {
        let Self { conversations, notes, lost, .. } = self;
        let seq = format!("c.id / {}", memory::PARTS);
        format!("(c.conversation IN ({conversations}) OR {seq} IN ({notes}) OR {seq} IN ({lost}))")
    }

    /// The parameters, with one for what stands before the condition.
    pub(super) fn after(&self, first: Option<Value>) -> impl Iterator<Item = Value> {
        first.into_iter().chain(self.values.iter().cloned())
    }
}

fn recallable(workspaces: Option<&[String]>, except: Option<ConversationId>) -> Recallable {
    let scope = |workspace: &String| match except {
        Some(id) => memory::scope(id, workspace).to_owned(),
        None => workspace.clone(),
    };
    let scopes =
        workspaces.map(|all| serde_json::json!(all.iter().map(scope).collect::<Vec<_>>()).to_string());
    let mut conditions = vec!["memory <> 'private'"];
    let mut values = Vec::new();
    // Plain placeholders: they are counted where the query stands.
    if let Some(scopes) = &scopes {
        conditions.push("scope IN (SELECT value FROM json_each(?))");
        values.push(Value::from(scopes.clone()));
    }
    if let Some(id) = except {
        conditions.push("id <> ?");
        values.push(Value::from(id.0.as_bytes().to_vec()));
    }
    let conversations = format!("SELECT id FROM conversations WHERE {}", conditions.join(" AND "));
    let mut notes = "SELECT seq FROM records WHERE conversation = ? AND kind = 'note_added'".to_owned();
    values.push(Value::from(HIDDEN.0.as_bytes().to_vec()));
    if let Some(scopes) = scopes {
        let workspace = "body ->> '$.workspace'";
        notes.push_str(&format!(
            " AND ({workspace} IS NULL OR {workspace} IN (SELECT value FROM json_each(?)))"
        ));
        values.push(Value::from(scopes));
    }
    let lost = except.map_or("SELECT seq FROM records WHERE 0".to_owned(), |id| {
        values.extend([id; 3].map(|id| Value::from(id.0.as_bytes().to_vec())));
        lost()
    });
    Recallable { conversations, notes, lost, values }
}

/// A query of the seqs of the newest replies of steps that are a line in the transcript. What else is said in a
/// step is in that line, and a person's own words are never lost.
fn lost() -> String {
    format!(
        "SELECT seq FROM (SELECT seq FROM records
             WHERE conversation = ? AND kind = 'reply'
             AND seq < (SELECT max(seq) FROM records WHERE conversation = ? AND kind = 'compacted')
             AND (task, body ->> '$.step') IN (
                 SELECT r.task, step.value ->> '$.step' FROM records r, json_each(r.body, '$.steps') step
                 WHERE r.conversation = ? AND r.kind = 'compacted')
             ORDER BY seq DESC LIMIT {OWN})"
    )
}

/// The chunks with any of the words, the best first.
fn with_words(connection: &Connection, texts: &[String], what: &Recallable) -> rusqlite::Result<Vec<i64>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let Some(words) = memory::to_match(&texts) else { return Ok(Vec::new()) };
    // CROSS JOIN: the words come first.
    let sql = format!(
        "SELECT w.rowid FROM memory_words w CROSS JOIN chunks c ON c.id = w.rowid
         WHERE w.text MATCH ? AND {}
         ORDER BY bm25(memory_words), w.rowid DESC LIMIT {CANDIDATES}",
        what.of_chunk()
    );
    let parameters = what.after(Some(Value::from(words)));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(parameters), |row| row.get(0))?.collect()
}

/// The chunks of a source, `summary` or `note`, the newest first.
fn newest(
    connection: &Connection,
    source: &str,
    what: &Recallable,
    limit: u32,
) -> rusqlite::Result<Vec<i64>> {
    // The source is in the query: its index is only for this one.
    let sql = format!(
        "SELECT c.id FROM chunks c WHERE c.source = '{source}' AND {} ORDER BY c.id DESC LIMIT {limit}",
        what.of_chunk()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(what.after(None)), |row| row.get(0))?.collect()
}

/// The snippet of a chunk. `None`: its record cannot be read.
fn snippet(connection: &Connection, id: i64, why: Vec<Reason>) -> Result<Option<Snippet>, ReadError> {
    let Some((record, chunk)) = memory::chunk(connection, id)? else { return Ok(None) };
    let title: Option<String> = match record.conversation_id {
        HIDDEN => Some(String::new()),
        id => connection
            .prepare_cached("SELECT title FROM conversations WHERE id = ?1")?
            .query_row(params![id.0], |row| row.get(0))
            .optional()?,
    };
    let Some(title) = title else { return Ok(None) };
    let memory::Chunk { source, before, text } = chunk;
    Ok(Some(Snippet {
        conversation_id: record.conversation_id,
        title,
        seq: record.seq,
        at: record.at,
        source,
        before,
        text,
        why,
    }))
}

/// Adds the snippets of chunks, one of each record and of each text, until there are `most`.
fn add(
    connection: &Connection,
    chunks: impl IntoIterator<Item = (i64, Vec<Reason>)>,
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
            Some(known) if snippet.why == [Reason::Newest] => known.why.extend(snippet.why),
            Some(_) => {}
            None => snippets.push(snippet),
        }
    }
    Ok(())
}

impl Store {
    /// Snippets of other conversations that have to do with the texts, the best first. Private conversations
    /// have none. The first call after many appends takes longer, because it updates the index.
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

    /// Whether a conversation with these workspaces could recall anything.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn remembers(&self, id: ConversationId, workspaces: &[String]) -> Result<bool, ReadError> {
        let what = recallable(Some(workspaces), Some(id));
        self.read(move |connection| {
            let sql = format!("{} UNION ALL {} UNION ALL {}", what.conversations, what.notes, what.lost);
            Ok(connection.prepare_cached(&sql)?.exists(params_from_iter(what.after(None)))?)
        })
        .await
    }

    async fn recall_once(&self, query: RecallQuery<'_>) -> Result<Vec<Snippet>, ReadError> {
        let RecallQuery { texts, meaning, workspaces, except, limit, at_start } = query;
        let what = recallable(workspaces, except);
        self.update_memory().await?;
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let meaning = meaning.map(|Meaning { embedder, vector }| (embedder.to_owned(), vector.to_vec()));
        // After a repair the index is empty, so the recall is repeated with an update of the index.
        self.read_once(move |connection| {
            let by_words = with_words(connection, &texts, &what)?;
            let by_meaning = match &meaning {
                Some((embedder, vector)) => with_meaning(connection, Meaning { embedder, vector }, &what)?,
                None => Vec::new(),
            };
            let found = memory::fuse(&by_words, &by_meaning).into_iter().map(|found| (found.id, found.why()));
            let mut recalled = Vec::new();
            if at_start {
                let notes = newest(connection, "note", &what, CANDIDATES)?;
                add(
                    connection,
                    notes.into_iter().map(|note| (note, vec![Reason::Note])),
                    usize::MAX,
                    &mut recalled,
                )?;
            }
            let most = recalled.len() + limit as usize;
            add(connection, found, most, &mut recalled)?;
            if at_start {
                let summary = newest(connection, "summary", &what, 1)?;
                add(
                    connection,
                    summary.into_iter().map(|id| (id, vec![Reason::Newest])),
                    most + 1,
                    &mut recalled,
                )?;
            }
            Ok(recalled)
        })
        .await
    }

    /// The notes of these workspaces and those for all, the newest first, at most 1,000. `None`: of all workspaces.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn notes(&self, workspaces: Option<&[String]>) -> Result<Vec<Note>, ReadError> {
        self.update_memory().await?;
        let what = recallable(workspaces, None);
        self.read(move |connection| {
            let mut notes = Vec::new();
            for id in newest(connection, "note", &what, NOTES)? {
                let Some(note) = snippet(connection, id, vec![Reason::Note])? else { continue };
                let Snippet { conversation_id, seq, at, text, .. } = note;
                let workspace = connection
                    .prepare_cached(
                        "SELECT coalesce((SELECT workspace FROM conversations WHERE id = r.conversation),
                             r.body ->> '$.workspace') FROM records r WHERE r.seq = ?1",
                    )?
                    .query_row([seq_to_sql(seq)], |row| row.get(0))?;
                let conversation_id = Some(conversation_id).filter(|id| *id != HIDDEN);
                notes.push(Note { seq, at, text, conversation_id, workspace });
            }
            Ok(notes)
        })
        .await
    }

    /// Takes what old passages mean out of the memory, by a record with the given id; with `words` the passages
    /// too, and the index is filled again without them. Returns how many passages. Records, and notes, stay.
    ///
    /// # Errors
    /// The database cannot be read or written.
    pub async fn prune_memory(
        &self,
        prune: Prune,
        words: bool,
        by: By,
        now: Timestamp,
        id: RecordId,
    ) -> Result<u64, ReadError> {
        self.update_memory().await?;
        let work = |answer| work::PruneMemory::new(prune, words, by, now, id, answer);
        let gone =
            self.queue.run(Lane::Ordinary, work).await.map_err(WriteError::from).map_err(ReadError::Index)?;
        self.update_memory().await?;
        Ok(gone)
    }

    /// How much can be recalled.
    pub async fn memory_size(&self) -> Result<MemorySize, ReadError> {
        self.read(|connection| {
            let counted = |sql: &str| connection.prepare_cached(sql)?.query_row([], |row| count(row, 0));
            let memory::Progress { remembered_to, newest } = memory::progress(connection)?;
            Ok(MemorySize {
                conversations: counted("SELECT count(*) FROM conversations WHERE memory <> 'private'")?,
                passages: counted("SELECT count(*) FROM chunks")?,
                vectors: counted("SELECT count(*) FROM vectors")?,
                embedder: connection.query_row("SELECT id FROM embedder", [], |row| row.get(0))?,
                indexed_to: remembered_to,
                newest,
            })
        })
        .await
    }

    /// Puts the records up to the newest one into the memory's index. On a full disk the index stays as it is.
    pub(super) async fn update_memory(&self) -> Result<(), ReadError> {
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
