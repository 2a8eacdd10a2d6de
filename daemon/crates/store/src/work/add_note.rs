use super::{Answer, Work};
use crate::{
    hidden::{self, HiddenBody, NewHiddenRecord, NoteAdded},
    ledger::{Fault, Ledger, WorkError},
};
use abide_protocol::{RecordId, Seq, Timestamp, record::By};

/// Makes a person's note.
pub(crate) struct AddNote {
    note: NoteAdded,
    id: RecordId,
    now: Timestamp,
    seq: Seq,
    answer: Answer<Seq>,
}

impl AddNote {
    pub(crate) fn new(
        (text, workspace): (String, Option<String>),
        by: By,
        now: Timestamp,
        id: RecordId,
        answer: Answer<Seq>,
    ) -> Self {
        Self { note: NoteAdded { text, workspace, by }, id, now, seq: Seq::default(), answer }
    }
}

impl Work for AddNote {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let body = HiddenBody::NoteAdded(self.note.clone());
        self.seq = hidden::append(ledger, NewHiddenRecord { id: self.id, at: self.now, body })?;
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.seq));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
