//! The memory: which passages of conversations have which words.
//!
//! A record gives chunks ([`chunk`]), and a chunk has a row in `chunks` and its words in `memory_words`. The
//! index keeps no text. A chunk's text is made from its record whenever it is needed, and one record always
//! gives the same text. SQLite needs that exact text to take a chunk's words out of the index.
//!
//! The index follows the records when something is recalled, not when they are appended. What chunks mean, as
//! vectors ([`vector`]), is made by an embedder, which is no part of the store.

mod blank;
mod chunk;
mod fuse;
mod index;
mod query;
mod redact;
mod repeated;
mod said;
mod split;
mod vector;

pub(crate) use blank::{blank, blank_gone, drop_sources, note_sources};
pub(crate) use chunk::Chunk;
pub(crate) use fuse::fuse;
pub(crate) use index::{
    Progress, chunk, chunks_at, each_chunked, empty, empty_old_form, insert, is_forgotten, look_again,
    progress, pruned_to, remove, remove_record,
};
pub(crate) use query::to_match;
pub(crate) use repeated::{quoting, with_same_words};
pub(crate) use said::said_at;
pub(crate) use vector::{are_of, keep, missing, similarity};

use abide_protocol::{ConversationId, Seq};
use std::path::Path;

/// The most chunks of a record.
pub(crate) const PARTS: u64 = 16;

/// A chunk's id: its record's seq and its place among the record's chunks.
pub(crate) const fn chunk_id(seq: Seq, part: u64) -> i64 {
    seq.0.wrapping_mul(PARTS).wrapping_add(part).cast_signed()
}

/// The record and the place of a chunk.
pub(crate) const fn of_chunk_id(id: i64) -> (Seq, u64) {
    (Seq(id.cast_unsigned() / PARTS), id.cast_unsigned() % PARTS)
}

/// Whose passages the tasks of a conversation recall: those of all conversations with the same scope, which is
/// the workspace. Private folders are made for one conversation each, and have one scope together.
pub(crate) fn scope(id: ConversationId, workspace: &str) -> &str {
    let is_private = Path::new(workspace).file_name().is_some_and(|name| name == id.to_string().as_str());
    if is_private { "" } else { workspace }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_private_folder_has_the_scope_of_all_private_folders() {
        let id = ConversationId(Uuid::from_u128(7));
        let private = format!("/home/me/.local/share/abide/scratch/{id}");
        assert_eq!(scope(id, &private), "");
        assert_eq!(scope(ConversationId(Uuid::from_u128(8)), &private), private, "it works in another's");
        assert_eq!(scope(id, "/w"), "/w");
    }

    #[test]
    fn a_chunks_id_names_its_record_and_place() {
        for (seq, part) in [(1, 0), (1, 15), (1 << 40, 3)] {
            assert_eq!(of_chunk_id(chunk_id(Seq(seq), part)), (Seq(seq), part));
        }
    }
}
