//! What keys do in a conversation.

use super::{Conversation, Menu, Message};
use crate::{
    effect::Scroll,
    keymap::Command,
    screen::{
        composer::{self, Stance},
        pending,
    },
    theme::size,
};

impl Conversation {
    /// What a key means here; `None` if nothing.
    #[must_use]
    pub fn command(&self, command: Command) -> Option<Message> {
        Some(match command {
            Command::Escape if self.reader.is_some() => Message::ReaderClosed,
            Command::Escape if self.cards.is_rejecting() => Message::Card(pending::Message::RejectCancelled),
            Command::Escape if !matches!(self.menu, Menu::Closed) => Message::MenuClosed,
            Command::PauseOrResume => Message::Composer(match self.stance() {
                Stance::Paused(_) => composer::Message::ResumePressed,
                _ => composer::Message::PausePressed,
            }),
            Command::ToggleDetails => Message::DetailsToggled,
            Command::AsText if self.reader.is_some() => Message::ReaderClosed,
            Command::AsText => Message::AsTextPressed,
            Command::CopyAll => Message::CopyAllPressed,
            Command::Confirm if self.is_deleting() => Message::DeleteConfirmed,
            Command::Rename => Message::RenamePressed,
            Command::Archive => Message::ArchivePressed,
            Command::Delete => Message::DeletePressed,
            Command::ToEnd => Message::JumpPressed,
            Command::ToStart => Message::Scrolled(Scroll::ToStart),
            Command::PageUp => Message::Scrolled(Scroll::By(-size::PAGE)),
            Command::PageDown => Message::Scrolled(Scroll::By(size::PAGE)),
            Command::FocusInput => Message::InputWanted,
            _ => return None,
        })
    }
}
