//! What tasks can do in the folder of the composer that is shown.

use super::{App, Message, Page};
use crate::request::Request;
use iced::Task;

impl App {
    /// Asks the daemon once a folder comes into view, and again when it comes back: it may have changed meanwhile.
    pub(super) fn look_at_workspace(&mut self) -> Task<Message> {
        let shown = self.shown_workspace().filter(|_| self.is_live());
        if shown == self.looked_at {
            return Task::none();
        }
        self.looked_at.clone_from(&shown);
        shown.map_or_else(Task::none, |folder| self.ask(Request::Workspace(folder)))
    }

    fn shown_workspace(&self) -> Option<String> {
        match self.page {
            Page::Fresh => self.fresh.composer.folder(),
            Page::Conversation => Some(self.open.as_ref()?.fold().conversation()?.workspace.clone()),
            Page::Inbox | Page::Settings => None,
        }
    }
}
