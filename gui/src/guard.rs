//! Whether an action that cannot be undone may happen now: decide, answer, stop, resume, archive, delete.
//!
//! A hand may already be moving when the screen changes. So whatever has just appeared, moved or changed its
//! meaning takes no key or click until it has been steady for [`STEADY`]. Keys go to one target: a field if a
//! caret is drawn, else what covers the page or asks for a confirmation, else the selected card, and only
//! while all of it is visible.
//!
//! Facts come in: which items wait ([`Guard::offer`]), what the fixed buttons mean ([`Guard::stand`]), where
//! each card was drawn ([`Guard::saw`]), whether a caret is drawn ([`Guard::caret`]). Each change of a fact
//! notes its time. Answers go out: [`Guard::allows`] for clicks, [`Guard::in_hand`] for letters,
//! [`Guard::at_hand`] for keys that write nothing. The view asks the same questions to draw buttons and keys
//! as live, so what is drawn as live is what acts. A card that was never drawn is never live. At most one
//! action is armed, and any change that concerns it disarms it. This module draws nothing and reads no clock:
//! times are arguments. `app/guarding.rs` connects it to the window.

use abide_client::protocol::{
    ApprovalId, ConversationId, QuestionId, Seq, TaskId, Timestamp, inbox::PendingId,
};

/// How long a target must be steady before it can be used, in milliseconds.
pub const STEADY: u64 = 600;
/// How long an armed stop waits for its second key, in milliseconds.
const ARMED: u64 = 5000;
/// How long an armed decision on a card does: there may be much to read.
const ARMED_CARD: u64 = 60_000;

/// Where a card is drawn, in whole logical pixels of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    pub top: i32,
    pub height: i32,
    /// The height of the view that contains it.
    pub view: i32,
    /// All of it is within the view.
    pub is_whole: bool,
    /// A scrolling part of it hides some of its content, and has not even the height of a line.
    pub is_blind: bool,
    /// No scrolling part of it hides its end.
    pub shows_end: bool,
}

/// The meaning of the buttons that are always at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footing {
    pub page: Option<ConversationId>,
    /// The sub-task whose timeline is shown.
    pub sub_task: Option<TaskId>,
    pub task: Option<TaskId>,
    pub is_inbox: bool,
    /// The composer's state: what it takes text for, and whether it does.
    pub stance: u8,
    /// The question that the composer answers.
    pub asked: Option<PendingId>,
    /// The delete confirmation is shown.
    pub is_deleting: bool,
    /// The delete confirmation of a conversation in the list.
    pub deleting: Option<ConversationId>,
    /// The question whether to forget this record is shown.
    pub forgetting: Option<Seq>,
    /// The page is covered.
    pub is_covered: bool,
    /// The undo button is shown above the composer.
    pub is_regretted: bool,
    /// The composer has given way to a card.
    pub is_without_composer: bool,
}

impl Footing {
    /// The composer's state before the daemon has said it, and while the daemon is away.
    pub const UNKNOWN: u8 = 0;

    /// Whether something other than the cards has the keyboard: what covers the page, or a confirmation.
    const fn has_keyboard(&self) -> bool {
        self.is_covered || self.is_deleting || self.deleting.is_some()
    }
}

/// An action armed by a first key, for a second key to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Armed {
    /// Enter allows it once.
    Approval(ApprovalId),
    /// Enter answers with the choice of this number, from 1.
    Choice(QuestionId, u8),
    /// Ctrl D again leaves it unanswered.
    Decline(QuestionId),
    /// Escape performs it.
    Stop(TaskId),
    /// Enter or another click performs it.
    End(TaskId, End),
}

/// How a task is ended by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Stop,
    /// Its parent learns that it was deleted.
    Delete,
}

impl Armed {
    /// The card that it belongs to.
    #[must_use]
    pub const fn card(self) -> Option<PendingId> {
        match self {
            Self::Approval(id) => Some(PendingId::Approval(id)),
            Self::Choice(id, _) | Self::Decline(id) => Some(PendingId::Question(id)),
            Self::Stop(_) | Self::End(..) => None,
        }
    }

    /// What the second key does.
    #[must_use]
    pub fn deed(self) -> Deed {
        match self {
            Self::Approval(id) => Deed::Allow(id),
            _ => self.card().map_or(Deed::AtFoot, Deed::OnCard),
        }
    }

    /// How long it waits for its second key, in milliseconds.
    const fn lasts(self) -> u64 {
        match self {
            Self::Approval(_) | Self::Choice(..) => ARMED_CARD,
            Self::Decline(_) | Self::Stop(_) | Self::End(..) => ARMED,
        }
    }
}

/// An action that cannot be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// By a button of this card, or its key.
    OnCard(PendingId),
    /// The same, for what allows a call: all of it must have been shown, to its end.
    Allow(ApprovalId),
    /// Sends text written for this card, or for an action begun by one of its buttons.
    Written(PendingId),
    /// By a button that is at the same place whatever it means.
    AtFoot,
    /// Sends the composer's text, as a prompt or as a comment.
    Sent,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Guard {
    has_caret: bool,
    /// Oldest first.
    cards: Vec<Card>,
    selected: Option<PendingId>,
    footing: Footing,
    armed: Option<(Armed, Timestamp)>,
    /// When the last decision was made, by anyone, or a lasting one was begun.
    decided: Timestamp,
    /// When selection, caret or cover last changed, or the window got the keyboard back.
    selected_at: Timestamp,
    /// When the footing last changed, one of its buttons was used, or the window got the keyboard back.
    stood_at: Timestamp,
    /// When the composer's state last changed in the same conversation.
    stance_at: Timestamp,
    /// When the last letter came that no field took.
    wrote_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct Card {
    id: PendingId,
    /// Where and since when it is drawn; `None` before its first frame.
    seen: Option<(Spot, Timestamp)>,
    /// Its end has been shown.
    is_read: bool,
}

fn is_steady(since: Timestamp, now: Timestamp) -> bool {
    // A clock that was set back must not block anything for hours.
    now < since || now.since(since) >= STEADY
}

impl Guard {
    /// A caret has appeared or disappeared.
    pub fn caret(&mut self, is_drawn: bool, now: Timestamp) {
        if self.has_caret != is_drawn {
            self.has_caret = is_drawn;
            self.selected_at = now;
            self.armed = None;
        }
    }

    /// Sets the items that wait on this page, oldest first.
    pub fn offer(&mut self, waiting: &[PendingId], now: Timestamp) {
        if self.cards.iter().any(|card| !waiting.contains(&card.id)) {
            // An item was decided: the next card moves into its place.
            self.decided = now;
            self.armed = None;
        }
        let known = std::mem::take(&mut self.cards);
        let card = |id: &PendingId| known.iter().find(|card| card.id == *id).copied();
        self.cards = waiting
            .iter()
            .map(|id| card(id).unwrap_or(Card { id: *id, seen: None, is_read: false }))
            .collect();
        // Keep the selection, or else take the next item in order, or the one before.
        let at = known.iter().position(|card| Some(card.id) == self.selected).unwrap_or_default();
        let (before, after) = known.split_at(at);
        let mut nearest = after.iter().chain(before.iter().rev()).map(|card| card.id);
        let selected = nearest.find(|id| waiting.contains(id)).or(waiting.first().copied());
        if selected != self.selected {
            self.select(selected, now);
        }
    }

    /// Whether this item waits on this page.
    #[must_use]
    pub fn offers(&self, id: PendingId) -> bool {
        self.cards.iter().any(|card| card.id == id)
    }

    /// The card is drawn at this place now.
    pub fn saw(&mut self, id: PendingId, spot: Spot, now: Timestamp) {
        let Some(card) = self.cards.iter_mut().find(|card| card.id == id) else { return };
        card.is_read |= spot.shows_end;
        if card.seen.is_none_or(|(known, _)| known != spot) {
            card.seen = Some((spot, now));
            self.armed.take_if(|(armed, _)| armed.card() == Some(id));
        }
    }

    /// Sets the current meaning of the fixed buttons.
    pub fn stand(&mut self, footing: Footing, now: Timestamp) {
        if self.footing == footing {
            return;
        }
        let shown =
            |footing: &Footing| (footing.page, footing.sub_task, footing.is_inbox, footing.is_covered);
        if shown(&self.footing) != shown(&footing) {
            for card in &mut self.cards {
                card.seen = None;
            }
        }
        if self.footing.has_keyboard() != footing.has_keyboard() {
            self.selected_at = now;
        }
        let sends = |footing: &Footing| (footing.stance, footing.task);
        let was_known = self.footing.stance != Footing::UNKNOWN;
        if self.footing.page == footing.page && was_known && sends(&self.footing) != sends(&footing) {
            self.stance_at = now;
        }
        (self.footing, self.stood_at, self.armed) = (footing, now, None);
    }

    /// Selects this card, if it waits on this page.
    pub fn take(&mut self, id: PendingId, now: Timestamp) {
        if self.offers(id) && self.selected != Some(id) {
            self.select(Some(id), now);
        }
    }

    fn select(&mut self, id: Option<PendingId>, now: Timestamp) {
        (self.selected, self.selected_at, self.armed) = (id, now, None);
    }

    /// Selects the next card, or the one before.
    pub fn step(&mut self, by: isize, now: Timestamp) {
        let at = self.cards.iter().position(|card| Some(card.id) == self.selected);
        let next = at.and_then(|at| at.checked_add_signed(by)).and_then(|at| self.cards.get(at));
        if let Some(next) = next.map(|card| card.id) {
            self.select(Some(next), now);
        }
    }

    /// The deed was requested of the daemon, or waits for its confirmation.
    pub fn did(&mut self, deed: Deed, now: Timestamp) {
        self.armed = None;
        match deed {
            Deed::OnCard(_) | Deed::Allow(_) | Deed::Written(_) => self.decided = now,
            Deed::AtFoot => self.stood_at = now,
            Deed::Sent => {}
        }
    }

    fn seen(&self, id: PendingId) -> Option<(Spot, Timestamp)> {
        self.cards.iter().find(|card| card.id == id)?.seen
    }

    /// Where the card was last drawn.
    #[must_use]
    pub fn spot(&self, id: PendingId) -> Option<Spot> {
        self.seen(id).map(|(spot, _)| spot)
    }

    /// Whether all of this card has been shown, to its end.
    #[must_use]
    pub fn has_read(&self, id: PendingId) -> bool {
        self.cards.iter().any(|card| card.id == id && card.is_read)
    }

    /// The card that has the keyboard, if it is an approval whose end has not been shown.
    #[must_use]
    pub fn unread(&self) -> Option<ApprovalId> {
        match self.selected()? {
            PendingId::Approval(id) if !self.has_read(PendingId::Approval(id)) => Some(id),
            _ => None,
        }
    }

    /// Whether a click, or the second of two keys, may perform the deed now.
    #[must_use]
    pub fn allows(&self, deed: Deed, now: Timestamp) -> bool {
        match deed {
            Deed::OnCard(id) => {
                let can_be = |(spot, since): (Spot, _)| !spot.is_blind && is_steady(since, now);
                self.seen(id).is_some_and(can_be) && is_steady(self.decided, now)
            }
            Deed::Allow(id) => {
                let id = PendingId::Approval(id);
                self.has_read(id) && self.allows(Deed::OnCard(id), now)
            }
            Deed::Written(_) => is_steady(self.decided, now),
            Deed::AtFoot => is_steady(self.stood_at, now),
            Deed::Sent => is_steady(self.stance_at, now),
        }
    }

    /// Whether the keyboard has had its target for a moment: whoever leaves a field by Escape, and presses it
    /// again at once, means that alone.
    #[must_use]
    pub fn is_settled(&self, now: Timestamp) -> bool {
        is_steady(self.selected_at, now)
    }

    /// The card that has the keyboard, and is drawn as selected.
    #[must_use]
    pub fn selected(&self) -> Option<PendingId> {
        self.selected.filter(|_| !self.has_caret && !self.footing.has_keyboard())
    }

    /// The selected card, also while a field has the keyboard.
    #[must_use]
    pub const fn chosen(&self) -> Option<PendingId> {
        self.selected
    }

    /// The selected card, if a letter or a digit may act on it now.
    #[must_use]
    pub fn in_hand(&self, now: Timestamp) -> Option<PendingId> {
        self.at_hand(now).filter(|_| !self.has_caret)
    }

    /// The same for keys that write no character, wherever the caret is.
    #[must_use]
    pub fn at_hand(&self, now: Timestamp) -> Option<PendingId> {
        let id = self.selected.filter(|_| !self.footing.has_keyboard())?;
        let is_whole = self.spot(id).is_some_and(|spot| spot.is_whole);
        (is_whole && self.is_settled(now) && self.allows(Deed::OnCard(id), now)).then_some(id)
    }

    /// The selected card, if it is not wholly visible.
    #[must_use]
    pub fn out_of_sight(&self) -> Option<PendingId> {
        let id = self.selected()?;
        (!self.spot(id).is_some_and(|spot| spot.is_whole)).then_some(id)
    }

    /// The window has the keyboard again: keys may have been meant for another window.
    pub const fn came_back(&mut self, now: Timestamp) {
        (self.selected_at, self.stood_at, self.armed) = (now, now, None);
    }

    /// Arms an action by its first key.
    pub const fn arm(&mut self, armed: Armed, now: Timestamp) {
        self.armed = Some((armed, now));
    }

    /// Cancels the armed action; returns whether there was one.
    pub fn disarm(&mut self, now: Timestamp) -> bool {
        let armed = self.armed(now).is_some();
        self.armed = None;
        armed
    }

    /// Notes a letter that no field took. Returns whether it follows another so soon that the person is
    /// writing; then it decides nothing.
    pub fn writes(&mut self, now: Timestamp) -> bool {
        let is_within = !is_steady(self.wrote_at, now);
        self.wrote_at = now;
        is_within
    }

    /// Whether a letter that no field took may be typed into the composer. It may not while cards or
    /// questions take keys, within 600 ms after a decision or a change of the page, nor within 600 ms after a
    /// letter that was dropped: only the end of a sentence would be typed.
    #[must_use]
    pub fn lets_write(&self, now: Timestamp) -> bool {
        let is_asked = self.footing.has_keyboard() || !self.cards.is_empty();
        let mut since = [self.decided, self.stood_at, self.wrote_at].into_iter();
        !self.has_caret && !is_asked && since.all(|since| is_steady(since, now))
    }

    /// The armed action.
    #[must_use]
    pub fn armed(&self, now: Timestamp) -> Option<Armed> {
        self.armed.filter(|(armed, since)| now.since(*since) < armed.lasts()).map(|(armed, _)| armed)
    }

    #[must_use]
    pub const fn has_caret(&self) -> bool {
        self.has_caret
    }

    /// When a target becomes active or an armed action expires: then a frame must be drawn.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let has_cards = !self.cards.is_empty();
        let moved = self.cards.iter().filter_map(|card| card.seen).map(|(_, since)| since);
        let decided = [self.decided].into_iter().filter(|_| has_cards);
        let steady =
            moved.chain(decided).chain([self.selected_at, self.stood_at]).map(|since| (since, STEADY));
        let armed = self.armed.map(|(armed, since)| (since, armed.lasts()));
        let due = steady.chain(armed).map(|(since, for_ms)| {
            Timestamp(since.0.saturating_add(i64::try_from(for_ms).unwrap_or_default()))
        });
        due.filter(|due| *due > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const A: PendingId = PendingId::Approval(ApprovalId(Uuid::from_u128(1)));
    const B: PendingId = PendingId::Approval(ApprovalId(Uuid::from_u128(2)));
    const C: PendingId = PendingId::Approval(ApprovalId(Uuid::from_u128(3)));
    const WHOLE: Spot =
        Spot { top: 100, height: 200, view: 600, is_whole: true, is_blind: false, shows_end: true };

    const fn at(ms: i64) -> Timestamp {
        Timestamp(1_000_000 + ms)
    }

    /// Two cards of an inbox, drawn at 0 ms.
    fn two() -> Guard {
        let mut guard = Guard::default();
        guard.offer(&[A, B], at(0));
        guard.saw(A, WHOLE, at(0));
        guard.saw(B, Spot { top: 310, ..WHOLE }, at(0));
        guard
    }

    #[test]
    fn the_keyboard_walks_in_the_order_in_which_cards_stand() {
        let mut guard = Guard::default();
        guard.offer(&[B], at(0));
        guard.offer(&[A, B], at(10));
        assert_eq!(guard.selected(), Some(B), "it keeps the keyboard");
        guard.step(1, at(20));
        assert_eq!(guard.selected(), Some(B), "nothing is below it");
        guard.step(-1, at(30));
        assert_eq!(guard.selected(), Some(A));
    }

    #[test]
    fn the_next_in_order_is_selected_when_the_selected_one_is_gone() {
        let gone = [(A, [B, C], B), (B, [A, C], C), (C, [A, B], B)];
        for (gone, left, selected) in gone {
            let mut guard = Guard::default();
            guard.offer(&[A, B, C], at(0));
            for _ in [A, B, C].iter().take_while(|id| **id != gone) {
                guard.step(1, at(10));
            }
            guard.offer(&left, at(20));
            assert_eq!(guard.selected(), Some(selected), "{gone:?} is gone");
        }
    }

    #[test]
    fn letters_that_follow_each_other_are_a_sentence() {
        let mut guard = two();
        let letters = [(1000, false), (1599, true), (2199, false), (2200, true)];
        for (now, is_within) in letters {
            assert_eq!(guard.writes(at(now)), is_within, "{now} ms");
        }
    }

    #[test]
    fn what_was_armed_long_ago_takes_no_key_to_forget() {
        let mut guard = two();
        guard.arm(Armed::Stop(TaskId(Uuid::from_u128(1))), at(0));
        assert!(!guard.disarm(at(5000)));
        guard.arm(Armed::Stop(TaskId(Uuid::from_u128(1))), at(0));
        assert!(guard.disarm(at(4999)) && !guard.disarm(at(4999)));
    }

    #[test]
    fn keys_act_on_the_selected_card_once_it_has_stood_for_600_ms() {
        let guard = two();
        for (now, in_hand) in [(0, None), (599, None), (600, Some(A)), (60_000, Some(A))] {
            assert_eq!(guard.in_hand(at(now)), in_hand, "{now} ms");
        }
    }

    /// Each change is within the time of a hand that is already moving.
    #[test]
    fn whatever_changes_the_screen_makes_keys_wait_again() {
        type Change = fn(&mut Guard, Timestamp);
        let changes: [(&str, Change); 8] = [
            ("a decision", |g, now| g.did(Deed::OnCard(A), now)),
            ("another client decides", |g, now| g.offer(&[A], now)),
            ("the card moves", |g, now| g.saw(A, Spot { top: 101, ..WHOLE }, now)),
            ("the card grows", |g, now| g.saw(A, Spot { height: 201, ..WHOLE }, now)),
            ("the caret leaves a field", |g, now| {
                g.caret(true, now);
                g.caret(false, now);
            }),
            ("the selection moves there and back", |g, now| {
                g.step(1, now);
                g.step(-1, now);
            }),
            ("something was over it", |g, now| {
                g.stand(Footing { is_covered: true, ..Footing::default() }, now);
                g.saw(A, WHOLE, now);
                g.stand(Footing::default(), now);
                g.saw(A, WHOLE, now);
            }),
            ("another page and back", |g, now| {
                g.stand(Footing { is_inbox: true, ..Footing::default() }, now);
                g.stand(Footing::default(), now);
                g.saw(A, WHOLE, now);
            }),
        ];
        for (name, change) in changes {
            let mut guard = two();
            change(&mut guard, at(1000));
            assert_eq!(guard.in_hand(at(1599)), None, "{name}");
            assert_eq!(guard.in_hand(at(1600)), Some(A), "{name}");
        }
    }

    #[test]
    fn a_card_that_is_not_wholly_visible_takes_clicks_only() {
        let mut guard = two();
        guard.saw(A, Spot { is_whole: false, ..WHOLE }, at(0));
        assert_eq!(guard.in_hand(at(5000)), None);
        assert!(guard.allows(Deed::OnCard(A), at(5000)));
        assert_eq!(guard.out_of_sight(), Some(A));
    }

    #[test]
    fn a_call_is_allowed_only_once_its_end_has_been_shown() {
        let PendingId::Approval(id) = A else { panic!("an approval") };
        let cut = Spot { shows_end: false, ..WHOLE };
        let mut guard = Guard::default();
        guard.offer(&[A], at(0));
        guard.saw(A, cut, at(0));
        assert!(!guard.allows(Deed::Allow(id), at(9000)) && guard.unread() == Some(id));
        assert!(guard.allows(Deed::OnCard(A), at(9000)), "it can be rejected");
        guard.saw(A, WHOLE, at(9000));
        assert!(!guard.allows(Deed::Allow(id), at(9599)), "it has just been shown");
        assert!(guard.allows(Deed::Allow(id), at(9600)) && guard.unread().is_none());
        guard.saw(A, cut, at(9700));
        assert!(guard.allows(Deed::Allow(id), at(10_300)), "it was scrolled back");
    }

    #[test]
    fn while_a_caret_is_drawn_no_card_has_the_keyboard() {
        let mut guard = two();
        guard.caret(true, at(1000));
        assert_eq!((guard.selected(), guard.in_hand(at(9000))), (None, None));
    }

    #[test]
    fn the_next_card_that_slides_into_place_waits_for_keys_and_clicks() {
        let mut guard = two();
        assert_eq!(guard.in_hand(at(1000)), Some(A));
        guard.did(Deed::OnCard(A), at(1000));
        guard.offer(&[B], at(1040));
        guard.saw(B, WHOLE, at(1050));
        assert_eq!(guard.selected(), Some(B));
        assert!(!guard.allows(Deed::OnCard(B), at(1649)) && guard.in_hand(at(1649)).is_none());
        assert!(guard.allows(Deed::OnCard(B), at(1650)));
        assert_eq!(guard.in_hand(at(1650)), Some(B));
    }

    #[test]
    fn a_button_that_changes_its_meaning_waits() {
        let mut guard = two();
        guard.stand(Footing { stance: 3, ..Footing::default() }, at(1000));
        assert!(!guard.allows(Deed::AtFoot, at(1599)) && guard.allows(Deed::AtFoot, at(1600)));
    }

    #[test]
    fn text_is_sent_only_once_what_it_is_sent_for_has_been_so_for_a_moment() {
        let page = Some(ConversationId(Uuid::from_u128(9)));
        let task = |n| Some(TaskId(Uuid::from_u128(n)));
        let at_work = Footing { page, stance: 2, task: task(1), ..Footing::default() };
        let mut guard = Guard::default();
        guard.stand(Footing { page, ..Footing::default() }, at(1000));
        guard.stand(at_work, at(1010));
        assert!(guard.allows(Deed::Sent, at(1010)), "the state is known now");
        for (n, next) in [
            Footing { stance: 1, task: None, ..at_work },
            at_work,
            Footing { stance: 8, ..at_work },
            at_work,
            Footing { task: task(2), ..at_work },
        ]
        .into_iter()
        .enumerate()
        {
            let now = 2000 + 1000 * i64::try_from(n).unwrap();
            guard.stand(next, at(now));
            assert!(!guard.allows(Deed::Sent, at(now + 599)), "{next:?}");
            assert!(guard.allows(Deed::Sent, at(now + 600)));
        }
        guard.stand(Footing { is_covered: true, task: task(2), ..at_work }, at(9000));
        assert!(guard.allows(Deed::Sent, at(9000)), "it is the same beneath");
    }

    #[test]
    fn what_is_armed_is_forgotten() {
        let stop = Armed::Stop(TaskId(Uuid::from_u128(3)));
        let armed = || {
            let mut guard = two();
            guard.arm(stop, at(1000));
            guard
        };
        assert_eq!((armed().armed(at(5999)), armed().armed(at(6000))), (Some(stop), None));
        for forget in [
            |g: &mut Guard| g.caret(true, at(1100)),
            |g: &mut Guard| g.step(1, at(1100)),
            |g: &mut Guard| g.did(Deed::AtFoot, at(1100)),
            |g: &mut Guard| g.offer(&[B], at(1100)),
            |g: &mut Guard| g.stand(Footing { stance: 1, ..Footing::default() }, at(1100)),
        ] {
            let mut guard = armed();
            forget(&mut guard);
            assert_eq!(guard.armed(at(1200)), None);
        }
    }

    #[test]
    fn what_is_armed_stays_while_nothing_happens() {
        let mut guard = Guard::default();
        guard.arm(Armed::Stop(TaskId(Uuid::from_u128(3))), at(0));
        guard.offer(&[], at(10));
        guard.stand(Footing::default(), at(10));
        assert!(guard.armed(at(20)).is_some());
    }

    #[test]
    fn a_frame_is_due_when_something_can_be_acted_upon_and_then_no_more() {
        let guard = two();
        assert_eq!(guard.next(at(10)), Some(at(600)));
        assert_eq!(guard.next(at(600)), None);
    }

    #[test]
    fn a_clock_that_goes_back_holds_nothing() {
        assert_eq!(two().in_hand(at(-900_000)), Some(A));
    }
}
