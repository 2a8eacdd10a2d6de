//! What is made for a conversation before it begins: its private folder, or its worktree.

use super::Launcher;
use crate::{clock, session::CommandError};
use abide_protocol::ConversationId;

/// The id of a conversation, and what was made for it if it is new. [`Self::settle`] removes that unless the
/// conversation has begun.
pub struct OwnFolder {
    launcher: Launcher,
    conversation: ConversationId,
    /// The conversation is there, or may be.
    is_needed: bool,
}

impl Launcher {
    /// The folder of this conversation, or of a new one.
    #[must_use]
    pub fn own_folder(&self, existing: Option<ConversationId>) -> OwnFolder {
        let conversation = existing.unwrap_or_else(|| ConversationId(clock::mint().uuid()));
        OwnFolder { launcher: self.clone(), conversation, is_needed: existing.is_some() }
    }
}

impl OwnFolder {
    #[must_use]
    pub const fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// Carries out a command with which the conversation begins, if it is new.
    ///
    /// # Errors
    /// Those of the command.
    pub async fn begin<T>(
        &mut self,
        command: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        let was_needed = std::mem::replace(&mut self.is_needed, true);
        let begun = command.await;
        self.is_needed = was_needed || !begun.as_ref().is_err_and(CommandError::has_no_effect);
        begun
    }

    /// Removes what was made for a conversation that has not begun.
    pub async fn settle(self) {
        if !self.is_needed {
            self.launcher.remove_own(self.conversation).await;
        }
    }
}
