//! What passages mean, as vectors that an embedder makes.

use super::recall::{CANDIDATES, Recallable};
use crate::{
    Store,
    error::{ReadError, WriteError},
    memory, work,
    writer::Lane,
};
use rusqlite::{Connection, params_from_iter};
use std::cmp::Ordering;

/// How many are kept before the nearest of them are chosen.
const AT_ONCE: usize = 1024;

/// What a text means to an embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning<'a> {
    /// Names the model and the program that runs it.
    pub embedder: &'a str,
    /// A byte a number; only its direction counts.
    pub vector: &'a [i8],
}

/// Names a passage, in the order in which they were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassageId(i64);

/// A passage without a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub id: PassageId,
    /// What it answers, and what it says.
    pub text: String,
}

/// The chunks that mean about the same, the nearest first.
pub(super) fn with_meaning(
    connection: &Connection,
    Meaning { embedder, vector }: Meaning<'_>,
    what: &Recallable,
) -> rusqlite::Result<Vec<i64>> {
    if !memory::are_of(connection, embedder)? {
        return Ok(Vec::new());
    }
    // Two readings in the order of the ids, not a join: that would look up each vector's passage.
    let sql = format!("SELECT c.id FROM chunks c WHERE {} ORDER BY c.id", what.of_chunk());
    let mut recallable = connection.prepare_cached(&sql)?;
    let mut recallable =
        recallable.query_map(params_from_iter(what.after(None)), |row| row.get::<_, i64>(0))?.peekable();
    let mut vectors = connection.prepare_cached("SELECT id, vector FROM vectors ORDER BY id")?;
    let mut vectors = vectors.query([])?;
    let mut found: Vec<(f32, i64)> = Vec::new();
    while let Some(row) = vectors.next()? {
        let id = row.get(0)?;
        while recallable.next_if(|next| next.as_ref().is_ok_and(|next| *next < id)).is_some() {}
        if recallable.next_if(|next| next.as_ref().is_ok_and(|next| *next == id)).is_none() {
            continue;
        }
        let similarity = memory::similarity(vector, row.get_ref(1)?.as_blob()?);
        found.extend(similarity.map(|similarity| (similarity, id)));
        if found.len() == AT_ONCE {
            keep_nearest(&mut found);
        }
    }
    if let Some(Err(error)) = recallable.next() {
        return Err(error);
    }
    keep_nearest(&mut found);
    found.sort_unstable_by(nearer);
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

fn keep_nearest(found: &mut Vec<(f32, i64)>) {
    if found.len() > CANDIDATES as usize {
        found.select_nth_unstable_by(CANDIDATES as usize, nearer);
        found.truncate(CANDIDATES as usize);
    }
}

/// Of two that are as near, the newer first.
fn nearer(a: &(f32, i64), b: &(f32, i64)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1))
}

impl Store {
    /// Passages without a vector of this embedder, the newest first, from before the given one on back.
    /// Brings the memory up to date when it begins with the newest.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn passages_without_vector(
        &self,
        embedder: &str,
        before: Option<PassageId>,
        limit: u32,
    ) -> Result<Vec<Passage>, ReadError> {
        if before.is_none() {
            self.update_memory().await?;
        }
        let embedder = embedder.to_owned();
        self.read(move |connection| {
            let mut before = before.map_or(i64::MAX, |PassageId(id)| id);
            loop {
                let missing = memory::missing(connection, &embedder, before, limit)?;
                let Some(last) = missing.last() else { return Ok(Vec::new()) };
                before = *last;
                let mut passages = Vec::new();
                for id in missing {
                    let chunk = memory::chunk(connection, id)?;
                    passages.extend(chunk.map(|(_, it)| Passage { id: PassageId(id), text: it.indexed() }));
                }
                // The records of none of them can be read: there may be others behind them.
                if !passages.is_empty() {
                    return Ok(passages);
                }
            }
        })
        .await
    }

    /// Keeps an embedder's vectors of passages. They take the place of all vectors of another embedder, or of
    /// another length: two kinds are never mixed. A passage that has gone meanwhile gets none.
    ///
    /// # Errors
    /// The disk is full, or the database cannot be written.
    pub async fn keep_vectors(
        &self,
        embedder: &str,
        vectors: Vec<(PassageId, Vec<i8>)>,
    ) -> Result<(), WriteError> {
        let vectors = vectors.into_iter().map(|(PassageId(id), vector)| (id, vector)).collect();
        let work = |answer| work::KeepVectors::new(embedder.to_owned(), vectors, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }
}
