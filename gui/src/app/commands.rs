//! Performs the commands of keys.

use super::{App, Cover, Dialog, Message, Page};
use crate::{
    effect::{Effect, field},
    guard::{Armed, Deed},
    keymap::Command,
    screen::{
        composer::{self, Stance},
        conversation::{self, intervene},
        new_conversation, palette, pending, provider, settings,
    },
    theme::SCALES,
};
use abide_client::protocol::ConversationId;
use iced::{
    Task,
    widget::text_editor::{Action, Edit},
};
use std::borrow::Cow;

impl App {
    pub(super) fn command(&mut self, command: Command) -> Task<Message> {
        if self.overlay.dialog != Dialog::Nothing {
            return self.command_over(command);
        }
        if self.overlay.reader.is_some() {
            return self.on_reader(command);
        }
        // The second key of two; any other key cancels the first.
        match (command, self.guard.armed(self.now)) {
            (Command::Confirm, Some(armed @ (Armed::Approval(..) | Armed::Choice(..) | Armed::End(..)))) => {
                return self.confirm(armed);
            }
            // Again at once: it is not the second key, and the pause before that one begins anew.
            (Command::Escape, Some(armed @ Armed::Stop(_)))
            | (Command::Decline, Some(armed @ Armed::Decline(_)))
                if !self.guard.allows(armed.deed(), self.now) =>
            {
                self.arm_apart(armed);
                return Task::none();
            }
            (Command::Decline, Some(Armed::Decline(_))) => return self.on_card(command),
            (Command::Escape, Some(Armed::Stop(_))) => {
                let stop = conversation::Message::Composer(composer::Message::StopPressed);
                return self.handle(Message::Thread(stop));
            }
            _ if self.guard.disarm(self.now) && command == Command::Escape => return Task::none(),
            _ => {}
        }
        if let (Command::Confirm, Some(decided)) = (command, self.cards.confirmed(&self.guard, self.now)) {
            return self.card(decided);
        }
        // While the person types a sentence, no letter decides.
        if command.writes() && (self.guard.writes(self.now) || command == Command::Typed) {
            return Task::none();
        }
        match command {
            Command::Help => {
                self.show_dialog(Dialog::Help);
                return self.perform_one(Effect::Unfocus);
            }
            Command::New => return self.leave(),
            Command::Next => return self.step(1),
            Command::Previous => return self.step(-1),
            Command::NextThatNeedsMe => return self.next_that_needs_me(),
            Command::Inbox if self.page == Page::Inbox => {
                self.cover = Cover::Nothing;
                return self.perform_one(Effect::Back);
            }
            Command::Inbox => return self.show_inbox(),
            Command::Settings if self.page == Page::Settings => return self.perform_one(Effect::Back),
            Command::Settings => return self.show_settings(),
            Command::Memory if self.page == Page::Memory => return self.perform_one(Effect::Back),
            Command::Memory => return self.show_memory(),
            Command::Search => return self.search(),
            // On other pages only conversations can be searched.
            Command::Find if self.page != Page::Conversation => return self.search(),
            Command::Pin => return self.pin(),
            Command::Confirm if self.sidebar.deleting().is_some() => {
                let confirmed = self.sidebar.confirmed().map(Message::Sidebar);
                return confirmed.map_or_else(Task::none, |confirmed| self.handle(confirmed));
            }
            Command::List => return self.toggle_list(),
            Command::Archived => return self.toggle_archived(),
            Command::Tree => return self.toggle_tree(),
            Command::NextTask => return self.step_task(1),
            Command::PreviousTask => return self.step_task(-1),
            Command::Palette => return self.open_palette(),
            Command::Model => return self.choose_model(),
            Command::Walk | Command::WalkBack => return self.walk(command == Command::WalkBack),
            Command::ZoomIn | Command::ZoomOut | Command::ZoomReset | Command::Theme => {
                return self.restyle(command);
            }
            Command::Escape if self.cards.begun(&self.guard).is_some() => {
                return self.card(pending::Message::Cancelled);
            }
            Command::Escape if self.sidebar.close_menu() => return self.perform_one(Effect::GiveKeyboard),
            Command::Escape if self.page == Page::Inbox => {
                return self.perform_one(Effect::Back);
            }
            Command::Escape if self.page == Page::Settings => {
                let back = if self.preferences.setup.is_open() {
                    settings::Message::Setup(provider::Message::Cancelled)
                } else {
                    settings::Message::Closed
                };
                return self.handle(Message::Settings(back));
            }
            Command::Escape if self.page == Page::Memory => {
                return self.handle(Message::Memory(self.memory.escape()));
            }
            Command::Escape if self.clear_search() => return self.perform_one(Effect::GiveKeyboard),
            Command::Escape if self.is_covered() => self.cover = Cover::Nothing,
            // Letters of a field are not far from these keys.
            Command::StopTask | Command::Delete if self.guard.has_caret() && self.is_below() => {}
            command if command.decides() => return self.on_card(command),
            Command::PageDown if let Some(id) = self.guard.unread() => return self.read_on(id),
            Command::CardUp => return self.step_found_or_card(-1),
            Command::CardDown => return self.step_found_or_card(1),
            command => return self.on_page(command),
        }
        Task::none()
    }

    /// A command for what covers the rest.
    fn command_over(&mut self, command: Command) -> Task<Message> {
        match (command, &mut self.overlay.dialog) {
            (Command::Confirm, Dialog::Closing) => return self.handle(Message::CloseConfirmed),
            (Command::Confirm, Dialog::Palette(_)) => {
                return self.handle(Message::Palette(palette::Message::Submitted));
            }
            (Command::Palette, Dialog::Help) => return self.open_palette(),
            (Command::CardUp, Dialog::Palette(palette)) => palette.step(-1),
            (Command::CardDown, Dialog::Palette(palette)) => palette.step(1),
            (Command::Escape | Command::Help | Command::Palette, _) => {
                return self.handle(Message::OverClosed);
            }
            (command, Dialog::Help) => {
                return self.scroll_by(command, field::KEYS);
            }
            _ => {}
        }
        Task::none()
    }

    /// The keys ↑ and ↓: in the search they move through what is found, elsewhere from card to card.
    fn step_found_or_card(&mut self, by: isize) -> Task<Message> {
        match self.sidebar.pick(by, &self.overview, self.look()) {
            Some(shown) => self.perform_one(shown),
            None => self.step_card(by),
        }
    }

    pub(super) fn show_settings(&mut self) -> Task<Message> {
        self.page = Page::Settings;
        self.cover = Cover::Nothing;
        let effects = self.preferences.opened();
        Task::batch([self.tell_focus(), self.perform(effects)])
    }

    pub(super) fn show_memory(&mut self) -> Task<Message> {
        let workspace = self.workspace_behind().map(Cow::into_owned);
        self.page = Page::Memory;
        self.cover = Cover::Nothing;
        let mut effects = self.memory.open(workspace);
        effects.push(Effect::Focus(field::RECALL));
        Task::batch([self.tell_focus(), self.perform(effects)])
    }

    /// A letter that no field has taken: typed into the composer, which gets the caret, unless the letter may
    /// be meant as a key.
    pub(super) fn letter(&mut self, letter: &str, command: Command) -> Task<Message> {
        let is_over = self.open.as_ref().is_none_or(|open| open.live_task().is_none());
        let (write, field): (fn(Action) -> Message, _) = match self.page {
            Page::Conversation if self.is_below() && is_over => return self.command(command),
            Page::Conversation if self.is_below() => (to_sub_task, field::INTERVENTION),
            Page::Conversation if self.open.is_some() => (to_composer, field::COMPOSER),
            // It would be meant for the form.
            Page::NewConversation if self.new_conversation.setup.is_open() => return self.command(command),
            Page::NewConversation => (to_new_composer, field::COMPOSER),
            Page::Conversation | Page::Inbox | Page::Settings | Page::Memory => {
                return self.command(command);
            }
        };
        if !self.guard.lets_write(self.now) {
            return self.command(command);
        }
        self.guard.disarm(self.now);
        let written = letter.chars().map(|letter| Action::Edit(Edit::Insert(letter)));
        let written: Vec<Task<Message>> = written.map(|action| self.handle(write(action))).collect();
        Task::batch(written).chain(self.perform_one(Effect::Focus(field)))
    }

    fn on_page(&mut self, command: Command) -> Task<Message> {
        if let Some(id) = self.chosen_field().filter(|_| command == Command::FocusInput) {
            return Task::batch([self.show_card(id), self.perform_one(Effect::Focus(field::ANSWER))]);
        }
        let effects = match self.page {
            Page::Conversation => {
                let meant = self.open.as_ref().and_then(|open| open.command(command));
                return match meant {
                    Some(meant) => self.handle(Message::Thread(meant)),
                    None if command == Command::Escape => self.arm_stop(),
                    None => Task::none(),
                };
            }
            Page::Inbox => return self.scroll_by(command, field::INBOX),
            Page::Settings => return self.scroll_by(command, field::SETTINGS),
            Page::Memory => return self.scroll_by(command, field::MEMORY),
            Page::NewConversation => {
                let meant = self.new_conversation.command(command);
                meant.map(|message| self.new_conversation.update(message, &self.catalog))
            }
        };
        self.perform(effects.unwrap_or_default())
    }

    fn scroll_by(&self, command: Command, area: &'static str) -> Task<Message> {
        command.scrolls().map_or_else(Task::none, |by| self.scroll(area, by))
    }

    /// Whether Escape arms a stop or stops, and closes or leaves nothing else.
    pub(super) fn escape_stops(&self) -> bool {
        let is_covered =
            self.overlay.dialog != Dialog::Nothing || self.overlay.reader.is_some() || self.is_covered();
        let is_armed = self.guard.armed(self.now).is_some_and(|armed| !matches!(armed, Armed::Stop(_)));
        let is_begun = self.cards.begun(&self.guard).is_some() || self.sidebar.takes_escape();
        let has_other_target = self.guard.has_caret() || !self.guard.is_settled(self.now);
        let is_taken =
            is_covered || is_armed || is_begun || self.feedback.notice.is_some() || has_other_target;
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation && !is_taken);
        open.is_some_and(|open| open.command(Command::Escape).is_none())
    }

    /// The first of the two keys that stop the task. They count only with a pause before each: quick ones are
    /// meant for a field, or for what was open.
    fn arm_stop(&mut self) -> Task<Message> {
        let stance = self.open.as_ref().map(|open| open.stance());
        let task = match stance {
            Some(Stance::Working(task) | Stance::Approval(task) | Stance::Paused(task)) => task.id,
            Some(Stance::Question(task, _)) => task,
            Some(Stance::Ready | Stance::Away) | None => return Task::none(),
        };
        if self.guard.allows(Deed::AtFoot, self.now) && self.guard.is_settled(self.now) {
            tracing::debug!("Escape again stops");
            self.arm_apart(Armed::Stop(task));
        }
        Task::none()
    }

    pub(super) const fn page_behind(&self) -> Page {
        if self.open.is_some() { Page::Conversation } else { Page::NewConversation }
    }

    /// Changes the scale or the theme.
    pub(super) fn restyle(&mut self, command: Command) -> Task<Message> {
        match command {
            Command::ZoomIn => self.zoom(1),
            Command::ZoomOut => self.zoom(-1),
            Command::ZoomReset => self.zoom(0),
            _ => {
                self.settings.theme = self.settings.theme.next();
                self.local.keep_settings(&self.settings);
            }
        }
        Task::none()
    }

    fn zoom(&mut self, by: isize) {
        let now = SCALES.iter().position(|scale| *scale >= self.settings.scale).unwrap_or(SCALES.len() - 1);
        let next = now.saturating_add_signed(by).min(SCALES.len() - 1);
        self.scale_to(if by == 0 { 1.0 } else { SCALES.get(next).copied().unwrap_or(1.0) });
    }

    /// Sets the scale. At a larger one there is less room.
    pub(super) fn scale_to(&mut self, scale: f32) {
        self.window.size = self.window.size * (self.settings.scale / scale);
        self.settings.scale = scale;
        self.local.keep_settings(&self.settings);
    }

    /// Moves the keyboard to what waits here, or in the next conversation that needs the person.
    pub(super) fn go_to_what_waits(&mut self) -> Task<Message> {
        let shown = if self.waiting().next().is_none() { self.next_that_needs_me() } else { Task::none() };
        Task::batch([shown, self.perform_one(Effect::Unfocus)])
    }

    fn ids(&self) -> Vec<ConversationId> {
        self.sidebar.groups(&self.overview, self.look()).ids().collect()
    }

    fn step(&mut self, by: isize) -> Task<Message> {
        let ids = self.ids();
        let open = self.open.as_ref().map(|open| open.id());
        let at = ids.iter().position(|id| Some(*id) == open);
        let next = match at {
            Some(at) => at.checked_add_signed(by),
            None => Some(0),
        };
        match next.and_then(|next| ids.get(next)) {
            Some(id) => self.show_with_row(*id),
            None => Task::none(),
        }
    }

    /// The next conversation that needs the person, in a circle.
    fn next_that_needs_me(&mut self) -> Task<Message> {
        let waiting = self.sidebar.needing_you(&self.overview, self.look());
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation).map(|open| open.id());
        let after = waiting.iter().position(|id| Some(*id) == open).map_or(0, |at| at + 1);
        match waiting.get(after).or(waiting.first()) {
            Some(id) if Some(*id) == open => {
                let shown = self.show(*id);
                // It may have been a sub-task's page, with its cards at other places.
                self.guard_page();
                Task::batch([shown, self.bring_into_view()])
            }
            Some(id) => self.show_with_row(*id),
            None => Task::none(),
        }
    }
}

/// Writes in the composer of the open conversation.
const fn to_composer(action: Action) -> Message {
    Message::Thread(conversation::Message::Composer(composer::Message::Edited(action)))
}

/// Writes in the composer of a new conversation.
const fn to_new_composer(action: Action) -> Message {
    Message::NewConversation(new_conversation::Message::Composer(composer::Message::Edited(action)))
}

/// Writes to the sub-task that is shown.
const fn to_sub_task(action: Action) -> Message {
    Message::Thread(conversation::Message::Intervene(intervene::Message::Edited(action)))
}
