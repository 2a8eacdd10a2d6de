//! What follows from a message, as data: screens say it, the app does it.

use crate::{local_state::ThemeChoice, picker::Choice, request::Request};
use abide_client::protocol::{ConversationId, Seq, task::Mode};
use std::path::PathBuf;

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
    /// That conversation, at that message, in which this was looked for.
    GoTo(ConversationId, Seq, String),
    /// A new conversation.
    New,
    /// The same, with this to begin with.
    Afresh(Box<Afresh>),
    Scroll(Scroll),
    /// A long text on its own.
    Read(Reading),
    /// The same in the person's editor.
    Edit(Reading),
    /// To offer folders that go on from this.
    FindFolders(String),
    /// The desktop's dialog for a file or a folder.
    Choose(Choice),
    /// A file of the workspace in the person's editor.
    EditFile(PathBuf),
    /// The draft has changed.
    Draft,
    Theme(ThemeChoice),
    Scale(f32),
    /// To the page behind this one.
    Back,
    /// Other conversations are pinned.
    KeepPins,
}

/// A long text to read on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub title: String,
    pub text: String,
    pub start: Start,
}

/// Which part of it is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Beginning,
    End,
}

/// What a new conversation begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Afresh {
    pub prompt: String,
    /// As a person types it; empty for a scratch folder.
    pub workspace: String,
    pub mode: Option<Mode>,
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
    /// The same, in the list.
    pub const LISTED_TITLE: &str = "listed-title";
    pub const STEPS: &str = "steps";
    pub const PALETTE: &str = "palette";
    pub const READER: &str = "reader";
    pub const KEY: &str = "key";
    pub const FIND: &str = "find";
    /// In the conversation.
    pub const FIND_HERE: &str = "find-here";
    pub const INBOX: &str = "inbox";
    pub const TIMELINE: &str = "timeline";
}
