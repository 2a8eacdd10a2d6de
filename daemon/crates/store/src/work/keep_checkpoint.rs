use super::{Answer, Work};
use crate::{
    checksum,
    column::{seq, seq_to_sql},
    committed::Checkpoint,
    ledger::{Fault, Ledger, WorkError},
};
use rusqlite::{OptionalExtension as _, params};

/// Keeps a conversation's checkpoint in place of the previous one.
pub(crate) struct KeepCheckpoint {
    checkpoint: Checkpoint,
    answer: Answer<()>,
}

impl KeepCheckpoint {
    pub(crate) const fn new(checkpoint: Checkpoint, answer: Answer<()>) -> Self {
        Self { checkpoint, answer }
    }
}

impl Work for KeepCheckpoint {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let Checkpoint { conversation_id, task_id, form, body } = &self.checkpoint;
        // Newest first, because the task is near the end.
        let start = ledger
            .connection
            .prepare_cached(
                "SELECT seq FROM records WHERE conversation = ?1 AND kind = 'task_started' AND task = ?2
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row(params![conversation_id.0, task_id.0], |row| seq(row, 0))
            .optional()?;
        let Some(start) = start else { return Err(WorkError::Gone(*conversation_id).into()) };
        let checksum = checksum::of_checkpoint(*conversation_id, start, *form, body);
        ledger
            .connection
            .prepare_cached(
                "INSERT OR REPLACE INTO checkpoints (conversation, seq, form, body, checksum)
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
