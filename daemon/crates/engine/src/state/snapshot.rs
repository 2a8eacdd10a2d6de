//! A snapshot of a history: the state of a conversation from which a reading can begin at its newest root
//! task, in place of its first record.
//!
//! It is taken at any time while that root is the newest. Folding the root's records a second time changes
//! nothing that a snapshot holds: a conversation's facts are overwritten by the same facts, the first answer
//! to a question stays the first, and the result that is elided already is elided again. So reading from a
//! snapshot comes to the same state as reading all records.

use crate::state::history::{Conversation, First, History};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    inbox::Decision,
    record::RecordBody,
    transcript::{Entry, Transcript},
};
use bincode::{
    config::{Configuration, Fixint, Limit, LittleEndian},
    error::{DecodeError, EncodeError},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// With a limit in bytes, so that a damaged length cannot claim all memory.
const CONFIG: Configuration<LittleEndian, Fixint, Limit<{ 256 << 20 }>> =
    bincode::config::legacy().with_limit();

/// The state from which a reading can begin at a root task's first record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySnapshot {
    /// The root task at whose first record the reading begins.
    pub root: TaskId,
    conversation: Option<Conversation>,
    /// The root's transcript; of that, the entries of earlier roots belong to the snapshot.
    transcript: Transcript,
    inherited: usize,
    answered: BTreeMap<QuestionId, First<Option<String>>>,
    decided: BTreeMap<ApprovalId, First<Decision>>,
}

/// A snapshot's stored state, by reference.
#[derive(Serialize)]
struct Stored<'a> {
    conversation: &'a Option<Conversation>,
    transcript: &'a [Entry],
    answered: &'a BTreeMap<QuestionId, First<Option<String>>>,
    decided: &'a BTreeMap<ApprovalId, First<Decision>>,
}

/// The same as it is read, in the same order.
#[derive(Deserialize)]
struct Read {
    conversation: Option<Conversation>,
    transcript: Vec<Entry>,
    answered: BTreeMap<QuestionId, First<Option<String>>>,
    decided: BTreeMap<ApprovalId, First<Decision>>,
}

/// Why the bytes of a snapshot are not one of [`HistorySnapshot::FORM`].
#[derive(Debug, thiserror::Error)]
pub enum UnreadableHistorySnapshot {
    #[error(transparent)]
    Bytes(#[from] DecodeError),
    #[error("{0} bytes follow its end")]
    Longer(usize),
}

impl HistorySnapshot {
    /// The number of the stored form. Any change of the types in it raises the number; a snapshot of another
    /// form is not read.
    pub const FORM: u32 = 2;

    /// The bytes to store.
    ///
    /// # Errors
    /// None that the types in it allow.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let entries = self.transcript.entries();
        let stored = Stored {
            conversation: &self.conversation,
            transcript: &entries[..self.inherited.min(entries.len())],
            answered: &self.answered,
            decided: &self.decided,
        };
        bincode::serde::encode_to_vec(&stored, CONFIG)
    }
}

impl History {
    /// A snapshot at the newest root task; `None` before the first.
    #[must_use]
    pub fn snapshot(&self) -> Option<HistorySnapshot> {
        let root = self.root()?;
        Some(HistorySnapshot {
            root: root.id,
            conversation: self.conversation.clone(),
            transcript: root.transcript.clone(),
            inherited: root.inherited,
            answered: self.answered.clone(),
            decided: self.decided.clone(),
        })
    }

    /// The state of a snapshot, encoded by [`HistorySnapshot::encode`], before the first record of its root
    /// task is folded.
    ///
    /// # Errors
    /// The bytes are not a snapshot of [`HistorySnapshot::FORM`].
    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, UnreadableHistorySnapshot> {
        let (read, used): (Read, usize) = bincode::serde::decode_from_slice(bytes, CONFIG)?;
        if used < bytes.len() {
            return Err(UnreadableHistorySnapshot::Longer(bytes.len() - used));
        }
        let Read { conversation, transcript, answered, decided } = read;
        Ok(Self { conversation, inherited: transcript.into(), answered, decided, ..Self::default() })
    }
}

/// Counts the records that a reading folds, to know how many of them a snapshot would save.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tail {
    before_root: usize,
    since_root: usize,
}

impl Tail {
    /// Counts one record more.
    pub fn count(&mut self, record: &RecordBody) {
        if matches!(record, RecordBody::TaskStarted(head) if head.parent_id.is_none()) {
            self.before_root += self.since_root;
            self.since_root = 0;
        }
        self.since_root += 1;
    }

    /// Records before the newest root task: those that need not be folded from a snapshot on.
    #[must_use]
    pub const fn saved(&self) -> usize {
        self.before_root
    }

    /// A snapshot was taken at the newest root task.
    pub const fn cut(&mut self) {
        self.before_root = 0;
    }
}
