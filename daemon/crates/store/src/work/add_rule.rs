use super::{Answer, Work};
use crate::{
    canonical::text_digest,
    hidden::{self, HiddenBody, NewHiddenRecord, RuleAdded},
    ledger::{Fault, Ledger, WorkError},
    rule_id::RuleId,
};
use abide_protocol::{
    RecordId, Timestamp,
    inbox::{RuleEffect, TextRule},
    record::By,
};

/// Remembers a rule for a workspace.
pub(crate) struct AddRule {
    added: RuleAdded,
    id: RecordId,
    now: Timestamp,
    answer: Answer<RuleId>,
}

impl AddRule {
    pub(crate) fn new(rule: TextRule, by: By, now: Timestamp, id: RecordId, answer: Answer<RuleId>) -> Self {
        let added = RuleAdded {
            rule: text_digest(&rule),
            allow: rule.effect == RuleEffect::Allow,
            source: None,
            by: Some(by),
            text: Some(rule),
        };
        Self { added, id, now, answer }
    }
}

impl Work for AddRule {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let body = HiddenBody::RuleAdded(self.added.clone());
        hidden::append(ledger, NewHiddenRecord { id: self.id, at: self.now, body }).map(drop)
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.added.rule));
    }

    fn changes_rules(&self) -> bool {
        true
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
