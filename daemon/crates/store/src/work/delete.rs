use super::{Answer, Fault, Ledger, Refusal, Work};
use crate::{committed::Committed, project};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    notification::{ConversationUpdate, InboxUpdate},
    record::{ConversationDeleted, Record, RecordBody},
};
use std::sync::Arc;

/// A conversation's end: its records go, one tombstone stays.
pub(crate) struct Delete {
    tombstone: Record,
    removed: u64,
    inbox: Option<InboxUpdate>,
    answer: Answer<u64>,
}

impl Delete {
    pub(crate) fn new(
        conversation: ConversationId,
        now: Timestamp,
        id: RecordId,
        answer: Answer<u64>,
    ) -> Self {
        let tombstone = Record {
            seq: Seq::default(),
            id,
            conversation_id: conversation,
            task_id: None,
            at: now,
            body: RecordBody::ConversationDeleted(ConversationDeleted { records: 0 }),
        };
        Self { tombstone, removed: 0, inbox: None, answer }
    }
}

impl Work for Delete {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let id = self.tombstone.conversation_id;
        let removed = project::close_items(ledger, id)?;
        let delete = |sql: &str| ledger.connection.prepare_cached(sql)?.execute([id.0]);
        if delete("DELETE FROM conversations WHERE id = ?1")? == 0 {
            return Err(Refusal::Gone(id).into());
        }
        delete("DELETE FROM read_marks WHERE conversation = ?1")?;
        self.removed = delete("DELETE FROM records WHERE conversation = ?1")? as u64;
        self.tombstone.body = RecordBody::ConversationDeleted(ConversationDeleted { records: self.removed });
        ledger.append(&mut self.tombstone)?;
        self.inbox = (!removed.is_empty()).then(|| InboxUpdate {
            added: Vec::new(),
            removed,
            count: *ledger.open_items,
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

    fn answer(self: Box<Self>, outcome: Result<(), Refusal>) {
        let _ = self.answer.send(outcome.map(|()| self.removed));
    }

    /// It makes room.
    fn is_urgent(&self) -> bool {
        true
    }

    fn waits_for_room(&self) -> bool {
        false
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn erases(&self) -> bool {
        true
    }
}
