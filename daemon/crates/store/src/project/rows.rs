use abide_protocol::ConversationId;
use rusqlite::{Connection, types::Value};

/// Queries for all projections of a conversation, each table in key order.
const TABLES: &[&str] = &[
    "SELECT * FROM conversations WHERE id = ?1",
    "SELECT c.* FROM records r JOIN calls c ON c.seq = r.seq
     WHERE r.conversation = ?1 AND r.kind = 'call_assessed' ORDER BY c.seq",
    "SELECT * FROM tasks WHERE conversation = ?1 ORDER BY id",
    "SELECT x.* FROM task_texts x JOIN tasks t ON t.id = x.task WHERE t.conversation = ?1 ORDER BY x.task",
    "SELECT * FROM inbox WHERE conversation = ?1 ORDER BY id",
    "SELECT * FROM client_messages WHERE conversation = ?1 ORDER BY id",
    "SELECT * FROM external_ids WHERE conversation = ?1 ORDER BY id",
    "SELECT f.* FROM records r JOIN recalled_from f ON f.seq = r.seq
     WHERE r.conversation = ?1 AND r.kind = 'recalled' ORDER BY f.seq, f.source",
];

/// All projections of a conversation, for comparison.
pub(crate) fn rows(connection: &Connection, id: ConversationId) -> rusqlite::Result<Vec<Vec<Value>>> {
    let mut all = Vec::new();
    for sql in TABLES {
        let mut statement = connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map([id.0], |row| (0..columns).map(|n| row.get(n)).collect())?;
        for row in rows {
            all.push(row?);
        }
    }
    Ok(all)
}
