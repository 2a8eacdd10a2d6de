//! What the window says of what was done: that it failed, that it is done, or that it can be undone for a
//! while.

use super::{App, Message};
use crate::{
    effect::Effect,
    request::{self, Request},
    theme::{space, style},
    widget::{Element, action, centred::centred, key, nothing, prose, scrolls, word},
};
use abide_client::protocol::{ConversationId, Timestamp};
use iced::{
    Center, Fill, Task, padding,
    widget::{container, row},
};

/// How long an action can be undone, in milliseconds.
const REGRET: i64 = 5000;
/// How long the message about an action is shown, in milliseconds.
const SAID: i64 = 2000;

/// What is said now.
#[derive(Debug, Default)]
pub(super) struct Feedback {
    /// The last error message, shown on the page where it happened.
    pub(super) notice: Option<String>,
    /// The last action that can be undone.
    pub(super) done: Option<Done>,
    /// The last action that needs no undo, and until when its message is shown.
    pub(super) said: Option<(&'static str, Timestamp)>,
}

/// An action that can be undone for a while.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    what: Action,
    pub(super) until: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Archived(ConversationId),
    /// A deletion, which cannot be undone: it was confirmed.
    Deleted,
}

impl App {
    /// Notes that the daemon has done this: for a while it can be undone.
    pub(super) fn note_done(&mut self, request: &Request) {
        let what = match request {
            Request::ArchiveConversation(asked) if asked.archived => {
                asked.conversation_id.parse().ok().map(Action::Archived)
            }
            Request::DeleteConversation(_) => Some(Action::Deleted),
            _ => None,
        };
        if let Some(what) = what {
            self.feedback.done = Some(Done { what, until: Timestamp(self.now.0.saturating_add(REGRET)) });
        }
    }

    /// Shows for a moment that it was done.
    pub(super) const fn say(&mut self, words: &'static str) {
        self.feedback.said = Some((words, Timestamp(self.now.0.saturating_add(SAID))));
    }

    pub(super) fn take_back(&mut self) -> Task<Message> {
        match self.feedback.done.take().map(|done| done.what) {
            Some(Action::Archived(id)) => {
                self.perform(vec![Effect::Ask(request::archive(id, false)), Effect::Open(id)])
            }
            Some(Action::Deleted) | None => Task::none(),
        }
    }

    /// The last error message, until it is dismissed.
    pub(super) fn notice(&self) -> Element<'_, Message> {
        match &self.feedback.notice {
            None => nothing(),
            Some(words) => {
                let look = self.look();
                let most = space::NOTICE.min(look.tallest);
                let words = container(scrolls(prose(words).width(Fill))).max_height(most).width(Fill);
                let close = word("Close", Message::NoticeRead);
                let content = row![words, row![close, key("Esc")].align_y(Center)];
                let content = content.spacing(space::M).align_y(Center);
                let inner = if look.is_low { space::XS } else { space::M };
                let card = container(content).padding(inner).width(Fill).style(style::bad_card);
                container(centred(card, look.margin())).padding(padding::bottom(look.below())).into()
            }
        }
    }

    /// The last action and its undo button.
    pub(super) fn taken_back(&self) -> Element<'_, Message> {
        let Some(done) = self.feedback.done.as_ref().filter(|done| done.until > self.now) else {
            return nothing();
        };
        let look = self.look();
        let (words, back) = match done.what {
            Action::Archived(_) => ("Archived. A search finds it, too.", Some("Undo")),
            Action::Deleted => ("Deleted.", None),
        };
        let back = back.map(|back| {
            let back = action(back, None).padding(style::button_padding(look.is_low));
            back.style(style::secondary).on_press(Message::TakenBack)
        });
        let content = row![prose(words).width(Fill)].extend(back.map(Element::from)).spacing(space::M);
        let content = content.align_y(Center);
        let inner = if look.is_low { [space::XS, space::S] } else { [space::S, space::M] };
        let card = container(content).padding(inner).width(Fill).style(style::card);
        container(centred(card, look.margin())).padding(padding::bottom(look.below())).into()
    }
}
