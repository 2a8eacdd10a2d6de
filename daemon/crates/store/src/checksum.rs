//! Checksums of records and of snapshots of histories. Without checksums a damaged row that is still readable
//! would go unnoticed.
//!
//! CRC-32 detects every single flipped bit and every burst of up to 32 bits. It misses one case in four
//! billion of other damage.

use abide_protocol::{ConversationId, Seq};
use crc32fast::Hasher;
use uuid::Uuid;

/// The columns of a record's row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) seq: Seq,
    pub(crate) id: Uuid,
    pub(crate) conversation: Uuid,
    pub(crate) task: Option<Uuid>,
    pub(crate) at: i64,
    pub(crate) kind: &'a str,
    pub(crate) version: u32,
    pub(crate) body: &'a str,
}

impl Columns<'_> {
    /// The checksum of all columns. Checksums are stored, so every later version must compute the same.
    pub(crate) fn checksum(&self) -> u32 {
        let Self { seq, id, conversation, task, at, kind, version, body } = self;
        let mut hasher = Hasher::new();
        hasher.update(&seq.0.to_le_bytes());
        hasher.update(id.as_bytes());
        hasher.update(conversation.as_bytes());
        if let Some(task) = task {
            hasher.update(task.as_bytes());
        }
        hasher.update(&at.to_le_bytes());
        hasher.update(&version.to_le_bytes());
        // Without the length, a change that moves bytes between the kind and the body would not be detected.
        hasher.update(&(kind.len() as u64).to_le_bytes());
        hasher.update(kind.as_bytes());
        hasher.update(body.as_bytes());
        hasher.finalize()
    }
}

/// The checksum of a snapshot's row. A later version may compute it differently: a snapshot with another
/// checksum is only not used.
pub(crate) fn of_history_snapshot(conversation: ConversationId, from: Seq, form: u32, body: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(conversation.0.as_bytes());
    hasher.update(&from.0.to_le_bytes());
    hasher.update(&form.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns<'_> = Columns {
        seq: Seq(3),
        id: Uuid::from_u128(1),
        conversation: Uuid::from_u128(2),
        task: Some(Uuid::from_u128(4)),
        at: 5,
        kind: "notice",
        version: 1,
        body: r#"{"text":"x"}"#,
    };

    #[test]
    fn the_checksum_of_a_record_never_changes() {
        assert_eq!(COLUMNS.checksum(), 0x6e74_787e);
    }

    #[test]
    fn every_column_is_part_of_the_checksum() {
        let others = [
            Columns { seq: Seq(4), ..COLUMNS },
            Columns { id: Uuid::from_u128(9), ..COLUMNS },
            Columns { conversation: Uuid::from_u128(9), ..COLUMNS },
            Columns { task: None, ..COLUMNS },
            Columns { at: 6, ..COLUMNS },
            Columns { kind: "notices", ..COLUMNS },
            Columns { version: 2, ..COLUMNS },
            Columns { body: r#"{"text":"y"}"#, ..COLUMNS },
            Columns { kind: "notic", body: r#"e{"text":"x"}"#, ..COLUMNS },
        ];
        for other in others {
            assert_ne!(other.checksum(), COLUMNS.checksum(), "{other:?}");
        }
    }
}
