//! Header, timeline and composer, put together.

use super::{Conversation, Message};
use crate::{
    effect::field,
    font,
    guard::{Armed, Deed, Guard},
    screen::composer::About,
    theme::{size, space, style},
    widget::{Element, Look, action, calm::calm, secondary, word},
};
use abide_client::protocol::{conversation::Conversation as Known, method::daemon::ListModelsReply};
use iced::{
    Center, Fill,
    widget::{column, container, row, space as gap, stack, text_editor},
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
        let page =
            column![self.header(known, look), self.timeline(guard, look), self.jump_button(), composer];
        match &self.reader {
            None => page.into(),
            Some(reader) => stack![page, read(reader)].into(),
        }
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

/// All as text: it can be selected and copied there, not changed.
fn read(reader: &text_editor::Content) -> Element<'_, Message> {
    let editor = text_editor(reader)
        .id(field::READER)
        .height(Fill)
        .size(size::SECONDARY)
        .padding(space::M)
        .font(font::CODE)
        .style(style::editor(false))
        .on_action(Message::Read);
    let head = row![
        secondary("Select and copy (Ctrl C). Esc closes."),
        gap().width(Fill),
        word("Close", Message::ReaderClosed)
    ]
    .align_y(Center);
    container(column![head, calm(editor)].spacing(space::S))
        .padding(space::L)
        .width(Fill)
        .height(Fill)
        .style(style::dialog)
        .into()
}
