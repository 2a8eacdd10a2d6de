use super::{Answer, Work};
use crate::{
    column::seq_to_sql,
    error::ReadError,
    hidden::{self, HIDDEN, HiddenBody, MemoryForgotten, NewHiddenRecord},
    ledger::{Fault, Ledger, WorkError},
    memory,
};
use abide_protocol::{ConversationId, RecordId, Seq, Timestamp, memory::Snippet, record::By};

/// What a forgetting has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The records that say it.
    pub records: Vec<Seq>,
    /// How many passages are recalled no more.
    pub passages: u64,
    /// The conversations whose tasks had recalled one of them: it is taken out of their records.
    pub blanked: Vec<ConversationId>,
}

/// Takes what a record says out of the memory.
pub(crate) struct Forget {
    seq: Seq,
    by: By,
    id: RecordId,
    now: Timestamp,
    done: Forgotten,
    answer: Answer<Forgotten>,
}

impl Forget {
    pub(crate) fn new(seq: Seq, by: By, now: Timestamp, id: RecordId, answer: Answer<Forgotten>) -> Self {
        Self { seq, by, id, now, done: Forgotten::default(), answer }
    }
}

impl Work for Forget {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        self.done = Forgotten::default();
        let connection = ledger.connection;
        let record = match memory::said_at(connection, self.seq) {
            Ok(Some(record)) => record,
            // It is none of a conversation, or says nothing that can be read.
            Ok(None) | Err(ReadError::Record { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if memory::is_forgotten(connection, record.seq)? {
            return Ok(());
        }
        memory::empty_old_form(connection)?;
        let (id, Forgotten { records, passages, blanked }) = (record.conversation_id, &mut self.done);
        let forgotten = memory::with_same_words(connection, record)?;
        let quoting = memory::quoting(connection, &forgotten)?;
        for record in &forgotten {
            // The index may not have them yet.
            *passages += memory::chunks_at(connection, record)?.len() as u64;
            memory::blank(connection, id, Some(record.seq), Snippet::blank, blanked)?;
        }
        for record in &quoting {
            memory::blank(connection, id, Some(record.seq), |snippet| snippet.before.clear(), blanked)?;
        }
        for record in forgotten.iter().chain(&quoting) {
            memory::remove_record(connection, record).map_err(|error| Fault::from(error).of_index())?;
        }
        if id == HIDDEN {
            // Nothing but the note is in it.
            let delete = "DELETE FROM records WHERE seq = ?1";
            connection.prepare_cached(delete)?.execute([seq_to_sql(self.seq)])?;
        }
        if *passages > 0 {
            records.extend(forgotten.iter().map(|record| record.seq));
            let seqs = records.clone();
            let body = HiddenBody::MemoryForgotten(MemoryForgotten { seqs, by: self.by.clone() });
            hidden::append(ledger, NewHiddenRecord { id: self.id, at: self.now, body })?;
        }
        // Without the quotation.
        for record in &quoting {
            memory::insert(connection, record)?;
        }
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let Self { answer, done, .. } = *self;
        let _ = answer.send(outcome.map(|()| done));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn erases(&self) -> bool {
        true
    }
}
