//! Shows what another process asks for: a second start, a notification, the icon in the tray.

use super::{App, Cover, Message, Page};
use crate::{
    arguments::ShowRequest,
    attention,
    daemon::Failure,
    request::{Reply, Request},
};
use abide_client::protocol::{ErrorKind, inbox::PendingId, method::conversation::ConversationParams};
use iced::Task;

impl App {
    /// Shows it, and brings the window to the front as far as the desktop allows.
    pub(super) fn want(&mut self, wanted: &ShowRequest) -> Task<Message> {
        tracing::debug!(?wanted, "asked to show");
        // Also if it seems to be in front: the news that it was minimized may be on its way.
        let raised = attention::raise(self.window.id);
        let called = if self.window.is_focused { Task::none() } else { attention::call(self.window.id) };
        let shown = match wanted {
            // A start without a wish of its own, which may come after that of the bus that started it.
            ShowRequest::Window => Task::none(),
            ShowRequest::Inbox => {
                self.named = None;
                self.close_overlay();
                self.show_inbox()
            }
            ShowRequest::Conversation(id) => {
                self.named = None;
                self.close_overlay();
                self.show_named(id)
            }
        };
        Task::batch([raised, called, shown])
    }

    pub(super) fn show_inbox(&mut self) -> Task<Message> {
        self.page = Page::Inbox;
        self.cover = Cover::Nothing;
        // The page begins at its top, and the keyboard with what is in view there.
        let waiting: Vec<PendingId> = self.waiting().map(|item| item.pending.id()).collect();
        self.guard.offer(&waiting, self.now);
        if let Some(oldest) = waiting.first() {
            self.guard.take(*oldest, self.now);
        }
        self.tell_focus()
    }

    /// Shows the conversation with this id. The daemon knows those that the list does not have, and parts of
    /// ids.
    fn show_named(&mut self, id: &str) -> Task<Message> {
        let known = id.parse().ok().filter(|id| self.overview.conversation(*id).is_some());
        match known {
            Some(id) => self.show_with_row(id),
            None => {
                self.named = Some(id.to_owned());
                let params = ConversationParams { conversation_id: id.to_owned() };
                self.ask(Request::GetConversation(params))
            }
        }
    }

    /// The daemon's answer to [`Self::show_named`]; an older one than the newest wish is dropped.
    pub(super) fn named(&mut self, name: &str, answered: Result<Reply, Failure>) -> Task<Message> {
        if self.named.take_if(|named| named == name).is_none() {
            return Task::none();
        }
        match answered {
            Ok(Reply::GetConversation(reply)) => self.show_with_row(reply.conversation.id),
            Ok(_) => Task::none(),
            Err(failure) => {
                self.feedback.notice = Some(match failure.kind {
                    Some(ErrorKind::NotFound) => {
                        format!("There is no conversation {name}. It may have been deleted.")
                    }
                    _ => format!("The conversation {name} cannot be shown: {failure}."),
                });
                Task::none()
            }
        }
    }
}
