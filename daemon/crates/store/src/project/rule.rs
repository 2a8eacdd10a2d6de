//! What follows from the hidden conversation: the remembered decisions, a row for each call and each rule with the
//! newest decision, and what is forgotten.

use crate::{
    column::{Word, seq_to_sql},
    hidden::{HiddenBody, MemoryForgotten, RuleAdded, RuleRemoved},
    ledger::Fault,
};
use abide_protocol::Seq;
use rusqlite::{Connection, params};

/// Updates the rows that are derived from a record of the hidden conversation.
pub(crate) fn hidden(connection: &Connection, seq: Seq, body: &HiddenBody) -> Result<(), Fault> {
    match body {
        HiddenBody::RuleAdded(RuleAdded { rule, allow, source, by: _, text }) => {
            let source = source.map(seq_to_sql);
            let (words, workspace) = text.as_ref().map(|rule| (&rule.text, &rule.workspace)).unzip();
            let effect = text.as_ref().map(|rule| Word(rule.effect));
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO rules (digest, seq, allow, source, text, workspace, effect)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![rule, seq_to_sql(seq), allow, source, words, workspace, effect])?;
        }
        HiddenBody::MemoryForgotten(MemoryForgotten { seqs, by: _ }) => {
            for seq in seqs {
                connection
                    .prepare_cached("INSERT OR IGNORE INTO forgotten (seq) VALUES (?1)")?
                    .execute([seq_to_sql(*seq)])?;
            }
        }
        // The memory's index reads these records themselves.
        HiddenBody::NoteAdded(_) | HiddenBody::MemoryPruned(_) | HiddenBody::VectorsPruned(_) => {}
        HiddenBody::RuleRemoved(RuleRemoved { rule, by: _ }) => {
            connection.prepare_cached("DELETE FROM rules WHERE digest = ?1")?.execute([rule])?;
        }
    }
    Ok(())
}
