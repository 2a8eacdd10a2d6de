//! What the window stores itself, in its folder beside the logs: drafts, scale, theme. The daemon depends on none of it, and all
//! of it may be lost.

use crate::screen::{composer::Choices, pending::Written};
use crate::theme::space;
use abide_client::{
    Home,
    home::create_private_dir,
    protocol::{ConversationId, TaskId},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The longest draft that is kept, in bytes.
const MAX_DRAFT: u64 = 1024 * 1024;
const MAX_SETTINGS: u64 = 64 * 1024;

/// The files of the window's own state.
#[derive(Debug, Clone)]
pub struct LocalState {
    dir: PathBuf,
}

/// The person's preferences for the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    pub scale: f32,
    pub theme: ThemeChoice,
    /// An icon in the tray, where the desktop has one.
    pub tray: bool,
    /// The person has been told that closing stops no task.
    pub knows_closing: bool,
    /// The conversation that was open last.
    pub conversation: Option<ConversationId>,
    /// The settings of the next new conversation.
    pub choices: Choices,
    /// The width of the list of conversations, in logical pixels.
    pub list_width: f32,
    pub hides_list: bool,
    /// The tree of tasks is hidden, also where there is one.
    pub hides_tree: bool,
    /// Pinned conversations.
    pub pinned: BTreeSet<ConversationId>,
}

/// The chosen theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    #[default]
    System,
    Dark,
    Light,
}

impl ThemeChoice {
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::System => Self::Dark,
            Self::Dark => Self::Light,
            Self::Light => Self::System,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "as the system",
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scale: 1.0,
            theme: ThemeChoice::System,
            tray: true,
            knows_closing: false,
            conversation: None,
            choices: Choices::default(),
            list_width: space::SIDEBAR,
            hides_list: false,
            hides_tree: false,
            pinned: BTreeSet::new(),
        }
    }
}

impl LocalState {
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { dir: home.state_dir.join("gui") }
    }

    /// The settings; the defaults if they cannot be read.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let text = read(&self.settings_file(), MAX_SETTINGS);
        let settings: Settings = text.and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default();
        let scale = if settings.scale.is_finite() { settings.scale.clamp(0.5, 4.0) } else { 1.0 };
        Settings { scale, ..settings }
    }

    pub fn keep_settings(&self, settings: &Settings) {
        match serde_json::to_string_pretty(settings) {
            Ok(text) => self.keep(&self.settings_file(), &text),
            Err(error) => tracing::warn!(%error, "cannot encode the window's settings"),
        }
    }

    /// The draft of a conversation; of a new one with `None`.
    #[must_use]
    pub fn draft(&self, conversation: Option<ConversationId>) -> String {
        read(&self.draft_file(conversation), MAX_DRAFT).unwrap_or_default()
    }

    pub fn keep_draft(&self, conversation: Option<ConversationId>, text: &str) {
        self.keep_text(&self.draft_file(conversation), text);
    }

    /// The unsent words for a task at work.
    #[must_use]
    pub fn intervention(&self, task: TaskId) -> String {
        read(&self.intervention_file(task), MAX_DRAFT).unwrap_or_default()
    }

    pub fn keep_intervention(&self, task: TaskId, text: &str) {
        self.keep_text(&self.intervention_file(task), text);
    }

    /// Without text there is no file.
    fn keep_text(&self, file: &Path, text: &str) {
        if text.trim().is_empty() {
            // The file may not exist.
            let _ = fs::remove_file(file);
        } else {
            self.keep(file, text);
        }
    }

    /// The unsent reasons and answers of cards.
    #[must_use]
    pub fn written(&self) -> Written {
        let text = read(&self.written_file(), MAX_DRAFT);
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub fn keep_written(&self, written: &Written) {
        match serde_json::to_string(written) {
            Ok(text) => self.keep(&self.written_file(), &text),
            Err(error) => tracing::warn!(%error, "cannot encode the unsent reasons and answers of cards"),
        }
    }

    /// The folder of texts opened in the person's editor.
    #[must_use]
    pub fn shown(&self) -> PathBuf {
        self.dir.join("shown")
    }

    fn settings_file(&self) -> PathBuf {
        self.dir.join("settings.json")
    }

    fn written_file(&self) -> PathBuf {
        self.dir.join("written.json")
    }

    fn intervention_file(&self, task: TaskId) -> PathBuf {
        self.dir.join("drafts").join(format!("{task}-intervention"))
    }

    fn draft_file(&self, conversation: Option<ConversationId>) -> PathBuf {
        let name = conversation.map_or_else(|| "new".to_owned(), |id| id.to_string());
        self.dir.join("drafts").join(name)
    }

    fn keep(&self, file: &Path, text: &str) {
        if let Err(error) = self.write(file, text) {
            tracing::warn!(%error, file = %file.display(), "cannot write what the window remembers");
        }
    }

    /// Writes the whole file or nothing.
    fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        create_private_dir(&self.dir).map_err(io::Error::other)?;
        if let Some(dir) = file.parent() {
            create_private_dir(dir).map_err(io::Error::other)?;
        }
        let new = file.with_extension(format!("{}.new", std::process::id()));
        fs::write(&new, text)?;
        fs::rename(new, file)
    }
}

fn read(file: &Path, max: u64) -> Option<String> {
    use io::Read as _;
    let mut text = String::new();
    fs::File::open(file).ok()?.take(max).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_and_settings_survive() {
        let dir = tempfile::tempdir().unwrap();
        let local = LocalState::of(&Home::at(dir.path()));
        assert_eq!(local.settings(), Settings::default());
        assert_eq!(local.draft(None), "");
        let settings = Settings { scale: 1.5, theme: ThemeChoice::Dark, ..Settings::default() };
        local.keep_settings(&settings);
        local.keep_draft(None, "half a thought");
        let again = LocalState::of(&Home::at(dir.path()));
        assert_eq!(again.settings(), settings);
        assert_eq!(again.draft(None), "half a thought");
        again.keep_draft(None, " ");
        assert_eq!(local.draft(None), "");
    }

    #[test]
    fn nonsense_in_the_settings_is_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let local = LocalState::of(&Home::at(dir.path()));
        local.keep(&local.settings_file(), "{\"scale\": 1e30, \"theme\"");
        assert_eq!(local.settings(), Settings::default());
        local.keep(&local.settings_file(), "{\"scale\": 99}");
        assert_eq!(local.settings().scale, 4.0);
    }
}
