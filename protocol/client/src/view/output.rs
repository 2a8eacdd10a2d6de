use super::{
    change::Change,
    recent::Recent,
    stream::{Inserted, Stream},
};
use abide_protocol::{
    Seq, TaskId,
    notification::{DeltaItem, DeltaKind},
};
use std::collections::BTreeMap;

/// Live output of a reply that is being written or a call that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveItem {
    pub task_id: TaskId,
    pub attempt: u32,
    streams: BTreeMap<DeltaKind, Stream>,
}

impl LiveItem {
    #[must_use]
    pub fn stream(&self, kind: DeltaKind) -> Option<&Stream> {
        self.streams.get(&kind)
    }
}

/// A piece of live output, from a delta or a snapshot.
pub(super) struct Piece<'a> {
    pub(super) task_id: TaskId,
    pub(super) item: DeltaItem,
    pub(super) attempt: u32,
    pub(super) kind: DeltaKind,
    pub(super) offset: u64,
    pub(super) text: &'a str,
}

/// Which attempts of an item are over.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attempts {
    UpTo(u32),
    All,
}

/// All live output of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Output {
    items: BTreeMap<DeltaItem, LiveItem>,
    /// Items whose attempts up to this one are recorded or withdrawn. A delta may still arrive after the
    /// record that closes its item, while both wait in the daemon's queue.
    closed: Recent<DeltaItem, u32>,
    /// Tasks that have ended; a delta may arrive after the record of the end, too.
    ended: Recent<TaskId, ()>,
}

impl Output {
    pub(super) fn iter(&self) -> impl Iterator<Item = (DeltaItem, &LiveItem)> {
        self.items.iter().map(|(id, item)| (*id, item))
    }

    pub(super) fn get(&self, item: DeltaItem) -> Option<&LiveItem> {
        self.items.get(&item)
    }

    pub(super) fn add(&mut self, piece: &Piece<'_>, changes: &mut Vec<Change>) {
        let &Piece { task_id, item, attempt, kind, offset, text } = piece;
        let is_over = self.closed.get(&item).is_some_and(|&closed| attempt <= closed);
        if is_over || self.ended.get(&task_id).is_some() {
            return;
        }
        let fresh = || LiveItem { task_id, attempt, streams: BTreeMap::new() };
        let live = self.items.entry(item).or_insert_with(fresh);
        if attempt < live.attempt {
            return;
        }
        if attempt > live.attempt {
            *live = fresh();
            changes.push(Change::Redrawn { item });
        }
        match live.streams.entry(kind).or_default().insert(offset, text) {
            Inserted::Nothing => {}
            Inserted::Appended { text, gap } => {
                let text = if gap { format!("…{text}") } else { text };
                changes.push(Change::Output { item, kind, text });
            }
            Inserted::Elsewhere => changes.push(Change::Redrawn { item }),
        }
    }

    /// Closes these attempts of an item; `recorded` is the entry that its output became.
    pub(super) fn close(
        &mut self,
        item: DeltaItem,
        over: Attempts,
        recorded: Option<Seq>,
        changes: &mut Vec<Change>,
    ) {
        let attempt = match over {
            Attempts::UpTo(attempt) => attempt,
            Attempts::All => u32::MAX,
        };
        let closed = self.closed.get(&item).map_or(attempt, |&closed| attempt.max(closed));
        self.closed.insert(item, closed);
        if self.items.get(&item).is_some_and(|live| live.attempt <= attempt) {
            self.items.remove(&item);
            changes.push(Change::Gone { item, recorded });
        }
    }

    /// Closes all live items of a task for which `is_over` returns true.
    pub(super) fn close_where(
        &mut self,
        task_id: TaskId,
        recorded: Option<Seq>,
        is_over: impl Fn(DeltaItem) -> bool,
        changes: &mut Vec<Change>,
    ) {
        let over: Vec<DeltaItem> = self
            .items
            .iter()
            .filter(|(item, live)| live.task_id == task_id && is_over(**item))
            .map(|(item, _)| *item)
            .collect();
        for item in over {
            self.close(item, Attempts::All, recorded, changes);
        }
    }

    /// A task has ended: removes all its live output.
    pub(super) fn end(&mut self, task_id: TaskId, changes: &mut Vec<Change>) {
        self.ended.insert(task_id, ());
        self.close_where(task_id, None, |_| true, changes);
    }

    /// Removes all items but those that are live.
    pub(super) fn retain(&mut self, is_live: impl Fn(DeltaItem) -> bool) {
        self.items.retain(|item, _| is_live(*item));
    }
}
