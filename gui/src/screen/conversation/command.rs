//! Commands of keys in a conversation.

use super::{Conversation, Menu, Message, branch, undo};
use crate::{
    effect::field,
    guard::End,
    keymap::Command,
    picker::Choice,
    screen::{
        composer::{self, Stance},
        forgetting,
    },
};

impl Conversation {
    /// The conversation's persona.
    #[must_use]
    pub fn persona(&self) -> Option<&str> {
        self.view.conversation().and_then(|known| known.persona.as_deref())
    }

    /// The message for a command; `None` if it does nothing here.
    #[must_use]
    pub fn command(&self, command: Command) -> Option<Message> {
        if !self.takes(command) {
            return None;
        }
        Some(match command {
            Command::Escape if !matches!(self.menu, Menu::Closed) => Message::MenuClosed,
            Command::Escape if self.forgetting.asked().is_some() => {
                Message::Forget(forgetting::Message::Kept)
            }
            Command::Escape if self.is_editing() => Message::Branch(branch::Message::Closed),
            Command::Escape if self.find.is_some() => Message::FindClosed,
            Command::Find => Message::FindPressed,
            Command::Escape if self.has_selection() => Message::Selected(None),
            Command::FocusInput if self.sub_task().is_some() => Message::FocusField(field::INTERVENTION),
            Command::StopTask if self.sub_task().is_some() => Message::EndPressed(End::Stop),
            Command::Delete if self.sub_task().is_some() => Message::EndPressed(End::Delete),
            Command::Escape if self.sub_task().is_some() => Message::UpPressed,
            Command::Copy if self.has_selection() => Message::SelectionCopied,
            Command::PauseOrResume => Message::Composer(if self.stance().can_go_on() {
                composer::Message::ResumePressed
            } else {
                composer::Message::PausePressed
            }),
            Command::ToggleDetails => Message::DetailsToggled,
            Command::CopyAll => Message::CopyAllPressed,
            Command::FileChanges if self.can_undo() => Message::Undo(undo::Message::UndoPressed),
            Command::FileChanges if self.changed_by().is_some() && !self.is_undoing() => {
                Message::Undo(undo::Message::ChangesPressed)
            }
            Command::Confirm if self.is_undoing() => Message::Undo(undo::Message::Confirmed),
            Command::Confirm if self.is_confirming() => Message::DeleteConfirmed,
            Command::Again => Message::AgainPressed,
            Command::EditAgain => Message::Branch(branch::Message::EditPressed(self.last_prompt()?)),
            Command::Rename => Message::RenamePressed,
            Command::Archive => Message::ArchivePressed,
            Command::Delete => Message::DeletePressed,
            Command::Stop => Message::Composer(composer::Message::StopPressed),
            Command::Attach if self.stance() == Stance::Ready => {
                Message::Composer(composer::Message::ChoosePressed(Choice::File))
            }
            Command::ToEnd => Message::JumpPressed,
            Command::FocusInput => Message::FocusField(field::COMPOSER),
            Command::Setup if self.stance() == Stance::Ready => {
                Message::Composer(composer::Message::SetupPressed)
            }
            command => Message::Scrolled(command.scrolls()?),
        })
    }
}
