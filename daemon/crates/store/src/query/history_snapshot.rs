//! A conversation's state, from its snapshot and the records after it.

use super::record::{COLUMNS, record};
use crate::{
    Store, checksum,
    column::{seq, seq_to_sql},
    error::ReadError,
};
use abide_protocol::{ConversationId, Seq, record::Record};
use rusqlite::{Connection, OptionalExtension as _, params};

struct Stored {
    /// The seq of the first record that the state does not include.
    from: Seq,
    form: u32,
    body: Vec<u8>,
}

/// The stored snapshot. A damaged snapshot counts as none, because the records tell the same.
fn history_snapshot(connection: &Connection, id: ConversationId) -> rusqlite::Result<Option<Stored>> {
    let row = connection
        .prepare_cached("SELECT seq, form, body, checksum FROM history_snapshots WHERE conversation = ?1")?
        .query_row([id.0], |row| {
            let stored = Stored { from: seq(row, 0)?, form: row.get(1)?, body: row.get(2)? };
            Ok((stored, row.get::<_, u32>(3)?))
        })
        .optional()?;
    Ok(row.and_then(|(stored, checksum)| {
        let is_whole = checksum == checksum::of_history_snapshot(id, stored.from, stored.form, &stored.body);
        is_whole.then_some(stored)
    }))
}

impl Store {
    /// Folds a conversation's records into a state, on a reader thread, as of one moment.
    ///
    /// Folding begins with the conversation's snapshot if `resume` can read its form and body, else with the
    /// default state and the first record.
    ///
    /// # Errors
    /// A record cannot be read.
    pub async fn fold_records<S: Default + Send + 'static>(
        &self,
        id: ConversationId,
        resume: impl FnOnce(u32, &[u8]) -> Option<S> + Clone + Send + 'static,
        mut fold: impl FnMut(&mut S, &Record) + Clone + Send + 'static,
    ) -> Result<S, ReadError> {
        self.read(move |connection| {
            let resumed = history_snapshot(connection, id)?
                .and_then(|stored| Some((stored.from, resume(stored.form, &stored.body)?)));
            let (from, mut state) = resumed.unwrap_or_default();
            let sql =
                format!("SELECT {COLUMNS} FROM records WHERE conversation = ?1 AND seq >= ?2 ORDER BY seq");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![id.0, seq_to_sql(from)])?;
            while let Some(row) = rows.next()? {
                fold(&mut state, &record(row)?);
            }
            Ok(state)
        })
        .await
    }
}
