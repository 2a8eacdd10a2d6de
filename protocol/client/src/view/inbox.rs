use abide_protocol::{
    inbox::{InboxItem, PendingId},
    notification::InboxUpdate,
};

/// What waits for a person, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inbox(Vec<InboxItem>);

impl Inbox {
    #[must_use]
    pub fn items(&self) -> &[InboxItem] {
        &self.0
    }

    #[must_use]
    pub fn get(&self, id: PendingId) -> Option<&InboxItem> {
        self.0.iter().find(|item| item.pending.id() == id)
    }

    pub(super) fn replace(&mut self, items: Vec<InboxItem>) {
        self.0 = items;
    }

    /// Adds the new items that `is_wanted` accepts, removes the closed ones; returns whether anything
    /// changed.
    pub(super) fn apply(&mut self, update: InboxUpdate, is_wanted: impl Fn(&InboxItem) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(|item| !update.removed.contains(&item.pending.id()));
        let mut changed = self.0.len() != before;
        for item in update.added.into_iter().filter(is_wanted) {
            match self.0.iter_mut().find(|known| known.pending.id() == item.pending.id()) {
                Some(known) if *known == item => continue,
                Some(known) => *known = item,
                None => self.0.push(item),
            }
            changed = true;
        }
        changed
    }
}
