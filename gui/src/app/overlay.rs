//! What covers the page: the list of keys, the palette, a text that is read, the question whether to close,
//! and in a small window the list or the tree. When it closes, the composer gets the caret back that it had
//! before.

use super::{App, Message, Page};
use crate::{
    effect::{Effect, field},
    screen::{palette::Palette, reader},
};
use iced::Task;

/// What is shown over the page.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    pub(super) dialog: Dialog,
    /// A long text that is shown on its own.
    pub(super) reader: Option<Box<reader::Screen>>,
    /// The composer had the caret before something covered the page.
    pub(super) had_caret: bool,
}

/// What covers the rest, the reader too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Dialog {
    #[default]
    Nothing,
    Help,
    Palette(Palette),
    /// Tells once that closing the window stops no task.
    Closing,
}

impl App {
    /// Shows this over the rest.
    pub(super) fn show_dialog(&mut self, dialog: Dialog) {
        self.keep_caret();
        self.overlay.dialog = dialog;
    }

    pub(super) fn show_reader(&mut self, reader: reader::Screen) {
        self.keep_caret();
        self.overlay.reader = Some(Box::new(reader));
    }

    pub(super) fn close_dialog(&mut self) -> Task<Message> {
        self.overlay.dialog = Dialog::Nothing;
        self.give_caret_back()
    }

    pub(super) fn close_reader(&mut self) -> Task<Message> {
        self.overlay.reader = None;
        self.give_caret_back()
    }

    /// Closes all of it, for another page.
    pub(super) fn close_overlay(&mut self) {
        self.overlay.dialog = Dialog::Nothing;
        self.overlay.reader = None;
        self.overlay.had_caret = false;
    }

    /// Whether something covers the page.
    pub(super) fn is_overlaid(&self) -> bool {
        self.overlay.dialog != Dialog::Nothing || self.overlay.reader.is_some()
    }

    /// Takes the caret from the composer when the list or the tree begins to cover it, and gives it back when
    /// the same page is seen again.
    pub(super) fn cover_changed(&mut self, was_covered: bool) -> Task<Message> {
        match (was_covered, self.is_covered()) {
            (false, true) if self.composer_has_caret() && !self.is_overlaid() => {
                self.overlay.had_caret = true;
                self.perform_one(Effect::Unfocus)
            }
            (true, false) if self.place_now() == self.place => self.give_caret_back(),
            (true, false) => {
                self.overlay.had_caret = false;
                Task::none()
            }
            (_, true) | (false, false) => Task::none(),
        }
    }

    fn keep_caret(&mut self) {
        if !self.is_overlaid() {
            self.overlay.had_caret |= self.composer_has_caret();
        }
    }

    fn composer_has_caret(&self) -> bool {
        match (self.page, &self.open) {
            (Page::NewConversation, _) => self.new_conversation.composer.has_caret(),
            (Page::Conversation, Some(open)) => open.composer.has_caret(),
            (Page::Conversation | Page::Inbox | Page::Settings | Page::Memory, _) => false,
        }
    }

    pub(super) fn give_caret_back(&mut self) -> Task<Message> {
        if self.overlay.dialog != Dialog::Nothing {
            Task::none()
        } else if self.overlay.reader.is_some() {
            self.perform_one(Effect::Focus(field::READER))
        } else if !self.is_covered() && std::mem::take(&mut self.overlay.had_caret) {
            self.perform_one(Effect::Focus(field::COMPOSER))
        } else {
            Task::none()
        }
    }
}
