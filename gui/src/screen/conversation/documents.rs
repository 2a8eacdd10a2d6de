//! Parsed Markdown, kept for each message: a streaming reply grows at its end and is not parsed again.
//!
//! Live output follows the fold's changes ([`Documents::follow`]): pieces are pushed, and what was redrawn or
//! begun is parsed from the fold, which has all of a batch's pieces already; such an item must not get them a
//! second time. Recorded messages are parsed when they come near the view ([`Documents::parse`]) and
//! forgotten when there are too many. All text passes `visible`, `drawable` and the linker before it is
//! parsed, live text too: at any time its source is what the recorded message's would be.

use super::links::{Linker, linked};
use crate::emoji::drawable;
use abide_client::{
    protocol::{
        Seq, TaskId,
        message::{Message, MessageKind, Role},
        notification::{DeltaItem, DeltaKind},
        task::AgentTask,
    },
    view::{Change, ConversationView, Entry, Stream},
};
use abide_host::text::visible;
use iced::widget::markdown::Content;
use std::collections::{HashMap, HashSet};

/// How many messages that are not shown stay parsed.
const KEEP: usize = 400;
/// A longer reply is shown block by block, each a row of its own, in bytes.
const LONG: usize = 8 * 1024;

#[derive(Debug, Default)]
pub(super) struct Documents {
    recorded: HashMap<Seq, Content>,
    live: HashMap<DeltaItem, Live>,
    summaries: HashMap<TaskId, Content>,
}

/// A document that grows at its end. Its source is at all times what [`document`] would make of all that
/// came.
#[derive(Debug, Default)]
struct Live {
    content: Content,
    /// The parsed source.
    source: String,
    /// Where the last line of the source begins.
    at: usize,
    /// The last line as received, and the state before it.
    line: String,
    linker: Linker,
}

impl Live {
    fn of(text: &str) -> Self {
        let mut live = Self::default();
        live.push(text);
        live
    }

    /// Adds a piece. The parsed part is kept, unless this piece changes its meaning, as a growing address
    /// does.
    fn push(&mut self, piece: &str) {
        self.line.push_str(piece);
        let came = std::mem::take(&mut self.line);
        let mut end = String::new();
        let mut last = 0;
        for line in came.split_inclusive('\n') {
            let mut linker = self.linker.clone();
            linker.line(&drawable(visible(line)), &mut end);
            if line.ends_with('\n') {
                (self.linker, last) = (linker, end.len());
            } else {
                line.clone_into(&mut self.line);
            }
        }
        match end.strip_prefix(&self.source[self.at..]) {
            Some(more) => {
                self.content.push_str(more);
                self.source.push_str(more);
            }
            None => {
                self.source.truncate(self.at);
                self.source.push_str(&end);
                self.content = Content::parse(&self.source);
            }
        }
        self.at += last;
    }
}

impl Documents {
    #[must_use]
    pub(super) fn of(&self, seq: Seq) -> Option<&Content> {
        self.recorded.get(&seq)
    }

    /// How many rows show this reply, if it is a long one that has been parsed.
    #[must_use]
    pub(super) fn rows_of(&self, message: &Message) -> Option<usize> {
        let document = self.recorded.get(&message.seq).filter(|_| is_long(message))?;
        Some(document.items().len()).filter(|rows| *rows > 1)
    }

    /// Parses the long replies, whose rows are their blocks.
    pub(super) fn parse_long(&mut self, view: &ConversationView) {
        for entry in view.timeline() {
            if let Entry::Message(message) = entry
                && is_long(message)
            {
                self.recorded.entry(message.seq).or_insert_with(|| document(&message.text));
            }
        }
    }

    #[must_use]
    pub(super) fn summary(&self, task: TaskId) -> Option<&Content> {
        self.summaries.get(&task)
    }

    /// Parses a task's summary.
    pub(super) fn parse_summary(&mut self, task: &AgentTask) {
        if let Some(summary) = &task.summary {
            self.summaries.entry(task.id).or_insert_with(|| document(summary));
        }
    }

    #[must_use]
    pub(super) fn live(&self, item: DeltaItem) -> Option<&Content> {
        self.live.get(&item).map(|live| &live.content)
    }

    /// The source of its Markdown.
    #[must_use]
    pub(super) fn live_source(&self, item: DeltaItem) -> Option<&str> {
        self.live.get(&item).map(|live| &*live.source)
    }

    /// How many blocks it has now.
    #[must_use]
    pub(super) fn blocks(&self, item: DeltaItem) -> usize {
        self.live(item).map_or(0, |content| content.items().len())
    }

    /// Follows the fold's changes.
    pub(super) fn follow(&mut self, view: &ConversationView, changes: &[Change]) {
        // The view has all of these changes already: an item parsed from it now must not get its pieces
        // again.
        let mut whole = HashSet::new();
        // Pieces that came together are added together, since each one parses the last block again.
        let mut grown: HashMap<DeltaItem, String> = HashMap::new();
        for change in changes {
            match change {
                Change::Reset => {
                    self.live.clear();
                    grown.clear();
                    for (item, _) in view.live() {
                        self.redraw(view, item);
                        whole.insert(item);
                    }
                }
                Change::Output { item, kind: DeltaKind::Text, text } if !whole.contains(item) => {
                    if self.live.contains_key(item) {
                        grown.entry(*item).or_default().push_str(text);
                    } else {
                        self.redraw(view, *item);
                        whole.insert(*item);
                    }
                }
                Change::Redrawn { item } => {
                    self.redraw(view, *item);
                    whole.insert(*item);
                    grown.remove(item);
                }
                Change::Gone { item, .. } => {
                    self.live.remove(item);
                    grown.remove(item);
                }
                _ => {}
            }
        }
        for (item, text) in grown {
            if let Some(live) = self.live.get_mut(&item) {
                live.push(&text);
            }
        }
    }

    fn redraw(&mut self, view: &ConversationView, item: DeltaItem) {
        let text = view.live_item(item).and_then(|live| live.stream(DeltaKind::Text)).map(Stream::text);
        match text {
            Some(text) => self.live.insert(item, Live::of(&text)),
            None => self.live.remove(&item),
        };
    }

    /// Parses the messages that will be shown.
    pub(super) fn parse(&mut self, view: &ConversationView, shown: impl Iterator<Item = Seq>) {
        if self.recorded.len() > KEEP {
            self.recorded.retain(|seq, _| matches!(view.entry(*seq), Some(Entry::Message(m)) if is_long(m)));
        }
        for seq in shown {
            if let Some(Entry::Message(message)) = view.entry(seq)
                && is_document(message)
            {
                self.recorded.entry(seq).or_insert_with(|| document(&message.text));
            }
        }
    }
}

/// Whether a model wrote it; a person's own text is shown as it is.
#[must_use]
pub(super) const fn is_document(message: &Message) -> bool {
    matches!(message.role, Role::Agent)
}

fn is_long(message: &Message) -> bool {
    message.text.len() > LONG && message.kind != MessageKind::Question && is_document(message)
}

/// The source of a model's text.
#[must_use]
pub(super) fn source(text: &str) -> String {
    linked(&drawable(visible(text)))
}

/// A model's text, parsed for drawing.
#[must_use]
pub(in crate::screen) fn document(text: &str) -> Content {
    Content::parse(&source(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search in a long reply goes to the row of the block that has the match.
    #[test]
    fn the_text_has_the_blocks_of_the_document() {
        for (text, expected) in [
            ("# Why\n\nIt is so.\n\n---\n\n- a\n- b\n\n  c\n\n> d\n>\n> e\n\n```\nf\n\ng\n```\nh", 7),
            ("See ![a picture](p.png) here.\n\n![alone](q.png)\n\nend", 4),
            ("# ![a picture](p.png)\n\n- ![one](q.png)\n- two\n\nend", 4),
            ("| a | b |\n|---|---|\n| ![one](q.png) | 2 |\n\nend", 2),
            ("---\ntitle: none\n---\n\n# Why\n\nend", 2),
            ("A link [a][b].\n\n[b]: https://a.org\n\n<details>\n\nVec<T>\n\n</details>", 4),
        ] {
            let text = source(text);
            assert_eq!(Content::parse(&text).items().len(), expected, "{text}");
            assert_eq!(crate::rendered::blocks(&text).len(), expected, "{text}");
        }
    }

    #[test]
    fn a_document_in_pieces_is_parsed_as_the_whole_one() {
        let text = "Vec<T>, <b> and https://a.org/b?c=d.\r\n\n```\n<p> https://b.org\n```\n<me@a.org> \u{200b}(http://c.org) <";
        let whole = linked(&drawable(visible(text)));
        let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        for size in 1..ends.len() {
            let mut live = Live::default();
            let mut from = 0;
            for to in ends.chunks(size).filter_map(|chunk| chunk.last()) {
                live.push(&text[from..*to]);
                from = *to;
                assert_eq!(live.source, linked(&drawable(visible(&text[..from]))), "in pieces of {size}");
                let (content, expected) = (live.content.items(), Content::parse(&live.source));
                assert_eq!(format!("{content:?}"), format!("{:?}", expected.items()), "in pieces of {size}");
            }
            assert_eq!(live.source, whole);
        }
    }
}
