//! Builds a conversation from header, timeline and composer.

use super::{Conversation, Menu, Message};
use crate::{
    catalog::Catalog,
    guard::{Armed, Deed, Guard},
    screen::{
        composer::{About, Stance},
        pending::Cards,
    },
    theme::{space, style},
    widget::{Element, Look, action, centred::centred, nothing},
};
use abide_client::protocol::conversation::Conversation as Known;
use iced::{
    Fill,
    widget::{column, container},
};

impl Conversation {
    /// `escape_stops`: Escape does nothing but arm a stop, or stop.
    #[must_use]
    pub fn view<'a>(
        &'a self,
        catalog: &'a Catalog,
        known: Option<&'a Known>,
        cards: &'a Cards,
        guard: &Guard,
        escape_stops: bool,
        look: Look,
    ) -> Element<'a, Message> {
        let known = known.or_else(|| self.view.conversation());
        let about = About {
            catalog,
            persona: known.and_then(|c| c.persona.as_deref()),
            model: known.and_then(|c| c.model.as_deref()),
            mode: known.and_then(|c| c.mode),
            here: known.and_then(|c| catalog.workspaces.get(&c.workspace)),
            is_new: false,
            is_steady: guard.allows(Deed::AtFoot, look.now),
            can_send: guard.allows(Deed::Sent, look.now),
            has_caret: guard.has_caret(),
            escape_stops,
            is_stop_armed: matches!(guard.armed(look.now), Some(Armed::Stop(_))),
        };
        let composer = if self.shows_composer(look) {
            let composer = self.composer.view(self.stance(), &about, look).map(Message::Composer);
            let above = if look.is_low { space::XS } else { space::S };
            let around = iced::padding::bottom(look.below()).top(above);
            container(centred(composer, look.margin())).padding(around).into()
        } else {
            nothing()
        };
        let below = if self.sub_task().is_some() { look.below() } else { 0.0 };
        let empty =
            || -> Element<'a, Message> { container(nothing()).padding(iced::padding::bottom(below)).into() };
        let intervention = self.intervention_view(guard, look).map_or_else(empty, |shown| {
            let above = if look.is_low { space::XS } else { space::S };
            container(centred(shown, look.margin())).padding(iced::padding::bottom(below).top(above)).into()
        });
        let gives_way = look.is_low && self.stance().needs_person();
        // The list shows its title, and has the menu too.
        let header = match self.menu {
            Menu::Closed if look.is_low => nothing(),
            _ => self.header(known, look),
        };
        let jump = if gives_way { nothing() } else { self.jump_button() };
        // Below the timeline, not over it, so that it covers no button of a card.
        let find = self.find_bar(look).unwrap_or_else(nothing);
        column![header, find, self.timeline(catalog, cards, guard, look), jump, intervention, composer].into()
    }

    /// In a very low window an approval has the composer's room, unless a draft is being written. Then *Stop*
    /// is in the bar.
    #[must_use]
    pub fn shows_composer(&self, look: Look) -> bool {
        if self.sub_task().is_some() {
            return false;
        }
        let gives_way = look.is_least && matches!(self.stance(), Stance::Approval(_));
        !gives_way || self.composer.has_caret() && !self.composer.draft().is_empty()
    }

    fn jump_button(&self) -> Element<'_, Message> {
        if self.at_end() {
            return nothing();
        }
        let words = if self.news == 0 { "Jump to latest" } else { "Jump to latest · new" };
        let button =
            action(words, None).padding([5.0, 12.0]).style(style::secondary).on_press(Message::JumpPressed);
        container(button).center_x(Fill).padding(iced::padding::top(space::XS)).into()
    }
}
