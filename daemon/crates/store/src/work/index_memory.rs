use super::{Answer, Work};
use crate::{
    column::seq_to_sql,
    ledger::{Fault, Ledger, WorkError},
    memory::{self, Progress},
};
use abide_protocol::Seq;

/// The most records looked at in one piece of work, so that other work does not wait long.
const RECORDS: u64 = 4096;
/// The most bytes of text, for the same reason.
const BYTES: usize = 512 * 1024;

/// Puts the chunks of the next records into the memory's index.
pub(crate) struct IndexMemory {
    progress: Progress,
    answer: Answer<Progress>,
}

impl IndexMemory {
    pub(crate) fn new(answer: Answer<Progress>) -> Self {
        Self { progress: Progress::default(), answer }
    }
}

impl Work for IndexMemory {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let connection = ledger.connection;
        memory::empty_old_form(connection)?;
        let Progress { remembered_to, newest } = memory::progress(connection)?;
        let mut end = Seq(remembered_to.0.saturating_add(RECORDS)).min(newest);
        let mut bytes = 0;
        memory::each_chunked(connection, remembered_to, end, |record| {
            bytes += memory::insert(connection, &record)?;
            if bytes >= BYTES {
                end = record.seq;
            }
            Ok(bytes < BYTES)
        })?;
        connection.prepare_cached("UPDATE memory_progress SET seq = ?1")?.execute([seq_to_sql(end)])?;
        self.progress = Progress { remembered_to: end, newest };
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.progress));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
