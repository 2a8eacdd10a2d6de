//! Keeps the screen as it should be, and passes on what a person presses.

use super::{
    ORDERS, Policy,
    actions::{Note, Order},
    board::{Board, Card},
    desktop::{Desktop, Heard, Screen},
    feed::{Change, News},
    item::Item,
    popup::{Act, Popup},
    step::{Done, HandleOf, Step},
    within,
};
use crate::events::{Focused, Viewer};
use abide_protocol::{
    ConversationId,
    inbox::{InboxItem, PendingId},
};
use futures_util::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};

/// How long windows have to connect after a start of the daemon, or again after they went, and to say what
/// they show.
pub(super) const REMIND_AFTER: Duration = Duration::from_secs(2);
/// How long a window has to say that it shows a conversation, before a first notification of it: one that
/// starts a task shows it a moment later, and the task may have asked by then.
pub(super) const GRACE: Duration = Duration::from_millis(400);
/// How long a server has to start again by itself.
pub(super) const LOST_FOR: Duration = Duration::from_secs(1);
/// How long the server is not tried after a failure. It doubles with each further one, up to the second.
pub(super) const RETRY_AFTER: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(16 * 60)];
/// How often it is looked whether what is held can be shown. (Not at the end of the quiet hours alone: clocks
/// are set, and machines sleep.)
pub(super) const LOOK_AFTER: Duration = Duration::from_secs(60);
/// How long the connection to the server stays when nothing is shown. An action may still be on its way.
pub(super) const REST_AFTER: Duration = Duration::from_secs(10);
/// How long the step under way and the closing of the open notifications may take together when the daemon
/// ends.
pub(super) const LEAVE_TIME: Duration = Duration::from_secs(1);
/// The closed notifications whose actions are still understood.
const RECENT: usize = 64;
/// The reports about unknown notifications that are kept while one is being shown.
const EARLY: usize = 16;

/// Whether a client shows what the news is about: that these items wait in the conversation, or that its task
/// has ended.
fn is_shown(focused: &Focused, conversation: ConversationId, waits: &[Item]) -> bool {
    if waits.is_empty() { focused.shows(conversation) } else { focused.shows_waiting(conversation) }
}

/// A notification on the screen.
#[derive(Debug)]
pub(super) struct Shown<H> {
    handle: H,
    popup: Popup,
}

/// Keeps the screen as it should be, and passes on what a person presses. It never waits for the server: it
/// takes changes while the server is slow or hangs.
pub struct Notifier<D: Desktop> {
    desktop: D,
    focused: watch::Receiver<Focused>,
    /// The questions and approvals that were not notified because clients showed them, each with those
    /// clients.
    seen: HashMap<PendingId, BTreeSet<Viewer>>,
    orders: mpsc::Sender<Order<HandleOf<D>>>,
    pub(super) board: Board<Shown<HandleOf<D>>>,
    /// The server, while something is shown.
    screen: Option<D::Screen>,
    pub(super) step: Step<D>,
    /// The screen may not be as it should be.
    is_stale: bool,
    /// The notifications to close. They are in `recent`, too.
    closing: VecDeque<HandleOf<D>>,
    /// The notes to show.
    saying: VecDeque<Note<HandleOf<D>>>,
    /// Closed ones, the newest last. Their actions are passed on too: whether they come too late is known
    /// where items are decided.
    recent: VecDeque<Shown<HandleOf<D>>>,
    /// Reports about unknown notifications: the one that is being shown may be among them.
    early: VecDeque<Heard<HandleOf<D>>>,
    /// The server is not tried before this time.
    paused_until: Option<Instant>,
    /// How long it is not tried after the next failure.
    retry_after: Duration,
    /// When it is looked whether what is held can be shown.
    pub(super) look_at: Option<Instant>,
    /// When the inbox is read: its items may have no notification.
    pub(super) remind_at: Option<Instant>,
    pub(super) grace: Duration,
    /// When the next card is old enough to be shown.
    due_at: Option<Instant>,
    /// When the items of [`Self::left`] are notified.
    pub(super) left_at: Option<Instant>,
    rest_at: Option<Instant>,
}

impl<D: Desktop> Notifier<D> {
    #[must_use]
    pub fn new(
        desktop: D,
        focused: watch::Receiver<Focused>,
        orders: mpsc::Sender<Order<HandleOf<D>>>,
    ) -> Self {
        Self {
            desktop,
            focused,
            seen: HashMap::new(),
            orders,
            board: Board::default(),
            screen: None,
            step: Step::Nothing,
            is_stale: false,
            closing: VecDeque::new(),
            saying: VecDeque::new(),
            recent: VecDeque::new(),
            early: VecDeque::new(),
            paused_until: None,
            retry_after: RETRY_AFTER[0],
            look_at: None,
            remind_at: None,
            grace: GRACE,
            due_at: None,
            left_at: None,
            rest_at: None,
        }
    }

    /// Runs until all senders of changes are dropped, or `ending`. Then it closes what waits: nobody would
    /// hear its actions. What waited before is read from the `inbox` and shown: its notifications are gone
    /// with the daemon before.
    pub async fn run<P: Future<Output = Policy>, I: Future<Output = Vec<InboxItem>>>(
        mut self,
        mut news: News,
        mut notes: mpsc::Receiver<Note<HandleOf<D>>>,
        policy: impl Fn(ConversationId) -> P,
        inbox: impl Fn() -> I,
        ending: impl Future<Output = ()>,
    ) {
        let mut ending = std::pin::pin!(ending);
        self.remind_at = Some(Instant::now() + REMIND_AFTER);
        loop {
            self.start_step();
            let wake_at = self.wake_at();
            tokio::select! {
                () = &mut ending => break,
                done = self.step.done() => self.did(done),
                heard = heard(&mut self.screen) => self.heard(heard),
                change = news.changes.recv() => match change {
                    Some(change) => self.changed(&change, &policy).await,
                    None => break,
                },
                Ok(()) = self.focused.changed() => self.looked_at(),
                () = news.missed.notified() => self.remind_at = Some(Instant::now()),
                Some(note) = notes.recv() => self.say(note),
                () = until(wake_at) => self.woke(&policy, &inbox).await,
            }
        }
        // The supervisor waits for it, and the service that the server calls back is gone.
        let _ = timeout(LEAVE_TIME, self.leave()).await;
    }

    async fn leave(mut self) {
        if matches!(self.step, Step::Showing { .. }) {
            let done = self.step.done().await;
            self.did(done);
        }
        let Some(screen) = &self.screen else { return };
        let shown = self.board.cards.iter().filter_map(|card| card.shown.as_ref());
        let waiting = shown.filter(|shown| shown.popup.stays).map(|shown| &shown.handle);
        for handle in self.closing.iter().chain(waiting) {
            screen.close(handle).await;
        }
    }

    pub(super) async fn changed<P: Future<Output = Policy>>(
        &mut self,
        change: &Change,
        policy: &impl Fn(ConversationId) -> P,
    ) {
        self.board.settle(change);
        for settled in &change.settled {
            self.seen.remove(settled);
        }
        self.is_stale = true;
        if change.is_news() {
            let conversation = change.conversation_id;
            let policy = policy(conversation).await;
            match self.allowed(conversation, &change.asked, policy) {
                Policy::Show => self.board.show(change, Instant::now()),
                Policy::Hold => {
                    self.board.hold(change);
                    self.look_later();
                }
                Policy::Drop => {}
            }
        }
    }

    /// Takes back the notifications about what people look at. A task may have asked before the window that
    /// started it could say what it shows. An item whose clients have all disconnected is notified after
    /// [`REMIND_AFTER`].
    pub(super) fn looked_at(&mut self) {
        let focused = self.focused.clone();
        for entry in
            self.board.looked_at(|entry| is_shown(&focused.borrow(), entry.conversation, &entry.waits))
        {
            self.see(entry.conversation, &entry.waits);
        }
        let is_left = self.left().next().is_some();
        self.left_at = is_left.then(|| self.left_at.unwrap_or_else(|| Instant::now() + REMIND_AFTER));
        self.is_stale = true;
    }

    /// Notes which clients show these items of the conversation now.
    fn see(&mut self, conversation: ConversationId, waits: &[Item]) {
        let viewers: BTreeSet<Viewer> = self.focused.borrow().viewers_of_waiting(conversation).collect();
        for item in waits {
            self.seen.entry(item.id()).or_default().extend(&viewers);
        }
    }

    /// The items in `seen` whose clients have all disconnected.
    fn left(&self) -> impl Iterator<Item = PendingId> {
        let has = |viewer: &Viewer| self.focused.borrow().has(*viewer);
        self.seen.iter().filter(move |(_, viewers)| !viewers.iter().any(has)).map(|(seen, _)| *seen)
    }

    /// Whether news may be notified now, under the conversation's policy: that these items wait in it, or,
    /// without items, that its task has ended. Items that a client shows are noted as seen.
    fn allowed(&mut self, conversation: ConversationId, waits: &[Item], policy: Policy) -> Policy {
        let is_shown = is_shown(&self.focused.borrow(), conversation, waits);
        if is_shown {
            self.see(conversation, waits);
        }
        match policy {
            _ if is_shown => Policy::Drop,
            Policy::Show if self.is_paused() => Policy::Hold,
            policy => policy,
        }
    }

    fn is_paused(&self) -> bool {
        self.paused_until.is_some_and(|until| Instant::now() < until)
    }

    fn look_later(&mut self) {
        let after = Instant::now() + LOOK_AFTER;
        let at = self.paused_until.filter(|_| self.is_paused()).map_or(after, |until| until.min(after));
        self.look_at = Some(self.look_at.map_or(at, |look_at| look_at.min(at)));
    }

    fn wake_at(&self) -> Option<Instant> {
        [self.look_at, self.remind_at, self.due_at, self.left_at, self.rest_at].into_iter().flatten().min()
    }

    pub(super) async fn woke<P: Future<Output = Policy>, I: Future<Output = Vec<InboxItem>>>(
        &mut self,
        policy: &impl Fn(ConversationId) -> P,
        inbox: &impl Fn() -> I,
    ) {
        let now = Instant::now();
        let is_due = |at: &mut Option<Instant>| at.take_if(|at| *at <= now).is_some();
        if is_due(&mut self.rest_at) {
            self.recent.clear();
            self.screen = None;
        }
        if is_due(&mut self.remind_at) {
            self.is_stale = true;
            for item in self.board.compare(inbox().await) {
                self.changed(&Change::waits(&item), policy).await;
            }
        }
        if is_due(&mut self.due_at) {
            self.is_stale = true;
        }
        if is_due(&mut self.left_at) {
            let left: HashSet<PendingId> = self.left().collect();
            self.seen.retain(|seen, _| !left.contains(seen));
            for item in self.board.compare(inbox().await) {
                if left.contains(&item.pending.id()) {
                    self.changed(&Change::waits(&item), policy).await;
                }
            }
        }
        if is_due(&mut self.look_at) {
            self.is_stale = true;
            let mut released = Vec::new();
            for entry in self.board.release() {
                let policy = policy(entry.conversation).await;
                match self.allowed(entry.conversation, &entry.waits, policy) {
                    Policy::Show => released.push(entry),
                    Policy::Hold => self.board.hold_entry(entry),
                    Policy::Drop => {}
                }
            }
            self.board.show_released(released, now);
            if self.board.holds_some() || self.is_paused() {
                self.look_later();
            }
        }
    }

    /// Begins the next step towards the screen as it should be, if none is being done.
    pub(super) fn start_step(&mut self) {
        if self.is_stale {
            self.retire();
        }
        if !self.step.is_nothing() {
            return;
        }
        self.step = self.next_step();
        let is_idle = self.step.is_nothing() && self.screen.is_some() && self.board.cards.is_empty();
        self.rest_at = if is_idle { self.rest_at.or(Some(Instant::now() + REST_AFTER)) } else { None };
    }

    /// Takes from the screen what is over.
    fn retire(&mut self) {
        while let Some(card) = self.board.surplus() {
            // It stays on the screen, and its actions are understood.
            self.recent.extend(card.shown);
        }
        for shown in self.board.drop_empty() {
            self.close(shown);
        }
        self.recent.drain(..self.recent.len().saturating_sub(RECENT));
    }

    fn close(&mut self, shown: Shown<HandleOf<D>>) {
        self.recent.retain(|known| known.handle != shown.handle);
        self.closing.push_back(shown.handle.clone());
        self.recent.push_back(shown);
    }

    fn next_step(&mut self) -> Step<D> {
        let Some(screen) = &self.screen else {
            self.closing.clear();
            self.saying.clear();
            if self.board.cards.is_empty() || self.is_paused() {
                return Step::Nothing;
            }
            return Step::Connecting(within(self.desktop.connect()).boxed());
        };
        if let Some(handle) = self.closing.pop_front() {
            return Step::Closing(screen.close(&handle));
        }
        if let Some(note) = self.saying.pop_front() {
            let popup = Popup::note(note.summary, &note.body);
            return Step::Saying(screen.show(&popup, Some(&note.shown)));
        }
        if !std::mem::take(&mut self.is_stale) || self.is_paused() {
            return Step::Nothing;
        }
        let abilities = screen.server().abilities;
        let (grace, now) = (self.grace, Instant::now());
        self.due_at = self.board.next_due(grace, now);
        let mut due = self.board.cards.iter_mut().filter(|card| card.is_due(grace, now));
        let wanted = due.find_map(|card| {
            let popup = Popup::about(&card.entries, abilities);
            card.shown.as_ref().is_none_or(|shown| shown.popup != popup).then_some((card, popup))
        });
        let Some((card, popup)) = wanted else { return Step::Nothing };
        self.is_stale = true;
        // Another notification, not the same with other actions: one that a person has just pressed must not
        // become another's.
        if let Some(shown) = card.shown.take_if(|shown| !shown.popup.offers_the_same(&popup)) {
            let closing = screen.close(&shown.handle);
            self.recent.push_back(shown);
            return Step::Closing(closing);
        }
        let shown = screen.show(&popup, card.shown.as_ref().map(|shown| &shown.handle));
        Step::Showing { card: card.id, popup, shown }
    }

    pub(super) fn did(&mut self, done: Done<D>) {
        match done {
            Done::Connected(Ok(screen)) => self.screen = Some(screen),
            Done::Showed { card, popup, shown: Ok(handle) } => {
                self.retry_after = RETRY_AFTER[0];
                let shown = Shown { handle, popup };
                match self.board.card(card) {
                    Some(card) => card.shown = Some(shown),
                    // It was settled meanwhile.
                    None => self.close(shown),
                }
                for heard in std::mem::take(&mut self.early) {
                    self.heard(heard);
                }
            }
            Done::Connected(Err(why)) | Done::Showed { shown: Err(why), .. } => {
                tracing::debug!(why, "no desktop notification was shown");
                self.early.clear();
                self.pause(self.retry_after);
                self.retry_after = RETRY_AFTER[1].min(self.retry_after * 2);
            }
            Done::Said(Err(why)) => tracing::debug!(why, "a note was not shown"),
            Done::Said(Ok(_)) | Done::Closed => {}
        }
    }

    /// Keeps for later what is not shown.
    fn pause(&mut self, time: Duration) {
        self.paused_until = Some(Instant::now() + time);
        self.board.hold_unshown();
        self.look_later();
    }

    pub(super) fn heard(&mut self, heard: Heard<HandleOf<D>>) {
        let is_unknown = heard.shown().is_some_and(|shown| self.popup(shown).is_none());
        if is_unknown {
            if matches!(self.step, Step::Showing { .. }) {
                self.early.push_back(heard);
                self.early.drain(..self.early.len().saturating_sub(EARLY));
            }
            return;
        }
        match heard {
            Heard::Pressed { shown, key, token } => {
                if let Some(act) = self.popup(&shown).and_then(|popup| popup.act(&key)).cloned() {
                    self.act(shown, act, token);
                }
            }
            Heard::Replied { shown, text } => {
                let Some((task, question)) = self.popup(&shown).and_then(|popup| popup.reply) else { return };
                // An empty reply answers nothing.
                if !text.trim().is_empty() {
                    self.act(shown, Act::Answer { task, question, response: text }, None);
                }
            }
            Heard::Closed(handle) => {
                if let Some(card) = self.card(&handle) {
                    // By a person, by its timeout, or after an action.
                    card.entries.clear();
                    let shown = card.shown.take();
                    self.recent.extend(shown);
                    self.is_stale = true;
                }
            }
            Heard::Lost => self.lost(),
        }
    }

    /// Gives up the server. What waits is shown by the next one.
    fn lost(&mut self) {
        let shown: Vec<_> = self.board.cards.iter_mut().filter_map(|card| card.shown.take()).collect();
        self.recent.clear();
        self.early.clear();
        self.step = match self.screen.take() {
            // It may still be there, without its name.
            Some(screen) => Step::Closing(take_back(screen, &shown)),
            None => Step::Nothing,
        };
        self.pause(LOST_FOR);
    }

    fn card(&mut self, handle: &HandleOf<D>) -> Option<&mut Card<Shown<HandleOf<D>>>> {
        let shows =
            |card: &&mut Card<Shown<_>>| card.shown.as_ref().is_some_and(|shown| shown.handle == *handle);
        self.board.cards.iter_mut().find(shows)
    }

    fn popup(&self, handle: &HandleOf<D>) -> Option<&Popup> {
        let shown = self.board.cards.iter().filter_map(|card| card.shown.as_ref());
        let mut known = shown.chain(&self.recent).filter(|shown| shown.handle == *handle);
        known.next().map(|shown| &shown.popup)
    }

    fn act(&mut self, shown: HandleOf<D>, act: Act, token: Option<String>) {
        let answered = match &act {
            Act::Decide { approval, .. } => Some(PendingId::Approval(*approval)),
            Act::Answer { question, .. } => Some(PendingId::Question(*question)),
            Act::Open(_) => None,
        };
        let server = self.screen.as_ref().map(|screen| screen.server().name.clone()).unwrap_or_default();
        let is_sent = self.orders.try_send(Order { shown: shown.clone(), act, token, server }).is_ok();
        // With many orders before it, a window comes anyway.
        let Some(id) = answered else { return };
        // From the screen it is passed on once; once more when it is closed, which is too late; and then no
        // more.
        self.recent.retain(|known| known.handle != shown);
        if let Some(pressed) = self.card(&shown).and_then(|card| card.shown.take()) {
            self.close(pressed);
        }
        self.board.leave_out(id);
        self.is_stale = true;
        if !is_sent {
            self.say(Note::busy(shown));
        }
    }

    /// Says something in place of a notification. What is too much is dropped: the inbox says it, too.
    pub(super) fn say(&mut self, note: Note<HandleOf<D>>) {
        if self.saying.len() < ORDERS {
            self.saying.push_back(note);
        }
    }
}

/// Closes what a screen shows, and drops the connection to it.
fn take_back<S: Screen>(screen: S, shown: &[Shown<S::Handle>]) -> BoxFuture<'static, ()> {
    let closed = future::join_all(shown.iter().map(|shown| screen.close(&shown.handle)));
    timeout(LEAVE_TIME, closed).map(|_| drop(screen)).boxed()
}

async fn heard<S: Screen>(screen: &mut Option<S>) -> Heard<S::Handle> {
    match screen {
        Some(screen) => screen.heard().await,
        None => future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => future::pending().await,
    }
}
