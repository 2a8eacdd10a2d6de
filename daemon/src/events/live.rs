//! Output that is under way: what a late subscriber gets as partials, and what a stop keeps.

use abide_protocol::{
    ConversationId, TaskId,
    notification::{DeltaItem, DeltaKind, Partial},
};
use std::collections::BTreeMap;

/// Tool output keeps this much of its tail, in bytes; a model's reply is kept whole.
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

#[derive(Debug)]
struct Text {
    conversation: ConversationId,
    task: TaskId,
    attempt: u32,
    /// Where `text` begins.
    offset: u64,
    text: String,
}

/// All items that are under way.
#[derive(Debug, Default)]
pub(super) struct Live {
    items: BTreeMap<(DeltaItem, DeltaKind), Text>,
}

impl Live {
    /// Adds output; says at which offset it begins.
    pub(super) fn add(&mut self, delta: &Delta) -> u64 {
        let fresh = || Text {
            conversation: delta.conversation,
            task: delta.task,
            attempt: delta.attempt,
            offset: 0,
            text: String::new(),
        };
        let live = self.items.entry((delta.item, delta.kind)).or_insert_with(fresh);
        if live.attempt != delta.attempt {
            *live = fresh();
        }
        let begins = live.offset + live.text.len() as u64;
        live.text.push_str(&delta.text);
        if delta.kind == DeltaKind::Output && live.text.len() > 2 * TAIL {
            let cut = live.text.floor_char_boundary(live.text.len() - TAIL);
            live.text.drain(..cut);
            live.offset += cut as u64;
        }
        begins
    }

    pub(super) fn text(&self, item: DeltaItem, kind: DeltaKind) -> String {
        self.items.get(&(item, kind)).map(|live| live.text.clone()).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, item: DeltaItem) {
        self.items.retain(|(i, _), _| *i != item);
    }

    pub(super) fn remove_task(&mut self, task: TaskId) {
        self.items.retain(|_, live| live.task != task);
    }

    pub(super) fn partials(&self, conversation: Option<ConversationId>) -> Vec<Partial> {
        self.items
            .iter()
            .filter(|(_, live)| conversation.is_none_or(|c| c == live.conversation))
            .map(|((item, kind), live)| Partial {
                conversation_id: live.conversation,
                task_id: live.task,
                item: *item,
                attempt: live.attempt,
                kind: *kind,
                offset: live.offset,
                text: live.text.clone(),
            })
            .collect()
    }
}
