//! The placement of the list of conversations: beside the page, over it, or hidden.

use super::{App, Cover, Message, Page};
use crate::{
    effect::{Effect, field},
    guard::{Armed, Deed},
    keymap::Command,
    screen::{
        composer::{self, STOP, STOPS},
        conversation, sidebar,
    },
    theme::{size, space, style},
    widget::{Element, action, badge, key, nothing, press::press},
};
use iced::{
    Center, Fill, Size, Task,
    widget::{Row, container, row, space as gap, text},
};

/// A narrower window has no room for both, in logical pixels.
const NARROW: f32 = 720.0;
/// A narrower window has no room for the names of keys in the bar, in logical pixels.
const TIGHT: f32 = 400.0;
/// The least width of the list, in logical pixels.
const LEAST: f32 = 200.0;
const MOST: f32 = 480.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ListPlacement {
    Beside(f32),
    Over(f32),
    Away,
}

impl App {
    pub(super) fn list_placement(&self) -> ListPlacement {
        let wanted = self.settings.list_width.clamp(LEAST, MOST);
        match (self.window.size.width < NARROW, self.cover == Cover::List, self.settings.hides_list) {
            (true, true, _) => ListPlacement::Over(wanted.min(self.window.size.width - space::XL)),
            (true, false, _) | (false, _, true) => ListPlacement::Away,
            (false, _, false) => ListPlacement::Beside(wanted.min(self.window.size.width / 2.0)),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "pixels of a window")]
    pub(super) const fn resized(&mut self, to: Size<u32>) {
        self.window.size = Size::new(to.width as f32, to.height as f32);
    }

    pub(super) fn in_list(&mut self, deed: Option<Deed>, message: sidebar::Message) -> Task<Message> {
        match message {
            sidebar::Message::InboxPressed => self.command(Command::Inbox),
            sidebar::Message::SettingsPressed => self.command(Command::Settings),
            sidebar::Message::HelpPressed => self.command(Command::Help),
            sidebar::Message::HidePressed => self.command(Command::List),
            message => {
                if matches!(&message, sidebar::Message::QueryChanged(query) if query.is_empty()) {
                    self.end_search();
                }
                let effects = self.sidebar.update(message, &self.overview, self.look());
                self.perform_deed(deed, effects)
            }
        }
    }

    /// Clears the search; false if there was none.
    pub(super) fn clear_search(&mut self) -> bool {
        let is_cleared = self.sidebar.clear_search();
        if is_cleared {
            self.end_search();
        }
        is_cleared
    }

    fn end_search(&mut self) {
        if let Some(open) = &mut self.open {
            open.end_search();
        }
    }

    /// Whether the list or the tree covers the page: then no key may act on the page.
    pub(super) fn is_covered(&self) -> bool {
        matches!(self.list_placement(), ListPlacement::Over(_)) || self.tree_is_over()
    }

    pub(super) fn toggle_list(&mut self) -> Task<Message> {
        if self.window.size.width < NARROW {
            self.cover = if self.cover == Cover::List { Cover::Nothing } else { Cover::List };
        } else {
            self.settings.hides_list = !self.settings.hides_list;
            self.local.keep_settings(&self.settings);
        }
        Task::none()
    }

    fn show_list(&mut self) {
        if self.list_placement() == ListPlacement::Away {
            drop(self.toggle_list());
        }
    }

    /// Opens the group of archived conversations, in the list that is shown for it; folds it if it is shown.
    pub(super) fn toggle_archived(&mut self) -> Task<Message> {
        let is_seen = self.list_placement() != ListPlacement::Away;
        self.show_list();
        let effects = self.sidebar.toggle_archived(is_seen);
        self.perform(effects)
    }

    /// Shows the list and moves the keyboard to its search.
    pub(super) fn search(&mut self) -> Task<Message> {
        self.show_list();
        let mut effects = self.sidebar.search_again();
        // What is typed next replaces an earlier search.
        effects.push(Effect::FocusText(field::SEARCH));
        self.perform(effects)
    }

    /// Pins the open conversation, or unpins it.
    pub(super) fn pin(&mut self) -> Task<Message> {
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation).map(|open| open.id());
        let effect = open.map(|id| self.sidebar.pin(id));
        effect.map_or_else(Task::none, |effect| self.perform_one(effect))
    }

    /// The line between list and page was dragged to this place, or released.
    pub(super) fn drag_list(&mut self, to: Option<f32>) -> Task<Message> {
        match to {
            Some(x) => self.settings.list_width = x.clamp(LEAST, MOST),
            None => self.local.keep_settings(&self.settings),
        }
        Task::none()
    }

    /// *Stop*, while no composer has it; and whether Esc has armed it.
    fn stop_in_bar(&self) -> Option<(Element<'_, Message>, bool)> {
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation)?;
        if open.shows_composer(self.look()) || open.sub_task().is_some() {
            return None;
        }
        let is_armed = matches!(self.guard.armed(self.now), Some(Armed::Stop(_)));
        let stop = Message::Thread(conversation::Message::Composer(composer::Message::StopPressed));
        let stop = Some(stop).filter(|_| self.guard.allows(Deed::AtFoot, self.now));
        let button = action(if is_armed { STOPS } else { STOP }, None).padding(style::button_padding(true));
        Some((button.style(style::danger).on_press_maybe(stop).passed_by().into(), is_armed))
    }

    /// The bar that leads to the list while it is hidden.
    pub(super) fn bar(&self) -> Element<'_, Message> {
        if matches!(self.list_placement(), ListPlacement::Beside(_)) {
            return nothing();
        }
        let press = |content: Row<'static, Message>, command| {
            press(content).padding([4.0, 8.0]).style(style::quiet).on_press(Message::Key(command))
        };
        let words = |words| text(words).size(size::SECONDARY);
        // The count of the inbox needs the room more.
        let name = (self.window.size.width >= TIGHT).then(|| key("Ctrl B").into());
        let list = row![words("Conversations")].extend(name).spacing(space::S).align_y(Center);
        let mut inbox = row![words("Inbox")].spacing(space::S).align_y(Center);
        let waiting = self.overview.waiting();
        if waiting > 0 {
            inbox = inbox.push(badge(waiting.to_string()).style(style::badge_needs_you));
        }
        let is_new = self.page == Page::NewConversation;
        let new = (!is_new).then(|| press(row![words("New")], Command::New).into());
        let (stop, is_armed) = self.stop_in_bar().unzip();
        // Its longer label needs the room.
        let list = (is_armed != Some(true)).then(|| press(list, Command::List).into());
        let bar = Row::new()
            .extend(list)
            .push(gap().width(Fill))
            .extend(stop.or(new))
            .push(press(inbox, Command::Inbox))
            .align_y(Center);
        container(bar).padding([space::XS, space::M]).width(Fill).style(style::panel).into()
    }
}
