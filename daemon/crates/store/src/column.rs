//! How the protocol's types are stored in columns.

use abide_protocol::{Seq, Timestamp, inbox::TextRule};
use rusqlite::{
    Row, RowIndex,
    types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef},
};
use serde::{
    Serialize,
    de::{DeserializeOwned, IntoDeserializer, value::Error},
};

/// An enum without payload, as its word on the wire.
pub(crate) struct Word<T>(pub(crate) T);

impl<T: Serialize> ToSql for Word<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match serde_json::to_value(&self.0) {
            Ok(serde_json::Value::String(word)) => Ok(ToSqlOutput::from(word)),
            Ok(other) => Err(rusqlite::Error::ToSqlConversionFailure(format!("not a word: {other}").into())),
            Err(e) => Err(rusqlite::Error::ToSqlConversionFailure(e.into())),
        }
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        let read: Result<T, Error> = T::deserialize(word.into_deserializer());
        read.map(Self).map_err(|e| FromSqlError::Other(e.into()))
    }
}

/// A seq for SQLite; one beyond SQLite's range sorts last.
pub(crate) fn seq_to_sql(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

pub(crate) fn seq_from_sql(seq: i64) -> Seq {
    Seq(seq.cast_unsigned())
}

/// Reads a seq from a row.
pub(crate) fn seq(row: &Row<'_>, index: impl RowIndex) -> rusqlite::Result<Seq> {
    row.get(index).map(seq_from_sql)
}

/// Reads a count from a row.
pub(crate) fn count(row: &Row<'_>, index: impl RowIndex) -> rusqlite::Result<u64> {
    row.get(index).map(i64::cast_unsigned)
}

/// Reads a time from a row.
pub(crate) fn at(row: &Row<'_>, index: impl RowIndex) -> rusqlite::Result<Timestamp> {
    row.get(index).map(Timestamp)
}

/// The columns `text`, `workspace` and `effect` of a rule, from this one on; `None` for the decision on one
/// call.
pub(crate) fn text_rule(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<TextRule>> {
    let Some(text) = row.get(first)? else { return Ok(None) };
    let Word(effect) = row.get(first + 2)?;
    Ok(Some(TextRule { text, workspace: row.get(first + 1)?, effect }))
}
