use super::{Answer, Work};
use crate::{
    checksum,
    column::{seq, seq_to_sql},
    committed::HistorySnapshot,
    ledger::{Fault, Ledger, WorkError},
};
use rusqlite::{OptionalExtension as _, params};

/// Keeps a conversation's snapshot in place of the previous one.
pub(crate) struct KeepHistorySnapshot {
    snapshot: HistorySnapshot,
    answer: Answer<()>,
}

impl KeepHistorySnapshot {
    pub(crate) const fn new(snapshot: HistorySnapshot, answer: Answer<()>) -> Self {
        Self { snapshot, answer }
    }
}

impl Work for KeepHistorySnapshot {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let HistorySnapshot { conversation_id, task_id, form, body } = &self.snapshot;
        // Newest first, because the task's first record is near the end.
        let start = ledger
            .connection
            .prepare_cached(
                "SELECT seq FROM records WHERE conversation = ?1 AND kind = 'task_started' AND task = ?2
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row(params![conversation_id.0, task_id.0], |row| seq(row, 0))
            .optional()?;
        let Some(start) = start else { return Err(WorkError::Gone(*conversation_id).into()) };
        let checksum = checksum::of_history_snapshot(*conversation_id, start, *form, body);
        ledger
            .connection
            .prepare_cached(
                "INSERT OR REPLACE INTO history_snapshots (conversation, seq, form, body, checksum)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![conversation_id.0, seq_to_sql(start), form, body, checksum])?;
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome);
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
