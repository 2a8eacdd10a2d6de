//! Connects the [guard](crate::guard) to the window: it is kept informed of what is shown, and asked before
//! anything that cannot be undone.
//!
//! After every message [`App::watch`] gives the guard the waiting items and the meaning of the fixed buttons;
//! widgets report places and carets by messages of their own. Before every message `App::handle` asks
//! [`App::deed`] whether it performs something that cannot be undone, and drops it if the guard does not
//! allow that now: no way of sending it goes around this. A key comes from the keymap through `App::command`
//! to [`App::on_card`], which sends the message that the card's button would send, or arms it for Enter
//! ([`App::confirm`]), or brings a card into view that is not wholly visible.

use super::{App, Dialog, Message, Page};
use crate::{
    effect::field,
    guard::{Armed, Deed, End, Footing},
    keymap::Command,
    screen::{
        composer::{Held, Stance},
        conversation, inbox, memory, pending,
    },
    widget::turn::turn,
};
use abide_client::protocol::{
    ApprovalId, ConversationId, TaskId,
    inbox::{Decision, InboxItem, Pending, PendingId},
    transcript::Risk,
};
use iced::{
    Task,
    advanced::widget::operate,
    widget::{Id, operation, scrollable::AbsoluteOffset},
};
use std::time::Duration;

/// The room left above a card that is scrolled into view, if there is any.
const ABOVE: i32 = 80;

impl App {
    /// The deed that the message performs, if it cannot be undone.
    pub(super) fn deed(&self, message: &Message) -> Option<Deed> {
        match message {
            Message::Thread(message) => message.deed(self.open.as_ref()?.stance()),
            Message::Inbox(inbox::Message::Card(message)) => message.deed(),
            Message::Sidebar(message) => message.deed(),
            Message::Memory(memory::Message::Forget(message)) => message.deed(),
            // Its button appears where the second click of a double-click on *Stop* would hit.
            Message::TakenBack => Some(Deed::AtFoot),
            _ => None,
        }
    }

    /// Informs the guard of the waiting cards and the meaning of the buttons, and schedules the frame in
    /// which they become active.
    pub(super) fn watch(&mut self) -> Task<Message> {
        self.feedback.done.take_if(|done| done.until <= self.now);
        self.guard_page();
        let place = self.place_now();
        if std::mem::replace(&mut self.place, place) != place {
            self.feedback.notice = None;
        }
        self.feedback.said.take_if(|(_, until)| *until <= self.now);
        let until = self
            .feedback
            .done
            .map(|done| done.until)
            .into_iter()
            .chain(self.feedback.said.map(|(_, until)| until));
        let Some(due) = self.guard.next(self.now).into_iter().chain(until).min() else { return Task::none() };
        if self.due.is_some_and(|known| known > self.now && known <= due) {
            return Task::none();
        }
        self.due = Some(due);
        let wait = Duration::from_millis(due.since(self.now));
        Task::future(async move {
            tokio::time::sleep(wait).await;
            Message::Settled
        })
    }

    /// Tells the guard which page is shown, and which cards it has.
    pub(super) fn guard_page(&mut self) {
        let waiting: Vec<PendingId> = self.waiting().map(|item| item.pending.id()).collect();
        self.guard.offer(&waiting, self.now);
        self.guard.stand(self.footing(), self.now);
    }

    pub(super) fn place_now(&self) -> (Page, Option<ConversationId>, Option<TaskId>) {
        let sub_task = self.open.as_ref().and_then(|open| open.sub_task());
        (self.page, self.open.as_ref().map(|open| open.id()), sub_task)
    }

    pub(super) fn settled(&mut self) -> Task<Message> {
        // It may come before its time: then it is set again.
        self.due = None;
        if self.guard.in_hand(self.now).is_some() {
            tracing::debug!("the selected card takes keys");
        }
        if self.guard.armed(self.now).is_some_and(|armed| self.guard.allows(armed.deed(), self.now)) {
            tracing::debug!("the second act counts");
        }
        Task::none()
    }

    pub(super) fn caret_moved(&mut self, is_drawn: bool) -> Task<Message> {
        tracing::debug!(is_drawn, "the caret moved");
        self.guard.caret(is_drawn, self.now);
        Task::none()
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &InboxItem> {
        let all = (self.page == Page::Inbox).then(|| self.overview.inbox().items());
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation);
        all.into_iter().flatten().chain(open.into_iter().flat_map(|open| open.waiting()))
    }

    fn footing(&self) -> Footing {
        let is_inbox = self.page == Page::Inbox;
        let is_covered =
            self.overlay.dialog != Dialog::Nothing || self.overlay.reader.is_some() || self.is_covered();
        let listed = Footing {
            is_inbox,
            is_covered,
            deleting: self.sidebar.deleting(),
            forgetting: match self.page {
                Page::Memory => self.memory.forgetting.asked(),
                Page::Conversation => self.open.as_ref().and_then(|open| open.forgetting.asked()),
                Page::NewConversation | Page::Inbox | Page::Settings => None,
            },
            is_regretted: self.feedback.done.is_some(),
            ..Footing::default()
        };
        let Some(open) = self.open.as_ref().filter(|_| self.page == Page::Conversation) else {
            return listed;
        };
        let is_without_composer = !open.shows_composer(self.look());
        let stance = open.stance();
        let (stance, task, asked) = match stance {
            Stance::Away => (Footing::UNKNOWN, None, None),
            Stance::Ready => (1, None, None),
            Stance::Working(task) if stance.can_go_on() => (6, Some(task.id), None),
            Stance::Working(task) => (2, Some(task.id), None),
            Stance::Approval(task) if stance.can_go_on() => (7, Some(task.id), None),
            Stance::Approval(task) => (3, Some(task.id), None),
            Stance::Paused(task) => (4, Some(task.id), None),
            Stance::Question(task, question) if open.composer.held() == Some(Held::Draft) => {
                (10, Some(task), Some(PendingId::Question(question.id)))
            }
            Stance::Question(task, question) => (5, Some(task), Some(PendingId::Question(question.id))),
        };
        let (page, is_deleting) = (Some(open.id()), open.is_confirming());
        let sub_task = open.sub_task();
        Footing { page, sub_task, task, stance, asked, is_deleting, is_without_composer, ..listed }
    }

    /// A message for the cards of this page.
    pub(super) fn card(&mut self, message: pending::Message) -> Task<Message> {
        self.handle(match self.page {
            Page::Inbox => Message::Inbox(inbox::Message::Card(message)),
            _ => Message::Thread(conversation::Message::Card(message)),
        })
    }

    /// A key that decides the selected card, if the card is visible and steady.
    pub(super) fn on_card(&mut self, command: Command) -> Task<Message> {
        if let Some(begun) = self.cards.begun(&self.guard) {
            // A letter typed before the reason's field has the keyboard decides nothing; this one moves the
            // keyboard to it.
            let is_back = matches!(command, Command::Reject | Command::RejectAlways);
            if !is_back || self.guard.selected() != Some(begun) {
                return Task::none();
            }
        }
        let in_hand = match command {
            Command::Decline => self.guard.at_hand(self.now),
            _ => self.guard.in_hand(self.now),
        };
        let Some(id) = in_hand else { return self.bring_into_view() };
        let item = self.waiting().find(|item| item.pending.id() == id);
        let Some(decided) = item.and_then(|item| pending::decision(item, command)) else {
            return Task::none();
        };
        let is_grave = |pending: &Pending| matches!(pending, Pending::Approval(a) if a.risk != Risk::Low);
        let armed = match (&decided, command) {
            // With words in its field the person is about to answer.
            (pending::Message::Declined(..), _) if self.is_answering(id) => return Task::none(),
            (pending::Message::Declined(_, id), _)
                if self.guard.armed(self.now) != Some(Armed::Decline(*id)) =>
            {
                Armed::Decline(*id)
            }
            // One key suffices for an action that is harmless.
            (pending::Message::Allowed(id, _), _) if item.is_some_and(|i| is_grave(&i.pending)) => {
                Armed::Approval(*id)
            }
            // As in a field: a digit picks, Enter answers.
            (pending::Message::Chosen(_, id, _), Command::Choose(number)) => Armed::Choice(*id, number),
            _ => return self.card(decided),
        };
        match armed {
            Armed::Approval(id) if !self.guard.allows(Deed::Allow(id), self.now) => {}
            Armed::Decline(_) => self.arm_apart(armed),
            _ => self.guard.arm(armed, self.now),
        }
        Task::none()
    }

    /// Arms a deed whose second act is like the first: it counts only after a moment. A double-click or two
    /// quick keys must not be both.
    pub(super) fn arm_apart(&mut self, armed: Armed) {
        tracing::debug!(?armed, "to be done by a second act, apart from the first");
        self.guard.did(armed.deed(), self.now);
        self.guard.arm(armed, self.now);
    }

    /// Whether an answer to this question is written and not sent.
    fn is_answering(&self, id: PendingId) -> bool {
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation);
        open.is_some_and(|open| !open.composer.draft().is_empty()) || self.cards.is_answering(id)
    }

    /// The first of the two clicks that allow a call of high risk arms it, like the first of two keys.
    pub(super) fn arms(&mut self, message: &pending::Message) -> bool {
        let pending::Message::Allowed(id, Decision::AllowOnce) = message else { return false };
        let armed = Armed::Approval(*id);
        let item = self.waiting().find(|item| Some(item.pending.id()) == armed.card());
        let is_high =
            item.is_some_and(|i| matches!(&i.pending, Pending::Approval(a) if a.risk == Risk::High));
        if !is_high || self.guard.armed(self.now) == Some(armed) {
            return false;
        }
        // Enter would perform it, so its card is the one that is drawn as having the keyboard.
        self.guard.take(PendingId::Approval(*id), self.now);
        self.arm_apart(armed);
        true
    }

    /// The first of the two acts that end a task arms it. While a caret is drawn no key arms it.
    pub(super) fn arms_end(&mut self, end: End) -> bool {
        let Some(task) = self.open.as_ref().and_then(|open| open.live_task()) else { return true };
        let armed = Armed::End(task.id, end);
        if self.guard.armed(self.now) == Some(armed) {
            return false;
        }
        tracing::debug!(?end, "armed");
        self.arm_apart(armed);
        true
    }

    /// Enter, after the key that armed this.
    pub(super) fn confirm(&mut self, armed: Armed) -> Task<Message> {
        let item = self.waiting().find(|item| Some(item.pending.id()) == armed.card());
        let decided = match (armed, item) {
            (Armed::Approval(id), _) => Some(pending::Message::Allowed(id, Decision::AllowOnce)),
            (Armed::Choice(_, number), Some(item)) => pending::decision(item, Command::Choose(number)),
            (Armed::End(_, end), _) => {
                return self.handle(Message::Thread(conversation::Message::EndPressed(end)));
            }
            (Armed::Choice(..), None) | (Armed::Decline(_) | Armed::Stop(_), _) => None,
        };
        decided.map_or_else(Task::none, |decided| self.card(decided))
    }

    /// The selected card, if it is drawn and has a field for the answer. The composer answers the question of
    /// a root; beside that of a sub-task it gets the keyboard by the same key again.
    pub(super) fn chosen_field(&self) -> Option<PendingId> {
        let id = self.guard.chosen().filter(|id| self.guard.spot(*id).is_some())?;
        let item = self.waiting().find(|item| item.pending.id() == id)?;
        let is_question = matches!(item.pending, Pending::Question(_));
        let is_first = item.sub_task().is_some() && !self.guard.has_caret();
        let is_here = self.page == Page::Inbox || self.is_below() || is_first;
        (is_question && is_here).then_some(id)
    }

    /// Selects another card.
    pub(super) fn step_card(&mut self, by: isize) -> Task<Message> {
        self.guard.step(by, self.now);
        self.bring_into_view()
    }

    /// A lasting decision was begun on this card: what it would remember must be in view for a moment before
    /// it can be confirmed.
    pub(super) fn begin_lasting(&mut self, id: PendingId) -> Task<Message> {
        self.guard.take(id, self.now);
        self.guard.did(Deed::OnCard(id), self.now);
        self.show_card(id)
    }

    /// Scrolls to the selected card: a card must be seen before its keys work.
    pub(super) fn bring_into_view(&mut self) -> Task<Message> {
        self.guard.out_of_sight().map_or_else(Task::none, |id| self.show_card(id))
    }

    /// Scrolls on in this card, whose end has not been shown; first it must be in view itself.
    pub(super) fn read_on(&mut self, id: ApprovalId) -> Task<Message> {
        let id = PendingId::Approval(id);
        self.guard.take(id, self.now);
        if self.guard.spot(id).is_some_and(|spot| spot.is_whole) {
            operate(turn(field::CARD))
        } else {
            self.show_card(id)
        }
    }

    /// Scrolls to a card that is not wholly visible.
    pub(super) fn show_card(&mut self, id: PendingId) -> Task<Message> {
        let spot = self.guard.spot(id);
        if spot.is_some_and(|spot| spot.is_whole) {
            return Task::none();
        }
        match (self.page, &mut self.open, spot) {
            (Page::Conversation, Some(open), _) => {
                let effects = open.go_to_card(id);
                self.perform(effects)
            }
            (Page::Inbox, _, Some(spot)) => {
                let above = (spot.view - spot.height).clamp(0, ABOVE);
                #[expect(clippy::cast_precision_loss, reason = "pixels of a page")]
                let y = (spot.top - above) as f32;
                operation::scroll_by(Id::new(field::INBOX), AbsoluteOffset { x: 0.0, y })
            }
            _ => Task::none(),
        }
    }
}
