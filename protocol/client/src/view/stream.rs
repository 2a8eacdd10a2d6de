use std::{borrow::Cow, collections::BTreeMap};

/// How many bytes of a live stream are kept, counted from its end.
pub const MAX_STREAM: u64 = 1024 * 1024;

/// A stream of live output, put together from pieces that may overlap, repeat, or leave gaps.
///
/// A piece after a gap is shown at once, with a `…` for the gap, which a later piece may fill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stream {
    /// By offset in bytes. No two touch or overlap, none is empty.
    pieces: BTreeMap<u64, String>,
}

/// What a piece did to a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    Nothing,
    /// It grew at its end; with `gap`, after a hole.
    Appended {
        text: String,
        gap: bool,
    },
    Elsewhere,
}

impl Stream {
    /// All pieces, with a `…` for each gap, also at the front.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self.pieces.first_key_value() {
            None => Cow::Borrowed(""),
            Some((0, whole)) if self.pieces.len() == 1 => Cow::Borrowed(whole),
            Some((first, _)) => {
                let joined = self.pieces.values().map(String::as_str).collect::<Vec<_>>().join("…");
                Cow::Owned(if *first > 0 { format!("…{joined}") } else { joined })
            }
        }
    }

    /// The text after the last gap, at most the last `bytes` bytes of it.
    #[must_use]
    pub fn tail(&self, bytes: usize) -> &str {
        let newest = self.pieces.last_key_value().map_or("", |(_, piece)| piece);
        &newest[newest.ceil_char_boundary(newest.len().saturating_sub(bytes))..]
    }

    /// Whether nothing is missing from the beginning to the end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.pieces.len() <= 1 && self.pieces.first_key_value().is_none_or(|(first, _)| *first == 0)
    }

    /// Where it ends, in bytes from the start of the stream.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.pieces.last_key_value().map_or(0, |(offset, piece)| offset + length(piece))
    }

    /// Adds the new bytes of a piece; existing ones stay. A piece that cannot be right (it ends beyond 2^64,
    /// or an overlap would split a character) adds nothing.
    pub(super) fn insert(&mut self, offset: u64, text: &str) -> Inserted {
        let Some(end) = offset.checked_add(length(text)) else { return Inserted::Nothing };
        let old_end = self.end();
        let mut result = Inserted::Nothing;
        for (from, to) in self.missing(offset, end) {
            let Some(part) = part(text, from - offset, to - offset) else { continue };
            result = if from >= old_end {
                Inserted::Appended { text: part.to_owned(), gap: from > old_end }
            } else {
                Inserted::Elsewhere
            };
            self.put(from, part);
        }
        self.cut();
        result
    }

    /// The parts of this range that no piece covers.
    fn missing(&self, offset: u64, end: u64) -> Vec<(u64, u64)> {
        let mut missing = Vec::new();
        let mut at = offset;
        let before = self.pieces.range(..=offset).next_back();
        let within = self.pieces.range(offset.saturating_add(1)..).take_while(|(start, _)| **start < end);
        for (&start, piece) in before.into_iter().chain(within) {
            if start > at {
                missing.push((at, start));
            }
            at = at.max(start + length(piece));
        }
        if at < end {
            missing.push((at, end));
        }
        missing
    }

    /// Inserts a piece into a gap and joins it with its neighbours.
    fn put(&mut self, offset: u64, text: &str) {
        let end = offset + length(text);
        let after = self.pieces.remove(&end);
        let before = self.pieces.range_mut(..offset).next_back();
        match before.filter(|(start, piece)| **start + length(piece) == offset) {
            Some((_, piece)) => {
                piece.push_str(text);
                piece.push_str(after.as_deref().unwrap_or_default());
            }
            None => {
                let piece = after.map_or_else(|| text.to_owned(), |after| format!("{text}{after}"));
                self.pieces.insert(offset, piece);
            }
        }
    }

    /// Drops everything more than [`MAX_STREAM`] before the end.
    fn cut(&mut self) {
        let floor = self.end().saturating_sub(MAX_STREAM);
        while let Some(first) = self.pieces.first_entry().filter(|first| *first.key() < floor) {
            let (offset, mut piece) = first.remove_entry();
            let surplus = (floor - offset).min(length(&piece));
            let at = piece.ceil_char_boundary(usize::try_from(surplus).unwrap_or(piece.len()));
            piece.drain(..at);
            if !piece.is_empty() {
                self.pieces.insert(offset + length_of(at), piece);
            }
        }
    }
}

fn length(text: &str) -> u64 {
    length_of(text.len())
}

fn length_of(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn part(text: &str, from: u64, to: u64) -> Option<&str> {
    text.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
}

#[cfg(test)]
mod tests;
