//! The hidden conversation: records that belong to no conversation, such as remembered decisions.
//!
//! The hidden conversation has a fixed id and no row in `conversations`. So nothing lists, finds, counts or
//! deletes it, nothing starts in it, and nothing has to create it. Its records have seqs, checksums and
//! backups like all others. The bodies of its records are a type of their own, so that they cannot reach a
//! client or the engine.

use crate::{
    canonical::{rule_digest, text_digest},
    ledger::{Fault, Ledger, WorkError},
    project,
    rule_id::RuleId,
};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    inbox::{RuleEffect, TextRule},
    record::{By, Record, RecordBody, RuleRemembered},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

/// The id of the hidden conversation. It is stored and never changes. No minted id has its version, 8.
pub(crate) const HIDDEN: ConversationId =
    ConversationId(Uuid::from_u128(0xab1d_e000_0000_8000_8000_0000_0000_0000));

/// The body of a record in the hidden conversation. Variants are only ever appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HiddenBody {
    RuleAdded(RuleAdded),
    RuleRemoved(RuleRemoved),
    MemoryForgotten(MemoryForgotten),
    NoteAdded(NoteAdded),
    MemoryPruned(Pruned),
    VectorsPruned(Pruned),
}

/// A decision on a call is remembered, in place of an earlier decision on the same call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleAdded {
    /// The digest of the call. The call's text is only in `source`, and is deleted with the conversation of
    /// `source`.
    pub(crate) rule: RuleId,
    /// The decision allows the call; otherwise it denies the call.
    pub(crate) allow: bool,
    /// The `rule_remembered` record in the conversation of the decision. Absent: the decision was made in no
    /// conversation.
    pub(crate) source: Option<Seq>,
    /// Who decided. Absent: unknown.
    pub(crate) by: Option<By>,
    /// A rule of the rule language; `rule` is its digest. The rule outlives the conversation of the decision.
    pub(crate) text: Option<TextRule>,
}

/// The decision on a call is forgotten: the same call asks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleRemoved {
    pub(crate) rule: RuleId,
    pub(crate) by: By,
}

/// The passages of these records, which say the same, are never recalled again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemoryForgotten {
    pub(crate) seqs: Vec<Seq>,
    pub(crate) by: By,
}

/// A person's note. Forgetting it deletes this record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NoteAdded {
    pub(crate) text: String,
    /// Absent: it is for all workspaces.
    pub(crate) workspace: Option<String>,
    pub(crate) by: By,
}

/// What records up to this one say is recalled no more, or no more by what it means. Notes are not pruned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pruned {
    pub(crate) to: Seq,
    pub(crate) by: By,
}

/// A record of the hidden conversation before it is appended.
#[derive(Debug)]
pub(crate) struct NewHiddenRecord {
    pub(crate) id: RecordId,
    pub(crate) at: Timestamp,
    pub(crate) body: HiddenBody,
}

/// Appends a record to the hidden conversation and updates the rows that are derived from it. Returns its seq.
pub(crate) fn append(
    ledger: &mut Ledger<'_>,
    NewHiddenRecord { id, at, body }: NewHiddenRecord,
) -> Result<Seq, Fault> {
    let seq = ledger.append_body(id, HIDDEN, None, at, &body)?;
    project::hidden(ledger.connection, seq, &body)?;
    Ok(seq)
}

/// The hidden records that follow from a conversation's appended records, which have their seqs already.
pub(crate) fn derived(records: &[Record]) -> Result<Vec<NewHiddenRecord>, Fault> {
    let mut derived = Vec::new();
    let mut by = None;
    for record in records {
        match &record.body {
            // The decision precedes the `rule_remembered` record in the same append.
            RecordBody::ApprovalDecided(decided) => by = Some(decided.by.clone()),
            RecordBody::RuleRemembered(RuleRemembered { rule, allow, text }) => {
                let text = text.as_ref().map(|text| TextRule {
                    text: text.clone(),
                    workspace: rule.workspace.clone(),
                    effect: if *allow { RuleEffect::Allow } else { RuleEffect::Deny },
                });
                let digest = match &text {
                    Some(text) => Some(text_digest(text)),
                    None => rule_digest(&rule.tool, rule.arguments.as_str(), &rule.workspace),
                };
                let rule = digest.ok_or_else(|| {
                    WorkError::Invalid("a rule's arguments are nested too deeply".to_owned())
                })?;
                let by = by.clone();
                let added = RuleAdded { rule, allow: *allow, source: Some(record.seq), by, text };
                derived.push(NewHiddenRecord {
                    id: derived_id(record.id),
                    at: record.at,
                    body: HiddenBody::RuleAdded(added),
                });
            }
            _ => {}
        }
    }
    Ok(derived)
}

/// The id of the hidden record that follows from this record. The id is derived, because the store has no
/// entropy of its own.
fn derived_id(source: RecordId) -> RecordId {
    let mut id = [0; 16];
    id.copy_from_slice(&Sha256::digest(source.0.as_bytes())[..16]);
    RecordId(Builder::from_custom_bytes(id).into_uuid())
}
