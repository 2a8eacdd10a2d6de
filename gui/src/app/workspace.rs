//! What tasks can do in the folder of the composer that is shown.

use super::{App, Message, Page};
use crate::request;
use iced::Task;
use std::borrow::Cow;

impl App {
    /// Asks the daemon once a folder comes into view, and again when it comes back: it may have changed
    /// meanwhile.
    pub(super) fn look_at_workspace(&mut self) -> Task<Message> {
        let shown = self.shown_workspace().filter(|_| self.is_live());
        if shown.as_deref() == self.looked_at.as_deref() {
            return Task::none();
        }
        self.looked_at = shown.map(Cow::into_owned);
        self.looked_at.clone().map_or_else(Task::none, |folder| self.ask(request::workspace(folder)))
    }

    fn shown_workspace(&self) -> Option<Cow<'_, str>> {
        match self.page {
            Page::NewConversation | Page::Conversation => self.workspace_behind(),
            Page::Inbox | Page::Settings | Page::Memory => None,
        }
    }

    /// That of the page behind the one that is shown.
    pub(super) fn workspace_behind(&self) -> Option<Cow<'_, str>> {
        match &self.open {
            None => self.new_conversation.composer.folder().map(Cow::Owned),
            Some(open) => Some(Cow::Borrowed(&open.fold().conversation()?.workspace)),
        }
    }
}
