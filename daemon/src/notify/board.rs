//! What should be on the screen: at most one notification a conversation, one for all that come to wait within a minute, and one for
//! all that end within a minute. (Not one for both: a question among ends could not be answered from it.)

use super::{
    feed::{Change, Over},
    item::{End, Item},
};
use abide_protocol::{ConversationId, inbox::PendingId};
use std::time::Duration;
use tokio::time::Instant;

/// News that come within this time after others share their notification.
pub(super) const BURST: Duration = Duration::from_secs(60);
/// The most notifications, the most conversations that wait for the end of the quiet hours, and the most items of one conversation. What
/// is beyond is in the inbox.
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
        let room = MOST.saturating_sub(self.waits.len());
        self.waits.extend(change.asked.iter().take(room).cloned());
        self.end = change.end.clone().or_else(|| self.end.take());
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

    const fn waits(&self) -> bool {
        !self.waits.is_empty()
    }

    const fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.end.is_none()
    }
}

/// A notification that should be there, with what is shown of it.
#[derive(Debug)]
pub(super) struct Card<S> {
    /// May be empty: then what is shown is to be closed.
    pub(super) entries: Vec<Entry>,
    /// When the last of them had news.
    news_at: Instant,
    pub(super) shown: Option<S>,
}

/// All notifications.
#[derive(Debug)]
pub(super) struct Board<S> {
    pub(super) cards: Vec<Card<S>>,
    /// What waits for the end of the quiet hours.
    held: Vec<Entry>,
}

impl<S> Default for Board<S> {
    fn default() -> Self {
        Self { cards: Vec::new(), held: Vec::new() }
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

    /// Takes back an item that is being answered.
    pub(super) fn leave_out(&mut self, id: PendingId) {
        for entry in self.cards.iter_mut().flat_map(|card| &mut card.entries) {
            entry.leave_out(id);
        }
        self.tidy();
    }

    /// Adds news to the conversation's notification, to the newest one of their kind if that has news younger than [`BURST`], or to a
    /// new one.
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
            None => self.cards.push(Card { entries: vec![entry], news_at: now, shown: None }),
        }
    }

    /// The oldest notification, if there are too many.
    pub(super) fn surplus(&mut self) -> Option<Card<S>> {
        (self.cards.len() > MOST).then(|| self.cards.remove(0))
    }

    /// Keeps news until the quiet hours are over.
    pub(super) fn hold(&mut self, change: &Change) {
        let has_room = self.held.len() < MOST;
        match self.held.iter_mut().find(|entry| entry.conversation == change.conversation_id) {
            Some(entry) => entry.add(change),
            None if has_room => self.held.push(Entry::of(change)),
            None => {}
        }
    }

    /// Keeps an entry that was released too early.
    pub(super) fn hold_still(&mut self, entry: Entry) {
        self.held.push(entry);
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
            let known = self.cards.iter_mut().flat_map(|card| &mut card.entries);
            match known.into_iter().find(|known| known.conversation == entry.conversation) {
                Some(known) => {
                    known.waits.extend(entry.waits);
                    known.end = entry.end.or_else(|| known.end.take());
                }
                None => self.place(entry, now),
            }
        }
    }

    /// Drops entries about which there is nothing left to say.
    fn tidy(&mut self) {
        for card in &mut self.cards {
            card.entries.retain(|entry| !entry.is_empty());
        }
        self.held.retain(|entry| !entry.is_empty());
    }
}
