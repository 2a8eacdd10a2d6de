//! Hides the control block of a reply while the reply is streamed.

use super::block::JSON_FENCE;

/// Lets the text before a control block through. The text that is let through is always the beginning of the
/// text for people in the reply's record. That text has no blanks around it, so blanks at its ends are held
/// back. Any `{` may begin the block, so the text is hidden from there on; the record brings the rest.
#[derive(Debug, Default)]
pub struct BlockFilter {
    /// Whether there may be a block at all.
    is_needed: bool,
    /// May be blanks before a block, or the beginning of its fence.
    held: String,
    has_begun: bool,
    /// In or behind the block.
    is_hidden: bool,
}

impl BlockFilter {
    pub(crate) fn new(is_needed: bool) -> Self {
        Self { is_needed, ..Self::default() }
    }

    /// The part of the text that may be shown now, after this piece has come.
    pub fn push(&mut self, piece: &str) -> String {
        if !self.is_needed {
            return piece.to_owned();
        }
        if self.is_hidden {
            return String::new();
        }
        self.held.push_str(piece);
        // Only a reply with a block loses the blanks that it begins with.
        self.is_hidden = !self.has_begun && self.held.starts_with(char::is_whitespace);
        let block = ["{", JSON_FENCE].iter().filter_map(|begins| self.held.find(begins)).min();
        let clear = match block {
            _ if self.is_hidden => 0,
            Some(at) => {
                self.is_hidden = true;
                at
            }
            None => self.held.len() - beginning_of_fence(&self.held),
        };
        let rest = self.held.split_off(self.held[..clear].trim_end().len());
        self.has_begun |= !self.held.is_empty();
        std::mem::replace(&mut self.held, rest)
    }
}

/// How many bytes at the end of the text may be the beginning of a fence.
fn beginning_of_fence(text: &str) -> usize {
    (1..JSON_FENCE.len()).rev().find(|length| text.ends_with(&JSON_FENCE[..*length])).unwrap_or(0)
}
