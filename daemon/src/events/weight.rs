//! The approximate size of a record in memory: a queue bounded by count alone could hold gigabytes of long
//! records.

use abide_protocol::{codec::binary::encoded_len, limits::MAX_QUEUED_BYTES, record::Record};

/// What a record takes in memory beside its bytes.
const LEAST: usize = 512;

/// The record's size in bytes: that of its binary form, and what any record takes.
pub(super) fn weight(record: &Record) -> usize {
    LEAST + encoded_len(record).unwrap_or(MAX_QUEUED_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::{
        ConversationId, RecordId, Seq, Timestamp,
        record::{ModelTraced, Nudge, RecordBody, Trace},
    };
    use uuid::Uuid;

    #[test]
    fn a_record_weighs_as_much_as_its_texts() {
        const LONG: usize = 100_000;
        let traces = vec![Trace { what: String::new(), raw: "x".repeat(LONG) }];
        for body in [
            RecordBody::Nudge(Nudge::new("x".repeat(LONG))),
            RecordBody::ModelTraced(ModelTraced {
                item: RecordId(Uuid::nil()),
                attempt: 1,
                traces,
                left_out: 0,
            }),
        ] {
            let record = Record {
                seq: Seq(1),
                id: RecordId(Uuid::nil()),
                conversation_id: ConversationId(Uuid::nil()),
                task_id: None,
                at: Timestamp(0),
                body,
            };
            let weight = weight(&record);
            assert!((LONG..LONG + 2 * LEAST).contains(&weight), "{weight}");
        }
    }
}
