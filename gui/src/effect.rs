//! The effects of a message, as data: screens return them, the app performs them.

use crate::{local_state::ThemeChoice, picker::Choice, request::Request};
use abide_client::{
    protocol::{ConversationId, Seq, TaskId},
    provider::Draft,
};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "few live at a time, and most are requests")]
pub enum Effect {
    Ask(Request),
    /// Stores a provider of models.
    StoreProvider(Box<Draft>),
    /// Removes the provider of this name.
    RemoveProvider(String),
    /// Copies to the clipboard.
    Copy(String),
    /// Shows this for a moment.
    Say(&'static str),
    /// Moves the keyboard to this field.
    Focus(&'static str),
    /// Moves the keyboard to this field and selects its text, which typing then replaces.
    FocusText(&'static str),
    /// Gives the composer the caret, or takes the caret from every field so that the keys of a waiting card
    /// act.
    GiveKeyboard,
    /// Takes the keyboard from every field.
    Unfocus,
    Open(ConversationId),
    /// Opens the timeline of a task of the open conversation.
    OpenTask(TaskId),
    /// Goes to the timeline of the task above the open one.
    Up,
    /// Shows or hides the tree of tasks.
    ToggleTree,
    /// Goes to this message of that conversation, which is of this task; the text was searched for.
    GoTo(ConversationId, Seq, Option<TaskId>, String),
    /// Goes to the page for a new conversation.
    New,
    /// Scrolls the timeline.
    Scroll(Scroll),
    /// Scrolls the list of conversations so that this part of it is in view.
    Reveal(&'static str),
    /// Opens a long text on its own.
    Read(Reading),
    /// Opens it in the person's editor.
    Edit(Reading),
    /// Looks for folders that begin with this.
    FindFolders(String),
    /// Opens the desktop's dialog for a file or a folder.
    Choose(Choice),
    /// Opens the palette with personas, templates and tools.
    ChooseSetup,
    /// Goes to the form that sets up this provider.
    SetUp(String),
    /// Goes to the page of the memory.
    Memory,
    /// Opens a file of the workspace in the person's editor.
    EditFile(PathBuf),
    /// The draft has changed.
    Draft,
    Theme(ThemeChoice),
    Scale(f32),
    /// Shows an icon in the tray, or takes it away.
    Tray(bool),
    /// Goes to the page behind this one.
    Back,
    /// Saves the pinned conversations.
    KeepPins,
}

/// A long text to read on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub title: String,
    pub text: String,
    pub form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Opened at its end.
    Plain,
    /// Opened at its beginning, with its lines coloured.
    Diff,
}

/// A movement of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// By less than what is visible.
    Up,
    Down,
    ToStart,
    ToEnd,
}

/// Ids of the fields.
pub mod field {
    pub const COMPOSER: &str = "composer";
    pub const FOLDER: &str = "folder";
    pub const SEARCH: &str = "search";
    pub const REASON: &str = "reason";
    /// What scrolls in the selected card.
    pub const CARD: &str = "card";
    /// The answer on the selected card.
    pub const ANSWER: &str = "answer";
    pub const TITLE: &str = "title";
    /// The title's field in the list.
    pub const LISTED_TITLE: &str = "listed-title";
    pub const PALETTE: &str = "palette";
    pub const READER: &str = "reader";
    /// The first card of a provider.
    pub const PROVIDER: &str = "provider";
    /// The fields of the form that sets one up.
    pub const KEY: &str = "key";
    pub const ADDRESS: &str = "address";
    pub const MODEL: &str = "model";
    /// The button that has opened the form in the settings.
    pub const FORM_BUTTON: &str = "form-button";
    pub const FIND: &str = "find";
    /// The search field in the conversation.
    pub const FIND_HERE: &str = "find-here";
    pub const INBOX: &str = "inbox";
    pub const SETTINGS: &str = "settings";
    /// The page of a new conversation.
    pub const NEW_CONVERSATION: &str = "new-conversation";
    /// The page of the memory, its search, and the field of a new note.
    pub const MEMORY: &str = "memory";
    pub const RECALL: &str = "recall";
    pub const NOTE: &str = "note";
    /// The pages of fields. Tab reaches all of their fields, and the page scrolls to the one that gets the
    /// keyboard.
    pub const FORMS: [&str; 3] = [NEW_CONVERSATION, SETTINGS, MEMORY];
    /// The list of keys.
    pub const KEYS: &str = "keys";
    /// The list of conversations.
    pub const LIST: &str = "list";
    /// The group of archived ones in it.
    pub const ARCHIVED: &str = "archived";
    /// The menu of one of its conversations.
    pub const LIST_MENU: &str = "list-menu";
    /// The row of the open conversation in it.
    pub const SELECTED: &str = "selected";
    /// The row in it that Enter in the search opens.
    pub const PICKED: &str = "picked";
    pub const TIMELINE: &str = "timeline";
    /// The page beside the list.
    pub const PAGE: &str = "page";
    /// The words of an intervention.
    pub const INTERVENTION: &str = "intervention";
    pub const PROMPT: &str = "prompt";
}
