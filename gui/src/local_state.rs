//! What the window stores itself, in its folder beside the logs: drafts, scale, theme. The daemon depends on
//! none of it, and all of it may be lost.

pub mod drafts;

use crate::screen::composer::Choices;
use crate::theme::space;
use abide_client::protocol::ConversationId;
use abide_host::{Home, home::create_private_dir};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

const MAX_SETTINGS: u64 = 64 * 1024;

/// The files that all windows share.
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
    /// The person has been told that no font has emoji.
    pub knows_emoji: bool,
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
            knows_emoji: false,
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
            Ok(text) => keep(&self.settings_file(), &text),
            Err(error) => tracing::warn!(%error, "cannot encode the window's settings"),
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
}

/// Writes the whole file or nothing.
fn keep(file: &Path, text: &str) {
    if let Err(error) = write(file, text) {
        tracing::warn!(%error, file = %file.display(), "cannot write what the window remembers");
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = file.parent() {
        create_private_dir(dir).map_err(io::Error::other)?;
    }
    let new = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, text)?;
    fs::rename(new, file)
}

fn read(file: &Path, max: u64) -> Option<String> {
    use io::Read as _;
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(max).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive() {
        let dir = tempfile::tempdir().unwrap();
        let local = LocalState::of(&Home::at(dir.path()));
        assert_eq!(local.settings(), Settings::default());
        let settings = Settings { scale: 1.5, theme: ThemeChoice::Dark, ..Settings::default() };
        local.keep_settings(&settings);
        let again = LocalState::of(&Home::at(dir.path()));
        assert_eq!(again.settings(), settings);
    }

    #[test]
    fn nonsense_in_the_settings_is_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let local = LocalState::of(&Home::at(dir.path()));
        keep(&local.settings_file(), "{\"scale\": 1e30, \"theme\"");
        assert_eq!(local.settings(), Settings::default());
        keep(&local.settings_file(), "{\"scale\": 99}");
        assert_eq!(local.settings().scale, 4.0);
    }
}
