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
            Page::NewConversation => self.new_conversation.composer.folder().map(Cow::Owned),
            Page::Conversation => Some(Cow::Borrowed(&self.open.as_ref()?.fold().conversation()?.workspace)),
            Page::Inbox | Page::Settings => None,
        }
    }
}
