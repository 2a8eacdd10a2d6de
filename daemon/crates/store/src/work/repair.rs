use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};

/// Lets the writer make the database anew, because something other than a record is damaged.
pub(crate) struct Repair {
    answer: Answer<()>,
}

impl Repair {
    pub(crate) const fn new(answer: Answer<()>) -> Self {
        Self { answer }
    }
}

impl Work for Repair {
    fn apply(&mut self, _: &mut Ledger<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome);
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn is_repair(&self) -> bool {
        true
    }
}
