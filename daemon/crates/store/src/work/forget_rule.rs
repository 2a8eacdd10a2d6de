use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};

/// Forgets a decision that deleted conversations remembered: they have no records left that could forget it.
pub(crate) struct ForgetRule {
    digest: [u8; 32],
    answer: Answer<()>,
}

impl ForgetRule {
    pub(crate) const fn new(digest: [u8; 32], answer: Answer<()>) -> Self {
        Self { digest, answer }
    }
}

impl Work for ForgetRule {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        ledger
            .connection
            .prepare_cached(
                "DELETE FROM rules WHERE digest = ?1 AND conversation NOT IN (SELECT id FROM conversations)",
            )?
            .execute([self.digest])?;
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome);
    }

    fn changes_rules(&self) -> bool {
        true
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
