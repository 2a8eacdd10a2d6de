//! Remembered decisions: a row for each call, which is that of the newest decision.

use crate::{
    column::seq_to_sql,
    hidden::{HiddenBody, RuleAdded, RuleRemoved},
    ledger::Fault,
};
use abide_protocol::Seq;
use rusqlite::{Connection, params};

/// Updates the rows that follow from a record of the hidden conversation.
pub(crate) fn hidden(connection: &Connection, seq: Seq, body: &HiddenBody) -> Result<(), Fault> {
    match body {
        HiddenBody::RuleAdded(RuleAdded { rule, allow, source, by: _ }) => {
            let source = source.map(seq_to_sql);
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO rules (digest, seq, allow, source) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![rule, seq_to_sql(seq), allow, source])?;
        }
        HiddenBody::RuleRemoved(RuleRemoved { rule, by: _ }) => {
            connection.prepare_cached("DELETE FROM rules WHERE digest = ?1")?.execute([rule])?;
        }
    }
    Ok(())
}
