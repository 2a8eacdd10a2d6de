//! Parsed Markdown, kept per message: what is being said grows at its end and is not parsed again.

use super::links::linked;
use crate::emoji::drawable;
use abide_client::{
    protocol::{
        Seq, TaskId,
        message::{Message, Role},
        notification::{DeltaItem, DeltaKind},
        task::AgentTask,
    },
    text::visible,
    view::{Change, ConversationView, Entry, Stream},
};
use iced::widget::markdown::Content;
use std::collections::{HashMap, HashSet};

/// Messages that stay parsed though they are not shown.
const KEEP: usize = 400;

#[derive(Debug, Default)]
pub(super) struct Documents {
    recorded: HashMap<Seq, Content>,
    live: HashMap<DeltaItem, Content>,
    summaries: HashMap<TaskId, Content>,
}

impl Documents {
    #[must_use]
    pub(super) fn of(&self, seq: Seq) -> Option<&Content> {
        self.recorded.get(&seq)
    }

    #[must_use]
    pub(super) fn summary(&self, task: TaskId) -> Option<&Content> {
        self.summaries.get(&task)
    }

    /// Parses what came of a task.
    pub(super) fn parse_summary(&mut self, task: &AgentTask) {
        if let Some(summary) = &task.summary {
            self.summaries.entry(task.id).or_insert_with(|| document(summary));
        }
    }

    #[must_use]
    pub(super) fn live(&self, item: DeltaItem) -> Option<&Content> {
        self.live.get(&item)
    }

    /// Of how many blocks that consists by now.
    #[must_use]
    pub(super) fn blocks(&self, item: DeltaItem) -> usize {
        self.live(item).map_or(0, |content| content.items().len())
    }

    /// Follows what the fold changed.
    pub(super) fn follow(&mut self, view: &ConversationView, changes: &[Change]) {
        // The view has all of these changes already: what is parsed from it now takes no later piece again.
        let mut whole = HashSet::new();
        // Pieces that came together are parsed together, since each has the last block parsed anew.
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
            if let Some(content) = self.live.get_mut(&item) {
                content.push_str(&drawable(visible(&text)));
            }
        }
    }

    fn redraw(&mut self, view: &ConversationView, item: DeltaItem) {
        let text = view.live_item(item).and_then(|live| live.stream(DeltaKind::Text)).map(Stream::text);
        match text {
            Some(text) => self.live.insert(item, Content::parse(&drawable(visible(&text)))),
            None => self.live.remove(&item),
        };
    }

    /// Parses what is about to be shown.
    pub(super) fn parse(&mut self, view: &ConversationView, shown: impl Iterator<Item = Seq>) {
        if self.recorded.len() > KEEP {
            self.recorded.clear();
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

/// Written by a model; a person's own words are shown as they are.
#[must_use]
pub(super) const fn is_document(message: &Message) -> bool {
    matches!(message.role, Role::Agent)
}

/// What a model has written, to be drawn.
#[must_use]
pub(in crate::screen) fn document(text: &str) -> Content {
    Content::parse(&linked(&drawable(visible(text))))
}
