use super::{Answer, Work};
use crate::{
    column::{count, seq_from_sql},
    hidden::{self, HiddenBody, NewHiddenRecord, Pruned},
    ledger::{Fault, Ledger, WorkError},
    memory,
    stored_form::Body as _,
};
use abide_protocol::{RecordId, Seq, Timestamp, record::By};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Which passages of the memory go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prune {
    /// Those of records before this time.
    Before(Timestamp),
    /// All but about so many of the newest.
    AllBut(u64),
}

impl Prune {
    /// The newest record whose passages go.
    fn to(self, connection: &Connection) -> rusqlite::Result<Option<Seq>> {
        let (sql, value) = match self {
            Self::Before(at) => ("SELECT seq FROM records WHERE at < ?1 ORDER BY seq DESC LIMIT 1", at.0),
            Self::AllBut(kept) => (
                "SELECT id / 16 FROM chunks WHERE source <> 'note' ORDER BY id DESC LIMIT 1 OFFSET ?1",
                i64::try_from(kept).unwrap_or(i64::MAX),
            ),
        };
        connection.prepare_cached(sql)?.query_row([value], |row| row.get(0).map(seq_from_sql)).optional()
    }
}

/// Takes old passages out of the memory, or only what they mean.
pub(crate) struct PruneMemory {
    prune: Prune,
    words: bool,
    by: By,
    id: RecordId,
    now: Timestamp,
    passages: u64,
    answer: Answer<u64>,
}

impl PruneMemory {
    pub(crate) const fn new(
        prune: Prune,
        words: bool,
        by: By,
        now: Timestamp,
        id: RecordId,
        answer: Answer<u64>,
    ) -> Self {
        Self { prune, words, by, id, now, passages: 0, answer }
    }
}

impl Work for PruneMemory {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let connection = ledger.connection;
        let Some(to) = self.prune.to(connection)? else { return Ok(()) };
        let pruned = Pruned { to, by: self.by.clone() };
        let body =
            if self.words { HiddenBody::MemoryPruned(pruned) } else { HiddenBody::VectorsPruned(pruned) };
        let end = |to: Seq| memory::chunk_id(Seq(to.0.saturating_add(1)), 0);
        let (begin, end) = (end(memory::pruned_to(connection, body.kind().0)?), end(to));
        self.passages = connection
            .prepare_cached("SELECT count(*) FROM chunks WHERE id >= ?1 AND id < ?2 AND source <> 'note'")?
            .query_row(params![begin, end], |row| count(row, 0))?;
        if self.passages == 0 {
            return Ok(());
        }
        if self.words {
            // Taking each out of the index takes long. It fills again without them.
            memory::empty(connection)?;
        } else {
            connection
                .prepare_cached(
                    "DELETE FROM vectors
                     WHERE id < ?1 AND id IN (SELECT id FROM chunks WHERE id < ?1 AND source <> 'note')",
                )?
                .execute([end])?;
        }
        hidden::append(ledger, NewHiddenRecord { id: self.id, at: self.now, body }).map(drop)
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.passages));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn erases(&self) -> bool {
        true
    }
}
