//! Desktop notifications of what no window shows, and answers from them. The daemon sends them, because it runs when no client does.
//! Nothing depends on them: questions and approvals wait in the inbox.
//!
//! A [`Feed`] says what commits mean; the [`Notifier`] keeps the screen as it should be (`board`) and hears what a person presses; the
//! [`Hands`] carry that out, as a caller of the daemon's service like any other.

mod board;
mod desktop;
mod feed;
mod hands;
mod item;
mod popup;
mod quiet;
mod window;
mod words;

pub use board::Entry;
pub use desktop::{Desktop, Heard, Server, SystemDesktop};
pub use feed::{Change, Feed, Over};
pub use hands::{Hands, Note, Order};
pub use item::{Answers, Asks, Decide, End, Item};
pub use popup::{Abilities, Act, Button, Place, Popup};
pub use quiet::{Quiet, QuietError};

use abide_protocol::{ConversationId, inbox::PendingId};
use board::{Board, Card};
use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};

/// The most waiting changes. Further ones are dropped; they are in the inbox anyway.
pub const QUEUE: usize = 64;
/// The most orders, and the most notes, that wait.
const ORDERS: usize = 16;
/// How long the notification server may take.
const SERVER_TIME: Duration = Duration::from_secs(5);
/// How long the server is not tried after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// How often it is looked whether the quiet hours are over. (Not at their end alone: clocks are set, and machines sleep.)
const QUIET_LOOK: Duration = Duration::from_secs(60);
/// How long the connection to the server stays when nothing is shown. An action may still be on its way.
const REST_AFTER: Duration = Duration::from_secs(10);
/// The closed notifications whose actions are still understood.
const RECENT: usize = 64;

/// What may be shown of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Show,
    /// These are quiet hours.
    Hold,
    /// Notifications are off, or those of this conversation.
    Drop,
}

/// A notification on the screen.
#[derive(Debug)]
struct Shown<H> {
    handle: H,
    popup: Popup,
}

/// Keeps the screen as it should be, and passes on what a person presses.
pub struct Notifier<D: Desktop> {
    desktop: D,
    /// The conversations that clients show.
    focused: watch::Receiver<HashSet<ConversationId>>,
    orders: mpsc::Sender<Order<D::Handle>>,
    board: Board<Shown<D::Handle>>,
    /// Closed ones, the newest last. Their actions are passed on too: whether they come too late is known where items are decided.
    recent: VecDeque<Shown<D::Handle>>,
    /// The server's name; empty before anything was shown.
    server: String,
    /// The server is not tried before this time.
    paused_until: Option<Instant>,
    /// When it is looked whether the quiet hours are over.
    look_at: Option<Instant>,
    /// The desktop may be connected to a server.
    in_use: bool,
    rest_at: Option<Instant>,
}

/// The notifier's end of the channels to the [`Hands`].
pub type ToHands<H> = (mpsc::Sender<Order<H>>, mpsc::Receiver<Note<H>>);
/// The hands' end.
pub type OfHands<H> = (mpsc::Receiver<Order<H>>, mpsc::Sender<Note<H>>);

/// The channels between a notifier and its hands.
#[must_use]
pub fn channels<H>() -> (ToHands<H>, OfHands<H>) {
    let (orders, ordered) = mpsc::channel(ORDERS);
    let (notes, noted) = mpsc::channel(ORDERS);
    ((orders, noted), (ordered, notes))
}

impl<D: Desktop> Notifier<D> {
    #[must_use]
    pub fn new(
        desktop: D,
        focused: watch::Receiver<HashSet<ConversationId>>,
        orders: mpsc::Sender<Order<D::Handle>>,
    ) -> Self {
        Self {
            desktop,
            focused,
            orders,
            board: Board::default(),
            recent: VecDeque::new(),
            server: String::new(),
            paused_until: None,
            look_at: None,
            in_use: false,
            rest_at: None,
        }
    }

    /// Runs until all senders of changes are dropped, or `ending`. Then it closes what waits: nobody would hear its actions.
    pub async fn run<P: Future<Output = Policy>>(
        mut self,
        mut changes: mpsc::Receiver<Change>,
        mut notes: mpsc::Receiver<Note<D::Handle>>,
        policy: impl Fn(ConversationId) -> P,
        ending: impl Future<Output = ()>,
    ) {
        let mut ending = std::pin::pin!(ending);
        loop {
            let wake_at = self.look_at.into_iter().chain(self.rest_at).min();
            tokio::select! {
                () = &mut ending => break,
                change = changes.recv() => match change {
                    Some(change) => self.changed(&change, &policy).await,
                    None => break,
                },
                heard = self.desktop.heard() => self.heard(heard).await,
                Some(note) = notes.recv() => self.note(note).await,
                () = until(wake_at) => self.woke(&policy).await,
            }
        }
        for card in std::mem::take(&mut self.board.cards) {
            if let Some(shown) = card.shown.filter(|shown| shown.popup.stays) {
                self.desktop.close(&shown.handle).await;
            }
        }
    }

    async fn changed<P: Future<Output = Policy>>(
        &mut self,
        change: &Change,
        policy: &impl Fn(ConversationId) -> P,
    ) {
        self.board.settle(change);
        if change.is_news() && !self.is_focused(change.conversation_id) {
            match policy(change.conversation_id).await {
                Policy::Show => self.board.show(change, Instant::now()),
                Policy::Hold => {
                    self.board.hold(change);
                    self.look_at.get_or_insert_with(|| Instant::now() + QUIET_LOOK);
                }
                Policy::Drop => {}
            }
        }
        self.refresh().await;
    }

    fn is_focused(&self, conversation: ConversationId) -> bool {
        self.focused.borrow().contains(&conversation)
    }

    async fn woke<P: Future<Output = Policy>>(&mut self, policy: &impl Fn(ConversationId) -> P) {
        let now = Instant::now();
        if self.rest_at.is_some_and(|at| at <= now) {
            self.rest_at = None;
            self.recent.clear();
            self.in_use = false;
            self.desktop.rest();
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            let mut released = Vec::new();
            for entry in self.board.release() {
                match policy(entry.conversation).await {
                    Policy::Show if !self.is_focused(entry.conversation) => released.push(entry),
                    Policy::Hold => self.board.hold_still(entry),
                    Policy::Show | Policy::Drop => {}
                }
            }
            self.board.show_released(released, now);
            self.look_at = self.board.holds_some().then(|| now + QUIET_LOOK);
            self.refresh().await;
        }
    }

    /// Makes the screen what it should be.
    async fn refresh(&mut self) {
        while let Some(card) = self.board.surplus() {
            // It stays on the screen, and its actions are understood.
            self.recent.extend(card.shown);
        }
        let mut cards = std::mem::take(&mut self.board.cards).into_iter();
        for mut card in cards.by_ref() {
            match self.update(&mut card).await {
                Ok(()) if card.entries.is_empty() => {}
                Ok(()) => self.board.cards.push(card),
                Err(why) => {
                    tracing::debug!(why, "no desktop notification was shown");
                    // What could not be shown now would be too late in a minute.
                    self.paused_until = Some(Instant::now() + RETRY_AFTER);
                    self.recent.extend(card.shown);
                }
            }
        }
        self.recent.drain(..self.recent.len().saturating_sub(RECENT));
        let is_idle = self.board.cards.is_empty() && self.in_use;
        self.rest_at = if is_idle { self.rest_at.or(Some(Instant::now() + REST_AFTER)) } else { None };
    }

    async fn update(&mut self, card: &mut Card<Shown<D::Handle>>) -> Result<(), String> {
        if card.entries.is_empty() {
            self.close(card.shown.take()).await;
            return Ok(());
        }
        if self.paused_until.is_some_and(|until| Instant::now() < until) {
            // The server is not bothered, and what is shown stays as it is.
            return if card.shown.is_some() { Ok(()) } else { Err("it has failed before".to_owned()) };
        }
        self.in_use = true;
        let server = within(self.desktop.server()).await?;
        let popup = Popup::about(&card.entries, server.abilities);
        self.server = server.name;
        if card.shown.as_ref().is_some_and(|shown| shown.popup == popup) {
            return Ok(());
        }
        let before = card.shown.take();
        // Another notification, not the same with other actions: one that a person has just pressed must not become another's.
        let (before, replaced) = match before {
            Some(before) if before.popup.offers_the_same(&popup) => (None, Some(before.handle)),
            other => (other, None),
        };
        self.close(before).await;
        let handle = within(self.desktop.show(&popup, replaced.as_ref())).await?;
        self.paused_until = None;
        card.shown = Some(Shown { handle, popup });
        Ok(())
    }

    async fn close(&mut self, shown: Option<Shown<D::Handle>>) {
        if let Some(shown) = shown {
            self.desktop.close(&shown.handle).await;
            self.recent.push_back(shown);
        }
    }

    async fn heard(&mut self, heard: Heard<D::Handle>) {
        match heard {
            Heard::Pressed { shown, key, token } => {
                if let Some(act) = self.popup(&shown).and_then(|popup| popup.act(&key)).cloned() {
                    self.act(shown, act, token).await;
                }
            }
            Heard::Replied { shown, text } => {
                let Some((task, question)) = self.popup(&shown).and_then(|popup| popup.reply) else { return };
                // An empty reply answers nothing.
                if !text.trim().is_empty() {
                    self.act(shown, Act::Answer { task, question, response: text }, None).await;
                }
            }
            Heard::Closed(handle) => {
                let is_it = |card: &&mut Card<Shown<D::Handle>>| {
                    card.shown.as_ref().is_some_and(|shown| shown.handle == handle)
                };
                if let Some(card) = self.board.cards.iter_mut().find(is_it) {
                    // By a person, by its timeout, or after an action.
                    card.entries.clear();
                    self.recent.extend(card.shown.take());
                }
                self.refresh().await;
            }
            Heard::Lost => {
                self.board.cards.clear();
                self.recent.clear();
                (self.rest_at, self.in_use) = (None, false);
            }
        }
    }

    fn popup(&self, handle: &D::Handle) -> Option<&Popup> {
        let shown = self.board.cards.iter().filter_map(|card| card.shown.as_ref());
        let mut known = shown.chain(&self.recent).filter(|shown| shown.handle == *handle);
        known.next().map(|shown| &shown.popup)
    }

    async fn act(&mut self, shown: D::Handle, act: Act, token: Option<String>) {
        let answered = match &act {
            Act::Decide { approval, .. } => Some(PendingId::Approval(*approval)),
            Act::Answer { question, .. } => Some(PendingId::Question(*question)),
            Act::Open(_) => None,
        };
        let order = Order { shown: shown.clone(), act, token, server: self.server.clone() };
        let is_sent = self.orders.try_send(order).is_ok();
        // With many orders before it, a window comes anyway.
        let Some(id) = answered else { return };
        // From the screen it is passed on once; once more when it is closed, which is too late; and then no more.
        self.recent.retain(|known| known.handle != shown);
        self.board.leave_out(id);
        self.refresh().await;
        if !is_sent {
            self.note(Note::busy(shown)).await;
        }
    }

    /// Says something in place of a notification.
    async fn note(&mut self, note: Note<D::Handle>) {
        let popup = Popup::note(note.summary, &note.body);
        if let Err(why) = within(self.desktop.show(&popup, Some(&note.shown))).await {
            tracing::debug!(why, note.summary, "a note was not shown");
        }
    }
}

async fn within<T>(answer: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    timeout(SERVER_TIME, answer).await.unwrap_or_else(|_| Err("it does not answer".to_owned()))
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
