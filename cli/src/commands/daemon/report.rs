//! What a command has done, one thing after the other.

use crate::{
    error::CommandError,
    exit::Exit,
    output::{json, screen, text},
};
use serde::Serialize;
use std::path::Path;

/// Said if nothing was done because of a file that was kept.
const KEPT: &str = "nothing was changed: what starts at login is up to the file that was kept, and `abide daemon status` says what that is; \
                    moved away, it is no longer in the way";

/// For a person each thing is printed when it is done, so that an error later shows how far it came; for a
/// program all of them at the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether anything was changed.
    changed: bool,
    done: Vec<Deed>,
    notes: Vec<String>,
    /// Whether a file was left as it was, because a person has edited or written it.
    #[serde(skip)]
    has_kept: bool,
    #[serde(skip)]
    json: bool,
}

#[derive(Serialize)]
struct Deed {
    action: Action,
    subject: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Wrote,
    Replaced,
    Removed,
    Enabled,
    Disabled,
    Started,
    Stopped,
}

impl Action {
    const fn word(self) -> &'static str {
        match self {
            Self::Wrote => "wrote",
            Self::Replaced => "replaced",
            Self::Removed => "removed",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Started => "started",
            Self::Stopped => "stopped",
        }
    }
}

impl Report {
    pub(super) const fn new(json: bool) -> Self {
        Self { changed: false, done: Vec::new(), notes: Vec::new(), has_kept: false, json }
    }

    pub(super) const fn has_changed(&self) -> bool {
        self.changed
    }

    pub(super) fn did(&mut self, action: Action, subject: impl Into<String>) -> Result<(), CommandError> {
        let subject = subject.into();
        if !self.json {
            screen::print(&format!("{} {}\n", action.word(), text::one_line(&subject)))?;
        }
        self.changed = true;
        self.done.push(Deed { action, subject });
        Ok(())
    }

    /// Something that the person may want to know.
    pub(super) fn note(&mut self, words: impl Into<String>) -> Result<(), CommandError> {
        let words = words.into();
        if !self.json {
            screen::note(&text::one_line(&words))?;
        }
        self.notes.push(words);
        Ok(())
    }

    /// A file was left as it was, because a person has edited or written it.
    pub(super) fn kept(&mut self, path: &Path) -> Result<(), CommandError> {
        self.has_kept = true;
        self.note(format!("kept {}, which was edited or is not from `abide daemon install`", path.display()))
    }

    /// `nothing`: what to say if nothing was done, and no file was in the way.
    pub(super) fn finish(mut self, nothing: &str) -> Result<Exit, CommandError> {
        match (self.changed, self.has_kept) {
            (true, _) => {}
            (false, true) => self.note(KEPT)?,
            (false, false) => self.note(nothing)?,
        }
        if self.json {
            json::document(&self)?;
        }
        Ok(Exit::Done)
    }
}
