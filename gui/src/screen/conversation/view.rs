//! Header, timeline and composer, put together.

use super::{Conversation, Message};
use crate::{
    guard::{Armed, Deed, Guard},
    screen::composer::About,
    theme::{space, style},
    widget::{Element, Look, action},
};
use abide_client::protocol::{conversation::Conversation as Known, method::daemon::ListModelsReply};
use iced::{
    Fill,
    widget::{column, container, space as gap},
};

impl Conversation {
    #[must_use]
    pub fn view<'a>(
        &'a self,
        models: Option<&'a ListModelsReply>,
        known: Option<&'a Known>,
        guard: &Guard,
        look: Look,
    ) -> Element<'a, Message> {
        let known = known.or_else(|| self.view.conversation());
        let about = About {
            models,
            model: known.and_then(|c| c.model.as_deref()),
            mode: known.and_then(|c| c.mode),
            is_new: false,
            is_steady: guard.allows(Deed::AtFoot, look.now),
            stops_on_escape: matches!(guard.armed(look.now), Some(Armed::Stop(_))),
        };
        let composer = self.composer.view(self.stance(), &about).map(Message::Composer);
        let composer = container(container(composer).max_width(space::COLUMN))
            .center_x(Fill)
            .padding(iced::padding::horizontal(space::XL).bottom(space::L).top(space::S));
        // Below the timeline, not over it: it must not cover the buttons of a card.
        column![self.header(known, look), self.timeline(guard, look), self.jump_button(), composer].into()
    }

    fn jump_button(&self) -> Element<'_, Message> {
        if self.at_end() {
            return gap().height(0).into();
        }
        let words = if self.news == 0 { "Jump to latest" } else { "Jump to latest · new" };
        let button =
            action(words, None).padding([5.0, 12.0]).style(style::secondary).on_press(Message::JumpPressed);
        container(button).center_x(Fill).padding(iced::padding::top(space::XS)).into()
    }
}
