//! Live output: given to new subscribers as partials, and kept by an end that cuts a reply off.

use abide_protocol::{
    ConversationId, RecordId, TaskId,
    notification::{DeltaItem, DeltaKind, Partial},
    record::{Record, RecordBody},
};
use abide_store::Feed;
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

/// A running attempt, or a broken one whose next attempt has not begun.
#[derive(Debug)]
struct Item {
    conversation: ConversationId,
    task: TaskId,
    is_sub_task: bool,
    attempt: u32,
    /// It has failed. It is no longer live output, and its text is kept for the next attempt.
    is_broken: bool,
    /// The text of the broken attempt before it, in case the task ends before this one has any.
    before: String,
    texts: BTreeMap<DeltaKind, Text>,
}

#[derive(Debug, Default)]
struct Text {
    /// The offset of `text` in the item's output.
    offset: u64,
    text: String,
}

/// The attempts according to the published records. Output of an attempt that does not run is late, and
/// dropped.
#[derive(Debug, Default)]
pub(super) struct Live {
    items: BTreeMap<DeltaItem, Item>,
}

/// Output that was added.
pub(super) struct Added {
    /// Where it begins in the item's output.
    pub(super) offset: u64,
    /// The item's task is a sub-task.
    pub(super) is_sub_task: bool,
}

impl Item {
    fn shown(&self) -> &str {
        self.texts.get(&DeltaKind::Text).map_or(&self.before, |live| &live.text)
    }
}

impl Live {
    /// Starts and ends items as the records say. `is_sub_task`: the record's task is one.
    pub(super) fn record(&mut self, record: &Record, is_sub_task: bool) {
        match &record.body {
            RecordBody::ModelRequested(r) => {
                let before = self.take_broken(record.task_id);
                let before = if r.attempt > 1 { before } else { String::new() };
                self.begin(record, is_sub_task, DeltaItem::Reply(r.item), r.attempt, before);
            }
            RecordBody::CallStarted(s) => {
                self.begin(record, is_sub_task, DeltaItem::Call(s.call_id), s.attempt, String::new());
            }
            RecordBody::Reply(_) => drop(self.items.remove(&DeltaItem::Reply(record.id))),
            RecordBody::ModelFailed(f) => {
                if let Some(item) = self.items.get_mut(&DeltaItem::Reply(f.item)) {
                    item.is_broken = true;
                    item.texts.retain(|kind, _| *kind == DeltaKind::Text);
                }
            }
            RecordBody::CallFinished(f) => drop(self.items.remove(&DeltaItem::Call(f.call_id))),
            RecordBody::TaskEnded(_) => self.items.retain(|_, item| Some(item.task) != record.task_id),
            RecordBody::ConversationDeleted(_) => {
                self.items.retain(|_, item| item.conversation != record.conversation_id);
            }
            _ => {}
        }
    }

    /// Removes the task's broken attempt; returns the text that was shown.
    fn take_broken(&mut self, task: Option<TaskId>) -> String {
        let is_it = |item: &Item| item.is_broken && Some(item.task) == task;
        let mut broken = self.items.extract_if(.., |_, item| is_it(item));
        broken.next().map(|(_, item)| item.shown().to_owned()).unwrap_or_default()
    }

    fn begin(&mut self, record: &Record, is_sub_task: bool, item: DeltaItem, attempt: u32, before: String) {
        let Some(task) = record.task_id else { return };
        let conversation = record.conversation_id;
        let fresh = Item {
            conversation,
            task,
            is_sub_task,
            attempt,
            is_broken: false,
            before,
            texts: BTreeMap::new(),
        };
        self.items.insert(item, fresh);
    }

    /// Adds output. `None`: the attempt does not run.
    pub(super) fn add(&mut self, delta: &Delta) -> Option<Added> {
        let runs = |item: &&mut Item| item.attempt == delta.attempt && !item.is_broken;
        let item = self.items.get_mut(&delta.item).filter(runs)?;
        if delta.kind == DeltaKind::Text {
            item.before.clear();
        }
        let live = item.texts.entry(delta.kind).or_default();
        let begins = live.offset + live.text.len() as u64;
        live.text.push_str(&delta.text);
        if delta.kind == DeltaKind::Output && live.text.len() > 2 * TAIL {
            let cut = live.text.floor_char_boundary(live.text.len() - TAIL);
            live.text.drain(..cut);
            live.offset += cut as u64;
        }
        Some(Added { offset: begins, is_sub_task: item.is_sub_task })
    }

    /// The text that clients were last shown of a reply that is not recorded.
    pub(super) fn shown(&self, reply: RecordId) -> String {
        self.items.get(&DeltaItem::Reply(reply)).map(|item| item.shown().to_owned()).unwrap_or_default()
    }

    pub(super) fn contains(&self, item: DeltaItem) -> bool {
        self.items.get(&item).is_some_and(|item| !item.is_broken)
    }

    pub(super) fn partials(&self, feed: Feed) -> Vec<Partial> {
        let wanted = self.items.iter().filter(|(_, item)| {
            !item.is_broken && feed.has(item.conversation, Some(item.task), item.is_sub_task)
        });
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
