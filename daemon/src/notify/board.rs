//! What should be on the screen: at most one notification a conversation, one for all that come to wait
//! within a minute, and one for all that end within a minute. (Not one for both: a question among ends could
//! not be answered from it.)

use super::{
    feed::{Change, Over},
    item::{End, Item},
};
use abide_protocol::{
    ConversationId,
    inbox::{InboxItem, PendingId},
};
use std::{collections::HashSet, time::Duration};
use tokio::time::Instant;

/// News that come within this time after others share their notification.
pub(super) const BURST: Duration = Duration::from_secs(60);
/// The most notifications, the most conversations whose news is held, and the most items of one conversation.
/// What is beyond is in the inbox.
const MOST: usize = 64;

/// What a conversation's notification is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub conversation: ConversationId,
    pub title: String,
    /// In the order in which they were asked; the first is shown.
    pub waits: Vec<Item>,
    /// Shown when nothing waits.
    pub end: Option<End>,
}

impl Entry {
    fn of(change: &Change) -> Self {
        let (conversation, title) = (change.conversation_id, change.title.clone());
        let mut entry = Self { conversation, title, waits: Vec::new(), end: None };
        entry.add(change);
        entry
    }

    fn add(&mut self, change: &Change) {
        self.title.clone_from(&change.title);
        self.extend(&change.asked, change.end.clone());
    }

    /// Adds what it does not have yet.
    fn extend(&mut self, asked: &[Item], end: Option<End>) {
        for item in asked {
            if self.waits.len() < MOST && !self.has(item.id()) {
                self.waits.push(item.clone());
            }
        }
        self.end = end.or_else(|| self.end.take());
    }

    fn has(&self, id: PendingId) -> bool {
        self.waits.iter().any(|item| item.id() == id)
    }

    fn settle(&mut self, change: &Change) {
        self.waits.retain(|item| !change.settled.contains(&item.id()));
        match change.over {
            Some(Over::Silent) => {
                self.waits.clear();
                self.end = None;
            }
            Some(Over::Begun) => self.end = None,
            None => {}
        }
    }

    /// Leaves this item out, because it is being answered.
    fn leave_out(&mut self, id: PendingId) {
        self.waits.retain(|item| item.id() != id);
    }

    pub(super) const fn waits(&self) -> bool {
        !self.waits.is_empty()
    }

    const fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.end.is_none()
    }
}

/// Names a card for as long as the daemon runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CardId(u64);

/// A notification that should be there, with what is shown of it.
#[derive(Debug)]
pub(super) struct Card<S> {
    pub(super) id: CardId,
    /// May be empty: then what is shown is to be closed.
    pub(super) entries: Vec<Entry>,
    begun_at: Instant,
    /// When the last of them had news.
    news_at: Instant,
    pub(super) shown: Option<S>,
}

impl<S> Card<S> {
    /// Whether it may be shown, this long after its first news.
    pub(super) fn is_due(&self, grace: Duration, now: Instant) -> bool {
        self.shown.is_some() || now >= self.begun_at + grace
    }
}

/// All notifications.
#[derive(Debug)]
pub(super) struct Board<S> {
    pub(super) cards: Vec<Card<S>>,
    last_id: CardId,
    /// What is shown later: after the quiet hours, or when there is a server that shows it.
    held: Vec<Entry>,
}

impl<S> Default for Board<S> {
    fn default() -> Self {
        Self { cards: Vec::new(), last_id: CardId(0), held: Vec::new() }
    }
}

impl<S> Board<S> {
    /// Takes back what a change settles.
    pub(super) fn settle(&mut self, change: &Change) {
        let about = |entry: &&mut Entry| entry.conversation == change.conversation_id;
        let shown = self.cards.iter_mut().flat_map(|card| &mut card.entries);
        for entry in shown.chain(&mut self.held).filter(about) {
            entry.settle(change);
        }
        self.tidy();
    }

    /// Takes away the entries that a client shows.
    pub(super) fn looked_at(&mut self, is_shown: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let shown = self.cards.iter_mut().map(|card| &mut card.entries);
        let entries = shown.chain(std::iter::once(&mut self.held));
        entries.flat_map(|all| all.extract_if(.., |entry| is_shown(entry))).collect()
    }

    /// Takes back an item that is being answered.
    pub(super) fn leave_out(&mut self, id: PendingId) {
        for entry in self.cards.iter_mut().flat_map(|card| &mut card.entries) {
            entry.leave_out(id);
        }
        self.tidy();
    }

    /// Adds news to the conversation's notification, to the newest one of their kind if that has news younger
    /// than [`BURST`], or to a new one.
    pub(super) fn show(&mut self, change: &Change, now: Instant) {
        let about = |entry: &&mut Entry| entry.conversation == change.conversation_id;
        for card in &mut self.cards {
            if let Some(entry) = card.entries.iter_mut().find(about) {
                if entry.waits() || change.asked.is_empty() {
                    entry.add(change);
                    card.news_at = now;
                    return;
                }
                // The end of an earlier task.
                card.entries.retain(|entry| entry.conversation != change.conversation_id);
            }
        }
        self.place(Entry::of(change), now);
    }

    fn place(&mut self, entry: Entry, now: Instant) {
        let fits = |card: &&mut Card<S>| {
            let is_like_it = card.entries.first().is_some_and(|first| first.waits() == entry.waits());
            is_like_it && now.duration_since(card.news_at) < BURST && card.entries.len() < MOST
        };
        match self.cards.iter_mut().rev().find(fits) {
            Some(card) => {
                card.entries.push(entry);
                card.news_at = now;
            }
            None => {
                self.last_id.0 += 1;
                let (id, entries) = (self.last_id, vec![entry]);
                self.cards.push(Card { id, entries, begun_at: now, news_at: now, shown: None });
            }
        }
    }

    /// When the next card may be shown that may not be yet.
    pub(super) fn next_due(&self, grace: Duration, now: Instant) -> Option<Instant> {
        let young = self.cards.iter().filter(|card| !card.is_due(grace, now));
        young.map(|card| card.begun_at + grace).min()
    }

    /// The card with this id, if it is still there.
    pub(super) fn card(&mut self, id: CardId) -> Option<&mut Card<S>> {
        self.cards.iter_mut().find(|card| card.id == id)
    }

    /// Drops the cards without entries; returns what is shown of them.
    pub(super) fn drop_empty(&mut self) -> Vec<S> {
        let empty = self.cards.extract_if(.., |card| card.entries.is_empty());
        empty.filter_map(|card| card.shown).collect()
    }

    /// The oldest notification, if there are too many.
    pub(super) fn surplus(&mut self) -> Option<Card<S>> {
        (self.cards.len() > MOST).then(|| self.cards.remove(0))
    }

    /// Keeps news for later.
    pub(super) fn hold(&mut self, change: &Change) {
        self.hold_entry(Entry::of(change));
    }

    /// Keeps an entry for later.
    pub(super) fn hold_entry(&mut self, entry: Entry) {
        let has_room = self.held.len() < MOST;
        match self.held.iter_mut().find(|held| held.conversation == entry.conversation) {
            Some(held) => {
                held.title = entry.title;
                held.extend(&entry.waits, entry.end);
            }
            None if has_room => self.held.push(entry),
            None => {}
        }
    }

    /// Keeps for later what is not shown.
    pub(super) fn hold_unshown(&mut self) {
        let unshown: Vec<_> = self.cards.extract_if(.., |card| card.shown.is_none()).collect();
        unshown.into_iter().flat_map(|card| card.entries).for_each(|entry| self.hold_entry(entry));
    }

    pub(super) const fn holds_some(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was held.
    pub(super) fn release(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.held)
    }

    /// Shows what was held. It is all of one notification.
    pub(super) fn show_released(&mut self, entries: Vec<Entry>, now: Instant) {
        for entry in entries {
            let mut known = self.cards.iter_mut().flat_map(|card| &mut card.entries);
            match known.find(|known| known.conversation == entry.conversation) {
                Some(known) => known.extend(&entry.waits, entry.end),
                None => self.place(entry, now),
            }
        }
    }

    /// Drops the items that wait no longer. Returns those that wait and have no notification.
    pub(super) fn compare(&mut self, waiting: Vec<InboxItem>) -> Vec<InboxItem> {
        let ids: HashSet<PendingId> = waiting.iter().map(|item| item.pending.id()).collect();
        let mut known = HashSet::new();
        let shown = self.cards.iter_mut().flat_map(|card| &mut card.entries);
        for entry in shown.chain(&mut self.held) {
            entry.waits.retain(|item| ids.contains(&item.id()));
            known.extend(entry.waits.iter().map(Item::id));
        }
        self.tidy();
        waiting.into_iter().filter(|item| !known.contains(&item.pending.id())).collect()
    }

    /// Drops entries about which there is nothing left to say.
    fn tidy(&mut self) {
        for card in &mut self.cards {
            card.entries.retain(|entry| !entry.is_empty());
        }
        self.held.retain(|entry| !entry.is_empty());
    }
}
