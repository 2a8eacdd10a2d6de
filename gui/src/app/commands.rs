//! What keys do.

use super::{App, Message, Over, Page};
use crate::{
    effect::{Effect, field},
    guard::{Armed, Deed},
    keymap::Command,
    screen::{
        composer::{self, Stance},
        conversation, fresh, pending,
    },
    theme::SCALES,
};
use abide_client::protocol::ConversationId;
use iced::Task;

impl App {
    pub(super) fn command(&mut self, command: Command) -> Task<Message> {
        if self.over != Over::Nothing {
            return match (command, self.over) {
                (Command::Escape | Command::Help, _) => self.handle(Message::OverClosed),
                (Command::Confirm, Over::Closing) => self.handle(Message::CloseConfirmed),
                _ => Task::none(),
            };
        }
        // The second of two keys; any other key forgets the first.
        match (command, self.guard.armed(self.now)) {
            (Command::Confirm, Some(Armed::Approval(id, decision))) => {
                return self.card(pending::Message::Allowed(id, decision));
            }
            (Command::Escape, Some(Armed::Stop(_))) => {
                let stop = conversation::Message::Composer(composer::Message::StopPressed);
                return self.handle(Message::Thread(stop));
            }
            _ if self.guard.disarm() && command == Command::Escape => return Task::none(),
            _ => {}
        }
        match command {
            Command::Help => {
                self.over = Over::Help;
                return self.perform_one(Effect::Unfocus);
            }
            Command::New => return self.leave(),
            Command::Next => return self.step(1),
            Command::Previous => return self.step(-1),
            Command::NextThatNeedsMe => return self.next_that_needs_me(),
            Command::Inbox => {
                self.page = if self.page == Page::Inbox { self.page_behind() } else { Page::Inbox };
                return self.tell_focus();
            }
            Command::Search => return self.perform(vec![Effect::Focus(field::SEARCH)]),
            Command::ZoomIn => self.zoom(1),
            Command::ZoomOut => self.zoom(-1),
            Command::ZoomReset => self.zoom(0),
            Command::Theme => {
                self.settings.theme = self.settings.theme.next();
                self.memory.keep_settings(&self.settings);
            }
            Command::Escape if self.page == Page::Inbox && self.inbox.cards.is_rejecting() => {
                return self.card(pending::Message::RejectCancelled);
            }
            Command::Escape if self.page == Page::Inbox => {
                self.page = self.page_behind();
                return self.tell_focus();
            }
            Command::Escape if self.sidebar.clear_search() => {}
            Command::Escape if self.notice.take().is_some() => {}
            command if command.decides() => return self.on_card(command),
            Command::CardUp => return self.step_card(-1),
            Command::CardDown => return self.step_card(1),
            command => return self.on_page(command),
        }
        Task::none()
    }

    fn on_page(&mut self, command: Command) -> Task<Message> {
        let effects = match self.page {
            Page::Conversation => {
                let meant = self.open.as_ref().and_then(|open| open.command(command));
                return match meant {
                    Some(meant) => self.handle(Message::Thread(meant)),
                    None if command == Command::Escape => self.arm_stop(),
                    None => Task::none(),
                };
            }
            Page::Inbox => None,
            Page::Fresh if command == Command::Demo => Some(self.fresh.update(fresh::Message::DemoPressed)),
            Page::Fresh if command == Command::FocusInput => Some(vec![Effect::Focus(field::COMPOSER)]),
            Page::Fresh if command == Command::Folder => Some(vec![Effect::Focus(field::FOLDER)]),
            Page::Fresh if command == Command::Complete => {
                Some(self.fresh.update(fresh::Message::FolderCompleted))
            }
            Page::Fresh => None,
        };
        self.perform(effects.unwrap_or_default())
    }

    /// The first of two keys that stop the task.
    fn arm_stop(&mut self) -> Task<Message> {
        let stance = self.open.as_ref().map(|open| open.stance());
        if let Some(Stance::Working(task) | Stance::Approval(task)) = stance
            && self.guard.allows(Deed::AtFoot, self.now)
        {
            tracing::debug!("Escape again stops");
            self.guard.arm(Armed::Stop(task.id), self.now);
        }
        Task::none()
    }

    const fn page_behind(&self) -> Page {
        if self.open.is_some() { Page::Conversation } else { Page::Fresh }
    }

    fn zoom(&mut self, by: isize) {
        let now = SCALES.iter().position(|scale| *scale >= self.settings.scale).unwrap_or(SCALES.len() - 1);
        let next = now.saturating_add_signed(by).min(SCALES.len() - 1);
        self.settings.scale = if by == 0 { 1.0 } else { SCALES.get(next).copied().unwrap_or(1.0) };
        self.memory.keep_settings(&self.settings);
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
            Some(id) => self.show(*id),
            None => Task::none(),
        }
    }

    /// In a circle.
    fn next_that_needs_me(&mut self) -> Task<Message> {
        let waiting: Vec<ConversationId> =
            self.sidebar.groups(&self.overview, self.look()).needs_you.iter().map(|line| line.id).collect();
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation).map(|open| open.id());
        let after = waiting.iter().position(|id| Some(*id) == open).map_or(0, |at| at + 1);
        match waiting.get(after).or(waiting.first()) {
            Some(id) => self.show(*id),
            None => Task::none(),
        }
    }
}
