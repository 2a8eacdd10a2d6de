use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};
use crate::{
    column::seq_to_sql,
    query::{self, Progress},
};
use abide_protocol::Seq;
use rusqlite::params;
use std::ops::ControlFlow;

/// The most records indexed in one piece of work, so that other work does not wait long.
const RECORDS: u64 = 4096;
/// The most bytes of text, for the same reason.
const BYTES: usize = 1024 * 1024;

/// Indexes the next messages for search.
pub(crate) struct Index {
    progress: Progress,
    answer: Answer<Progress>,
}

impl Index {
    pub(crate) fn new(answer: Answer<Progress>) -> Self {
        Self { progress: Progress::default(), answer }
    }
}

impl Work for Index {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let connection = ledger.connection;
        let Progress { searched_to, newest } = query::search_progress(connection)?;
        let mut end = Seq(searched_to.0.saturating_add(RECORDS)).min(newest);
        let mut bytes = 0;
        query::each_message(connection, searched_to, end, |message| {
            connection
                .prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?
                .execute(params![seq_to_sql(message.seq), message.text])?;
            bytes += message.text.len();
            if bytes < BYTES {
                return Ok::<_, Fault>(ControlFlow::Continue(()));
            }
            end = message.seq;
            Ok(ControlFlow::Break(()))
        })?;
        connection.prepare_cached("UPDATE search_progress SET seq = ?1")?.execute([seq_to_sql(end)])?;
        self.progress = Progress { searched_to: end, newest };
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.progress));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
