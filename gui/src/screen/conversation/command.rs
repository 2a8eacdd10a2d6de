//! What keys do in a conversation.

use super::{Conversation, Menu, Message};
use crate::{
    effect::{Effect, Scroll, field},
    keymap::Command,
    screen::{
        composer::{self, Stance},
        pending,
    },
    theme::size,
};

impl Conversation {
    /// What a key does here; `None` if nothing.
    pub fn command(&mut self, command: Command) -> Option<Vec<Effect>> {
        let message = match command {
            Command::Escape if self.reader.is_some() => Message::ReaderClosed,
            Command::Escape if self.cards.is_rejecting() => Message::Card(pending::Message::RejectCancelled),
            Command::Escape if !matches!(self.menu, Menu::Closed) => Message::MenuClosed,
            Command::Escape if matches!(self.stance(), Stance::Working(_) | Stance::Approval(_)) => {
                Message::Composer(composer::Message::StopPressed)
            }
            Command::PauseOrResume => Message::Composer(match self.stance() {
                Stance::Paused(_) => composer::Message::ResumePressed,
                _ => composer::Message::PausePressed,
            }),
            Command::Decline => Message::Composer(composer::Message::DeclinePressed),
            // A reason is being written: a letter that comes before its field has the keyboard decides nothing.
            Command::Approve
            | Command::ApproveAlways
            | Command::Reject
            | Command::RejectAlways
            | Command::Choose(_)
                if self.cards.is_rejecting() =>
            {
                return None;
            }
            Command::Approve
            | Command::ApproveAlways
            | Command::Reject
            | Command::RejectAlways
            | Command::Choose(_) => Message::Card(pending::decision(self.view.inbox().items(), command)?),
            Command::ToggleDetails => {
                self.all_open = !self.all_open;
                self.open.clear();
                return Some(Vec::new());
            }
            Command::AsText if self.reader.is_some() => Message::ReaderClosed,
            Command::AsText => Message::AsTextPressed,
            Command::CopyAll => Message::CopyAllPressed,
            Command::Confirm if matches!(self.menu, Menu::Deleting) => Message::DeleteConfirmed,
            Command::Rename => Message::RenamePressed,
            Command::Archive => Message::ArchivePressed,
            Command::Delete => Message::DeletePressed,
            Command::ToEnd => Message::JumpPressed,
            Command::ToStart => return Some(vec![Effect::Scroll(Scroll::ToStart)]),
            Command::PageUp => return Some(vec![Effect::Scroll(Scroll::By(-size::PAGE))]),
            Command::PageDown => return Some(vec![Effect::Scroll(Scroll::By(size::PAGE))]),
            Command::FocusInput => return Some(vec![Effect::Focus(field::COMPOSER)]),
            _ => return None,
        };
        Some(self.update(message))
    }
}
