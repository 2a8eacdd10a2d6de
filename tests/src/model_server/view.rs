//! A request in a form common to all APIs, for the checks.

use super::script::{Piece, Turn};
use serde_json::value::RawValue;

/// The content of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    /// System prompt, tools and parameters, verbatim.
    pub(super) head: String,
    /// At least one tool is declared.
    pub(super) has_tools: bool,
    pub(super) items: Vec<Item>,
}

/// A message, or one part of a message with several.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Verbatim.
    pub(super) raw: String,
    pub(super) kind: ItemKind,
}

#[derive(Debug, Clone)]
pub(super) enum ItemKind {
    User(String),
    Reply(Vec<Part>),
    Result { id: String },
}

/// A part of a reply, as it was sent to the client or as it came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// Verbatim.
    Opaque(String),
    /// A text, verbatim with all that the provider has around it.
    Whole {
        text: String,
        raw: String,
    },
    Call {
        id: String,
        tool: String,
        arguments: String,
        extra: Option<String>,
    },
}

impl View {
    /// An empty view of a request with this list of tools.
    pub(super) fn of_tools(tools: Option<&RawValue>) -> Self {
        let listed = tools.and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
        Self { has_tools: listed.is_some_and(|listed| !listed.is_empty()), ..Self::default() }
    }

    /// How many replies the request contains: the number of the one it requests.
    pub(super) fn turn(&self) -> usize {
        self.items.iter().filter(|i| matches!(i.kind, ItemKind::Reply(_))).count()
    }

    /// The part of the request that these many replies have confirmed: all up to the last of them, or what
    /// comes before the first reply. The following entries may still change.
    pub(super) fn confirmed_by(&self, replies: usize) -> Self {
        let mut places = self.items.iter().enumerate().filter(|(_, i)| matches!(i.kind, ItemKind::Reply(_)));
        let end = match replies.checked_sub(1) {
            Some(before) => places.nth(before).map(|(at, _)| at + 1),
            None => places.next().map(|(at, _)| at),
        };
        let items = self.items[..end.unwrap_or(self.items.len())].to_vec();
        Self { head: self.head.clone(), has_tools: self.has_tools, items }
    }

    /// The first marker `[k:KEY]` in the user's messages, apart from what is recalled of others.
    pub(super) fn key(&self) -> Option<String> {
        self.items.iter().find_map(|item| {
            let ItemKind::User(text) = &item.kind else { return None };
            let own = text.rsplit("</recalled>").next().unwrap_or_default();
            let (_, rest) = own.split_once("[k:")?;
            let (key, _) = rest.split_once(']')?;
            Some(key.to_owned())
        })
    }
}

/// An attempt of a reply.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) parts: Vec<Part>,
    /// Nothing delays its end any more.
    pub(super) is_complete: bool,
    /// How it comes back, if that is not how it was given.
    pub(super) read_as: Option<Box<Turn>>,
}

impl Sent {
    /// The text of the reply, of which a client may have shown any beginning.
    pub(super) fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|p| match p {
                Part::Text(text) | Part::Whole { text, .. } => Some(text.as_str()),
                Part::Opaque(_) | Part::Call { .. } => None,
            })
            .collect()
    }
}

/// Joins neighbouring texts and leaves out gates: the blocks of the reply.
pub(super) fn blocks(pieces: &[Piece]) -> Vec<Piece> {
    let mut blocks: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (blocks.last_mut(), piece) {
            (_, Piece::Gate(_)) => {}
            (Some(Piece::Text(text)), Piece::Text(more))
            | (Some(Piece::Reasoning(text)), Piece::Reasoning(more)) => {
                text.push_str(more);
            }
            _ => blocks.push(piece.clone()),
        }
    }
    blocks
}
