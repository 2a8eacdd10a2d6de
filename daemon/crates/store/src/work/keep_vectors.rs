use super::{Answer, Work};
use crate::{
    ledger::{Fault, Ledger, WorkError},
    memory,
};

/// Keeps what passages mean. A full disk refuses it.
pub(crate) struct KeepVectors {
    embedder: String,
    vectors: Vec<(i64, Vec<i8>)>,
    answer: Answer<()>,
}

impl KeepVectors {
    pub(crate) const fn new(embedder: String, vectors: Vec<(i64, Vec<i8>)>, answer: Answer<()>) -> Self {
        Self { embedder, vectors, answer }
    }
}

impl Work for KeepVectors {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        Ok(memory::keep(ledger.connection, &self.embedder, &self.vectors)?)
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome);
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
