//! Live output: given to new subscribers as partials, and kept by a stop.

use abide_protocol::{
    ConversationId, TaskId,
    notification::{DeltaItem, DeltaKind, Partial},
    record::{Record, RecordBody},
};
use std::collections::BTreeMap;

/// How many bytes of tool output are kept; a model's reply is kept whole.
const TAIL: usize = 64 * 1024;

/// New live output of one item.
#[derive(Debug, Clone)]
pub struct Delta {
    pub conversation: ConversationId,
    pub task: TaskId,
    pub item: DeltaItem,
    pub attempt: u32,
    pub kind: DeltaKind,
    pub text: String,
}

/// A running attempt.
#[derive(Debug)]
struct Item {
    conversation: ConversationId,
    task: TaskId,
    attempt: u32,
    texts: BTreeMap<DeltaKind, Text>,
}

#[derive(Debug, Default)]
struct Text {
    /// The offset of `text` in the item's output.
    offset: u64,
    text: String,
}

/// The running attempts according to the published records. Output of any other attempt is late, and dropped.
#[derive(Debug, Default)]
pub(super) struct Live {
    items: BTreeMap<DeltaItem, Item>,
}

impl Live {
    /// Starts and ends items as the records say.
    pub(super) fn record(&mut self, record: &Record) {
        match &record.body {
            RecordBody::ModelRequested(r) => self.begin(record, DeltaItem::Reply(r.item), r.attempt),
            RecordBody::CallStarted(s) => self.begin(record, DeltaItem::Call(s.call_id), s.attempt),
            RecordBody::Reply(_) => drop(self.items.remove(&DeltaItem::Reply(record.id))),
            RecordBody::ModelFailed(f) => drop(self.items.remove(&DeltaItem::Reply(f.item))),
            RecordBody::CallFinished(f) => drop(self.items.remove(&DeltaItem::Call(f.call_id))),
            RecordBody::TaskEnded(_) => self.items.retain(|_, item| Some(item.task) != record.task_id),
            RecordBody::ConversationDeleted(_) => {
                self.items.retain(|_, item| item.conversation != record.conversation_id);
            }
            _ => {}
        }
    }

    fn begin(&mut self, record: &Record, item: DeltaItem, attempt: u32) {
        let Some(task) = record.task_id else { return };
        let fresh = Item { conversation: record.conversation_id, task, attempt, texts: BTreeMap::new() };
        self.items.insert(item, fresh);
    }

    /// Adds output and returns its offset. `None`: the attempt does not run.
    pub(super) fn add(&mut self, delta: &Delta) -> Option<u64> {
        let item = self.items.get_mut(&delta.item).filter(|item| item.attempt == delta.attempt)?;
        let live = item.texts.entry(delta.kind).or_default();
        let begins = live.offset + live.text.len() as u64;
        live.text.push_str(&delta.text);
        if delta.kind == DeltaKind::Output && live.text.len() > 2 * TAIL {
            let cut = live.text.floor_char_boundary(live.text.len() - TAIL);
            live.text.drain(..cut);
            live.offset += cut as u64;
        }
        Some(begins)
    }

    pub(super) fn text(&self, item: DeltaItem, kind: DeltaKind) -> String {
        let text = self.items.get(&item).and_then(|item| item.texts.get(&kind));
        text.map(|live| live.text.clone()).unwrap_or_default()
    }

    pub(super) fn contains(&self, item: DeltaItem) -> bool {
        self.items.contains_key(&item)
    }

    pub(super) fn partials(&self, conversation: Option<ConversationId>) -> Vec<Partial> {
        let wanted =
            self.items.iter().filter(|(_, item)| conversation.is_none_or(|c| c == item.conversation));
        wanted
            .flat_map(|(id, item)| {
                item.texts.iter().map(|(kind, live)| Partial {
                    conversation_id: item.conversation,
                    task_id: item.task,
                    item: *id,
                    attempt: item.attempt,
                    kind: *kind,
                    offset: live.offset,
                    text: live.text.clone(),
                })
            })
            .collect()
    }
}
