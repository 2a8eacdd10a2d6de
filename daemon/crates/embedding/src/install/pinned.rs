//! The published files, of which no other version is taken.

use super::VOCABULARY_BYTES;
use crate::weights::SOURCE;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A published file.
pub(super) struct Pinned {
    pub(super) name: &'static str,
    pub(super) bytes: usize,
    /// In hexadecimal digits.
    pub(super) sha256: &'static str,
}

pub(super) const WEIGHTS: Pinned = Pinned { name: "model.safetensors", bytes: 90_868_376, sha256: SOURCE };
pub(super) const VOCABULARY: Pinned = Pinned {
    name: "vocab.txt",
    bytes: VOCABULARY_BYTES,
    sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
};

impl Pinned {
    pub(super) fn is(&self, content: &[u8]) -> bool {
        content.len() == self.bytes
            && Sha256::digest(content).iter().fold(String::new(), |mut digits, byte| {
                let _ = write!(digits, "{byte:02x}");
                digits
            }) == self.sha256
    }
}
