//! The archived conversations: a folded group at the end of the list. The overview does not have those that
//! rest; the daemon is asked for them, a page at a time, while the group is open, and they are forgotten when
//! it is folded.

use crate::{
    effect::{Effect, field},
    request::Request,
};
use abide_client::protocol::{
    ConversationId,
    conversation::Conversation,
    method::conversation::{ListConversationsParams, ListConversationsReply},
};
use std::collections::HashSet;

/// How many conversations are asked for at a time.
const PAGE: u32 = 50;

#[derive(Debug)]
pub(super) enum Archive {
    Folded {
        /// The daemon has archived conversations.
        has_some: bool,
    },
    Open(Pages),
}

impl Default for Archive {
    fn default() -> Self {
        Self::Folded { has_some: false }
    }
}

/// What is fetched so far.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Last changed first.
    listed: Vec<Conversation>,
    /// The cursor of the next page.
    next: Option<String>,
    /// The daemon is asked for a page.
    is_asked: bool,
    /// The first page has not come yet; with it the group is scrolled into view.
    is_new: bool,
}

impl Archive {
    #[must_use]
    pub(super) const fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Whether there is something in it, as far as is known.
    #[must_use]
    pub(super) const fn has_some(&self) -> bool {
        match self {
            Self::Folded { has_some } => *has_some,
            Self::Open(_) => true,
        }
    }

    /// The conversations that were fetched.
    pub(super) fn listed(&self) -> &[Conversation] {
        match self {
            Self::Folded { .. } => &[],
            Self::Open(pages) => &pages.listed,
        }
    }

    /// Whether nothing more has to be waited for.
    #[must_use]
    pub(super) const fn is_at_rest(&self) -> bool {
        matches!(self, Self::Open(pages) if !pages.is_asked)
    }

    /// Whether the daemon has older ones.
    #[must_use]
    pub(super) const fn has_more(&self) -> bool {
        matches!(self, Self::Open(pages) if pages.next.is_some())
    }

    /// The window is connected, perhaps again: asks for all that is shown, or only whether there is anything.
    pub(super) fn connected(&mut self) -> Effect {
        match self {
            Self::Folded { .. } => asks(None, 1),
            Self::Open(pages) => {
                pages.is_asked = true;
                asks(None, u32::try_from(pages.listed.len()).unwrap_or(u32::MAX).max(PAGE))
            }
        }
    }

    /// Opens or folds the group.
    pub(super) fn toggle(&mut self) -> Vec<Effect> {
        match self {
            Self::Folded { .. } => {
                *self = Self::Open(Pages { is_asked: true, is_new: true, ..Pages::default() });
                vec![asks(None, PAGE)]
            }
            Self::Open(pages) => {
                *self = Self::Folded { has_some: !pages.listed.is_empty() };
                Vec::new()
            }
        }
    }

    /// Asks for the next page.
    pub(super) fn older(&mut self) -> Vec<Effect> {
        match self {
            Self::Open(pages) if !pages.is_asked && pages.next.is_some() => {
                pages.is_asked = true;
                vec![asks(pages.next.clone(), PAGE)]
            }
            Self::Open(_) | Self::Folded { .. } => Vec::new(),
        }
    }

    /// Handles a page of the daemon, which was asked for with this cursor.
    pub(super) fn know(&mut self, cursor: Option<&str>, page: &ListConversationsReply) -> Vec<Effect> {
        let pages = match self {
            Self::Folded { has_some } => {
                if cursor.is_none() {
                    *has_some = !page.conversations.is_empty();
                }
                return Vec::new();
            }
            Self::Open(pages) => pages,
        };
        if cursor.is_none() {
            pages.listed.clear();
        } else if cursor != pages.next.as_deref() {
            return Vec::new();
        }
        let known: HashSet<ConversationId> = pages.listed.iter().map(|listed| listed.id).collect();
        pages.listed.extend(page.conversations.iter().filter(|new| !known.contains(&new.id)).cloned());
        pages.next.clone_from(&page.next_cursor);
        pages.is_asked = false;
        tracing::debug!(count = pages.listed.len(), "archived conversations are listed");
        let is_new = std::mem::take(&mut pages.is_new);
        is_new.then_some(Effect::Reveal(field::ARCHIVED)).into_iter().collect()
    }

    /// A page did not come. Returns whether the person waits for it.
    pub(super) const fn failed(&mut self) -> bool {
        match self {
            Self::Folded { .. } => false,
            Self::Open(pages) => {
                pages.is_asked = false;
                true
            }
        }
    }

    /// A conversation is deleted.
    pub(super) fn forget(&mut self, id: ConversationId) {
        if let Self::Open(pages) = self {
            pages.listed.retain(|listed| listed.id != id);
        }
    }
}

const fn asks(cursor: Option<String>, limit: u32) -> Effect {
    Effect::Ask(Request::ListConversations(ListConversationsParams {
        archived: true,
        cursor,
        limit: Some(limit),
    }))
}
