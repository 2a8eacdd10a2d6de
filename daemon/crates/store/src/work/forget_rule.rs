use super::{Answer, Work};
use crate::{
    hidden::{self, HiddenBody, NewHiddenRecord, RuleRemoved},
    ledger::{Fault, Ledger, WorkError},
    rule_id::RuleId,
};
use abide_protocol::{RecordId, Timestamp, record::By};

/// Forgets the remembered decision on a call.
pub(crate) struct ForgetRule {
    removed: RuleRemoved,
    id: RecordId,
    now: Timestamp,
    was_remembered: bool,
    answer: Answer<bool>,
}

impl ForgetRule {
    pub(crate) const fn new(
        rule: RuleId,
        by: By,
        now: Timestamp,
        id: RecordId,
        answer: Answer<bool>,
    ) -> Self {
        Self { removed: RuleRemoved { rule, by }, id, now, was_remembered: false, answer }
    }
}

impl Work for ForgetRule {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        self.was_remembered = ledger
            .connection
            .prepare_cached("SELECT 1 FROM rules WHERE digest = ?1")?
            .exists([self.removed.rule])?;
        if !self.was_remembered {
            return Ok(());
        }
        let body = HiddenBody::RuleRemoved(self.removed.clone());
        hidden::append(ledger, NewHiddenRecord { id: self.id, at: self.now, body }).map(drop)
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.was_remembered));
    }

    fn changes_rules(&self) -> bool {
        self.was_remembered
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
