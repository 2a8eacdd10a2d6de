//! What follows from a message, as data: screens say it, the app does it.

use crate::request::Request;
use abide_client::protocol::{ConversationId, Seq};

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Ask(Request),
    /// To the clipboard.
    Copy(String),
    /// The keyboard goes to this field.
    Focus(&'static str),
    /// No field has the keyboard.
    Unfocus,
    Open(ConversationId),
    /// That conversation, at that message.
    GoTo(ConversationId, Seq),
    /// A new conversation.
    New,
    Scroll(Scroll),
    /// To offer folders that go on from this.
    FindFolders(String),
    /// The draft has changed.
    Draft,
}

/// How the timeline moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scroll {
    /// By so many logical pixels, down if positive.
    By(f32),
    ToStart,
    ToEnd,
}

/// Ids of the fields.
pub mod field {
    pub const COMPOSER: &str = "composer";
    pub const FOLDER: &str = "folder";
    pub const SEARCH: &str = "search";
    pub const REASON: &str = "reason";
    pub const TITLE: &str = "title";
    pub const READER: &str = "reader";
    pub const INBOX: &str = "inbox";
    pub const TIMELINE: &str = "timeline";
}
