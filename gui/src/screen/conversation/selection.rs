//! The selection in the timeline, and its text: as the rows showed it when the pointer passed them, or from
//! the model for rows that were not built then.

use super::{Conversation, Message, Row, documents::source};
use crate::{
    effect::Effect,
    font::JOINER,
    rendered,
    widget::list::{End, Selection},
    words,
};
use abide_client::{
    protocol::message::{CallView, MessageKind, Role},
    view::Entry,
};
use abide_host::text::visible;
use std::{collections::HashMap, ops::Range};

/// The two ends in the order of the timeline.
struct Ends<'a> {
    rows: Range<usize>,
    first: &'a End<Row>,
    last: &'a End<Row>,
}

impl Conversation {
    pub(super) fn select(&mut self, selection: Option<Selection<Row>>) -> Vec<Effect> {
        match &selection {
            Some(selection) => {
                let is_text = |(_, text): &&(Row, String)| !text.is_empty();
                self.selected_texts.extend(selection.between.iter().filter(is_text).cloned());
            }
            None => self.selected_texts.clear(),
        }
        self.selection = selection;
        Vec::new()
    }

    /// Drops a selection whose row is gone.
    pub(super) fn keep_selection(&mut self) {
        if self.selection.is_some() && self.ends().is_none() {
            self.selection = None;
            self.selected_texts.clear();
        }
    }

    #[must_use]
    pub(super) const fn has_selection(&self) -> bool {
        self.selection.is_some()
    }

    fn ends(&self) -> Option<Ends<'_>> {
        let Selection { anchor, focus, .. } = self.selection.as_ref()?;
        let place = |end: &End<Row>| self.rows.iter().rposition(|row| *row == end.row);
        let (from, to) = (place(anchor)?, place(focus)?);
        Some(if (from, anchor.offset) <= (to, focus.offset) {
            Ends { rows: from..to, first: anchor, last: focus }
        } else {
            Ends { rows: to..from, first: focus, last: anchor }
        })
    }

    /// The bytes of the built rows that are drawn as selected.
    pub(super) fn selected_parts(&self) -> HashMap<Row, Range<usize>> {
        let Some(Ends { rows, first, last }) = self.ends() else { return HashMap::new() };
        let built = self.window.start.max(rows.start)..self.window.end.min(rows.end + 1);
        let part = |at: usize| {
            let from = if at == rows.start { first.offset } else { 0 };
            let to = if at == rows.end { last.offset } else { usize::MAX };
            Some((*self.rows.get(at)?, from..to))
        };
        built.filter_map(part).collect()
    }

    /// Copies the selection to the clipboard, if there is one.
    pub(super) fn copy_selection(&self) -> Vec<Effect> {
        self.selected_text().map(Effect::Copy).into_iter().collect()
    }

    /// The selected text as it reads on the screen.
    #[must_use]
    pub fn selected_text(&self) -> Option<String> {
        let Ends { rows, first, last } = self.ends()?;
        let part = |end: &End<Row>, part: Range<usize>| {
            let from = end.text.floor_char_boundary(part.start);
            let to = end.text.floor_char_boundary(part.end.min(end.text.len()));
            end.text.get(from..to).unwrap_or_default().replace(JOINER, "")
        };
        if rows.is_empty() {
            return Some(part(first, first.offset..last.offset));
        }
        let between = self.rows.get(rows.start + 1..rows.end).unwrap_or_default();
        let head = part(first, first.offset..usize::MAX);
        let tail = part(last, 0..last.offset);
        let all = std::iter::once(head)
            .chain(between.iter().filter_map(|row| self.text_of(*row)))
            .chain(std::iter::once(tail))
            .filter(|words| !words.is_empty());
        Some(all.collect::<Vec<_>>().join("\n\n"))
    }

    /// The text of a row between the ends. The head of a call has no text of its own to select, but is
    /// highlighted.
    fn text_of(&self, row: Row) -> Option<String> {
        let Some(shown) = self.selected_texts.get(&row) else { return self.words_of(row) };
        let shown = shown.replace(JOINER, "");
        Some(match row {
            Row::Entry(seq) => match self.view.entry(seq)? {
                Entry::Call(call) => format!("{}\n{shown}", head(call)),
                _ => shown,
            },
            _ => shown,
        })
    }

    fn words_of(&self, row: Row) -> Option<String> {
        match row {
            Row::Entry(seq) => match self.view.entry(seq)? {
                Entry::Message(m) if self.rows_of(m).is_some() => rendered::block(&source(&m.text), 0),
                Entry::Message(m) if m.role == Role::Agent && m.kind != MessageKind::Question => {
                    Some(self.folded(m).unwrap_or_else(|| rendered::text(&visible(&m.text))))
                }
                Entry::Message(message) => Some(visible(&message.text).into_owned()),
                Entry::Call(call) if !self.all_open && self.open.get(&call.call_id) != Some(&true) => {
                    Some(head(call))
                }
                _ => self.row_as_text(row),
            },
            Row::Block(seq, block) => match self.view.entry(seq)? {
                Entry::Message(message) => rendered::block(&source(&message.text), block),
                _ => None,
            },
            Row::Live(item, block) => {
                self.documents.live_source(item).and_then(|source| rendered::block(source, block))
            }
            _ => self.row_as_text(row),
        }
    }

    pub(super) fn on_select(selection: Option<Selection<Row>>) -> Message {
        Message::Selected(selection)
    }
}

fn head(call: &CallView) -> String {
    format!("{} {}", visible(&call.tool), visible(words::what(&call.tool, &call.summary)))
}
