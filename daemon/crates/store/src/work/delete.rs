use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};
use crate::{column::seq_to_sql, committed::Committed, error::ReadError, memory, project, query};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    memory::Snippet,
    notification::{ConversationUpdate, InboxUpdate},
    record::{ConversationDeleted, Record, RecordBody},
};
use rusqlite::{Connection, params};
use std::sync::Arc;

/// The most messages that are removed from the search index one by one.
const FEW: i64 = 100;

/// What a deletion has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deleted {
    /// How many records are gone.
    pub records: u64,
    /// The conversations whose tasks had recalled it: what they had is taken out of their records.
    pub blanked: Vec<ConversationId>,
}

/// Deletes a conversation's records, and leaves one tombstone.
pub(crate) struct Delete {
    tombstone: Record,
    removed: u64,
    inbox: Option<InboxUpdate>,
    /// The conversations that had recalled it.
    blanked: Vec<ConversationId>,
    answer: Answer<Deleted>,
}

impl Delete {
    pub(crate) fn new(
        conversation: ConversationId,
        now: Timestamp,
        id: RecordId,
        answer: Answer<Deleted>,
    ) -> Self {
        let tombstone = Record {
            seq: Seq::default(),
            id,
            conversation_id: conversation,
            task_id: None,
            at: now,
            body: RecordBody::ConversationDeleted(ConversationDeleted { records: 0 }),
        };
        Self { tombstone, removed: 0, inbox: None, blanked: Vec::new(), answer }
    }
}

/// Removes the conversation's messages from the search index.
///
/// Removing one message takes about a millisecond, because deleted content is overwritten. With more than a
/// few messages the whole index is emptied instead; the next search builds it again, some 30,000 messages a
/// second. The same happens if a record is damaged, because its indexed words are unknown.
fn remove_from_index(connection: &Connection, id: ConversationId) -> Result<(), Fault> {
    let searched_to = query::search_progress(connection)?.searched_to;
    let are_few = query::messages_up_to(connection, id, searched_to, FEW + 1)? <= FEW;
    if !are_few || !remove_each(connection, id, searched_to)? {
        connection.execute_batch(
            "INSERT INTO search (search) VALUES ('delete-all'); UPDATE search_progress SET seq = 0;",
        )?;
    }
    Ok(())
}

/// Removes the messages one by one. `false`: a record cannot be read.
fn remove_each(connection: &Connection, id: ConversationId, searched_to: Seq) -> Result<bool, Fault> {
    let read = query::each_record::<ReadError>(connection, id, |record| {
        // FTS5 needs the indexed text to remove it.
        if let Some(message) = record.message().filter(|message| message.seq <= searched_to) {
            connection
                .prepare_cached("INSERT INTO search (search, rowid, text) VALUES ('delete', ?1, ?2)")?
                .execute(params![seq_to_sql(message.seq), message.text])?;
        }
        Ok(())
    });
    match read {
        Ok(()) => Ok(true),
        Err(ReadError::Record { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Work for Delete {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let id = self.tombstone.conversation_id;
        let removed = project::close_items(ledger, id)?;
        remove_from_index(ledger.connection, id).map_err(Fault::of_index)?;
        memory::remove(ledger.connection, id).map_err(Fault::of_index)?;
        memory::drop_sources(ledger.connection, id)?;
        self.blanked.clear();
        memory::blank(ledger.connection, id, None, Snippet::blank, &mut self.blanked)?;
        let delete = |sql: &str| ledger.connection.prepare_cached(sql)?.execute([id.0]);
        if delete("DELETE FROM conversations WHERE id = ?1")? == 0 {
            return Err(WorkError::Gone(id).into());
        }
        project::forget_calls(ledger.connection, id)?;
        delete("DELETE FROM read_marks WHERE conversation = ?1")?;
        self.removed = delete("DELETE FROM records WHERE conversation = ?1")? as u64;
        self.tombstone.body = RecordBody::ConversationDeleted(ConversationDeleted { records: self.removed });
        ledger.append(&mut self.tombstone)?;
        self.inbox = (!removed.is_empty()).then(|| InboxUpdate {
            added: Vec::new(),
            removed,
            count: ledger.totals.open_items,
        });
        Ok(())
    }

    fn committed(&mut self) -> Option<Arc<Committed>> {
        let conversation_id = self.tombstone.conversation_id;
        Some(Arc::new(Committed {
            conversation_id,
            records: vec![Arc::new(self.tombstone.clone())],
            tasks: Vec::new(),
            inbox: self.inbox.take(),
            conversation: Some(ConversationUpdate { conversation_id, conversation: None }),
        }))
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let Self { answer, removed: records, blanked, .. } = *self;
        let _ = answer.send(outcome.map(|()| Deleted { records, blanked }));
    }

    /// A deletion may use the reserve, because it frees space.
    fn is_urgent(&self) -> bool {
        true
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn erases(&self) -> bool {
        true
    }
}
