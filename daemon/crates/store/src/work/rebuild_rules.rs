use super::{Answer, Work};
use crate::{
    ledger::{Fault, Ledger, WorkError},
    project, query,
};
use rusqlite::{Connection, types::Value};

/// Rebuilds what follows from the records of the hidden conversation: remembered decisions, and what is
/// forgotten.
pub(crate) struct RebuildRules {
    differed: bool,
    answer: Answer<bool>,
}

impl RebuildRules {
    pub(crate) const fn new(answer: Answer<bool>) -> Self {
        Self { differed: false, answer }
    }
}

fn rows(connection: &Connection) -> rusqlite::Result<Vec<[Value; 7]>> {
    let mut statement = connection.prepare_cached(
        "SELECT digest, seq, allow, source, text, workspace, effect FROM rules ORDER BY digest",
    )?;
    let rows = statement.query_map([], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?])
    })?;
    rows.collect()
}

impl Work for RebuildRules {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let connection = ledger.connection;
        let before = rows(connection)?;
        connection.prepare_cached("DELETE FROM rules")?.execute([])?;
        connection.prepare_cached("DELETE FROM forgotten")?.execute([])?;
        query::each_hidden(connection, |seq, body| project::hidden(connection, seq, &body))?;
        self.differed = rows(connection)? != before;
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.differed));
    }

    fn changes_rules(&self) -> bool {
        self.differed
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
