//! What covers the page: the list of keys, the palette, a text that is read, the question whether to close, and in a small window the
//! list or the tree. When it closes, the composer gets the caret back that it had before.

use super::{App, Message, Over, Page};
use crate::{
    effect::{Effect, field},
    screen::reader,
};
use iced::Task;

impl App {
    /// Shows this over the rest.
    pub(super) fn show_over(&mut self, over: Over) {
        self.keep_caret();
        self.over = over;
    }

    pub(super) fn show_reader(&mut self, reader: reader::Screen) {
        self.keep_caret();
        self.reader = Some(Box::new(reader));
    }

    pub(super) fn close_over(&mut self) -> Task<Message> {
        self.over = Over::Nothing;
        self.give_caret_back()
    }

    pub(super) fn close_reader(&mut self) -> Task<Message> {
        self.reader = None;
        self.give_caret_back()
    }

    /// Closes all of it, for another page.
    pub(super) fn close_all_over(&mut self) {
        self.over = Over::Nothing;
        self.reader = None;
        self.had_caret = false;
    }

    /// Whether something covers the page.
    pub(super) fn is_overlaid(&self) -> bool {
        self.over != Over::Nothing || self.reader.is_some()
    }

    /// Takes the caret from the composer when the list or the tree begins to cover it, and gives it back when the same page is seen again.
    pub(super) fn cover_changed(&mut self, was_covered: bool) -> Task<Message> {
        match (was_covered, self.is_covered()) {
            (false, true) if self.composer_has_caret() && !self.is_overlaid() => {
                self.had_caret = true;
                self.perform_one(Effect::Unfocus)
            }
            (true, false) if self.place_now() == self.place => self.give_caret_back(),
            (true, false) => {
                self.had_caret = false;
                Task::none()
            }
            (_, true) | (false, false) => Task::none(),
        }
    }

    fn keep_caret(&mut self) {
        if !self.is_overlaid() {
            self.had_caret |= self.composer_has_caret();
        }
    }

    fn composer_has_caret(&self) -> bool {
        match (self.page, &self.open) {
            (Page::Fresh, _) => self.fresh.composer.has_caret(),
            (Page::Conversation, Some(open)) => open.composer.has_caret(),
            (Page::Conversation | Page::Inbox | Page::Settings, _) => false,
        }
    }

    pub(super) fn give_caret_back(&mut self) -> Task<Message> {
        if self.over != Over::Nothing {
            Task::none()
        } else if self.reader.is_some() {
            self.perform_one(Effect::Focus(field::READER))
        } else if !self.is_covered() && std::mem::take(&mut self.had_caret) {
            self.perform_one(Effect::Focus(field::COMPOSER))
        } else {
            Task::none()
        }
    }
}
