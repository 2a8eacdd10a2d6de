use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};
use crate::{column::seq_to_sql, committed::Committed, query};
use abide_protocol::{ConversationId, Seq, conversation::Conversation, notification::ConversationUpdate};
use rusqlite::params;
use std::sync::Arc;

/// Marks messages as read.
pub(crate) struct MarkRead {
    conversation: ConversationId,
    seq: Seq,
    now: Option<Conversation>,
    changed: bool,
    answer: Answer<Conversation>,
}

impl MarkRead {
    pub(crate) fn new(conversation: ConversationId, seq: Seq, answer: Answer<Conversation>) -> Self {
        Self { conversation, seq, now: None, changed: false, answer }
    }
}

impl Work for MarkRead {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let connection = ledger.connection;
        let id = self.conversation;
        // The mark is at the last message up to `seq`, so that later ones are unread.
        if let Some(last) = query::last_message(connection, id, self.seq)? {
            self.changed = connection
                .prepare_cached(
                    "INSERT INTO read_marks (conversation, seq) VALUES (?1, ?2)
                     ON CONFLICT (conversation) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq",
                )?
                .execute(params![id.0, seq_to_sql(last)])?
                > 0;
            if self.changed {
                let unread = query::messages_of_others(connection, id, last)?;
                connection
                    .prepare_cached("UPDATE conversations SET unread = ?2 WHERE id = ?1")?
                    .execute(params![id.0, unread.cast_signed()])?;
            }
        }
        let now = query::conversation(connection, id)?.ok_or(WorkError::Gone(id))?;
        self.now = Some(now);
        Ok(())
    }

    fn committed(&mut self) -> Option<Arc<Committed>> {
        self.changed.then(|| {
            Arc::new(Committed {
                conversation_id: self.conversation,
                records: Vec::new(),
                tasks: Vec::new(),
                inbox: None,
                conversation: Some(ConversationUpdate {
                    conversation_id: self.conversation,
                    conversation: self.now.clone(),
                }),
            })
        })
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let Self { conversation, now, answer, .. } = *self;
        let _ = answer.send(outcome.and_then(|()| now.ok_or(WorkError::Gone(conversation))));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
