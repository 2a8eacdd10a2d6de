//! What model calls have used.

use crate::{Store, column::count, error::ReadError};
use abide_protocol::{
    ConversationId, Timestamp,
    method::usage::{UsageReply, UsageRow},
    transcript::Usage,
};
use rusqlite::{Row, params};

/// The most rows of a reply.
const MAX_ROWS: usize = 10_000;

/// Parameters of [`Store::usage`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageQuery {
    /// Only calls that ended then or later.
    pub since: Option<Timestamp>,
    /// Only calls that ended on this day (`2026-11-27`, in the local time zone) or later.
    pub since_day: Option<String>,
}

/// A failed call that was sent counts as a call, and so does one that a tool has made. Numbers of tokens come from providers; as REAL they cannot
/// overflow a sum. `CROSS` makes SQLite find replies by the index of kinds instead of reading all records.
const SQL: &str = "
    WITH calls AS (
        SELECT date(r.at / 1000, 'unixepoch', 'localtime') AS day, r.conversation, c.title,
               coalesce(t.brief ->> '$.model', '') AS model,
               coalesce(r.body -> '$.reply.usage', r.body -> '$.usage') AS usage
        FROM conversations c
        CROSS JOIN records r
            ON r.conversation = c.id AND r.kind IN ('reply', 'model_failed', 'call_finished') AND +r.at >= ?1
        LEFT JOIN tasks t ON t.id = r.task
        WHERE r.kind = 'reply' OR r.body ->> '$.sent' OR r.body ->> '$.usage' IS NOT NULL
    )
    SELECT day, model, conversation, title,
           cast(total(usage ->> '$.input') AS INTEGER), cast(total(usage ->> '$.output') AS INTEGER),
           cast(total(usage ->> '$.cacheRead') AS INTEGER), cast(total(usage ->> '$.cacheWrite') AS INTEGER),
           cast(total(usage ->> '$.reasoning') AS INTEGER),
           cast(total(max(coalesce(usage ->> '$.modelCalls', 1), 1)) AS INTEGER),
           iif(count(usage ->> '$.costMicros'), cast(total(usage ->> '$.costMicros') AS INTEGER), NULL)
    FROM calls WHERE day >= ?2
    GROUP BY day, model, conversation ORDER BY day DESC, 11 DESC, model, conversation LIMIT ?3";

fn row(row: &Row<'_>) -> rusqlite::Result<UsageRow> {
    let has_price = row.get::<_, Option<i64>>(10)?.is_some();
    Ok(UsageRow {
        day: row.get(0)?,
        model: row.get(1)?,
        conversation_id: ConversationId(row.get(2)?),
        title: row.get(3)?,
        usage: Usage {
            input: count(row, 4)?,
            output: count(row, 5)?,
            cache_read: count(row, 6)?,
            cache_write: count(row, 7)?,
            reasoning: count(row, 8)?,
            model_calls: count(row, 9)?,
            cost_micros: if has_price { Some(count(row, 10)?) } else { None },
        },
    })
}

impl Store {
    /// By day, model and conversation, newest day first.
    pub async fn usage(&self, query: UsageQuery) -> Result<UsageReply, ReadError> {
        self.read(move |connection| {
            let since = query.since.map_or(i64::MIN, |at| at.0);
            let day = query.since_day.unwrap_or_default();
            let mut statement = connection.prepare_cached(SQL)?;
            let rows = statement.query_map(params![since, day, MAX_ROWS as i64 + 1], row)?;
            let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
            let is_cut = rows.len() > MAX_ROWS;
            rows.truncate(MAX_ROWS);
            Ok(UsageReply { rows, is_cut })
        })
        .await
    }
}
