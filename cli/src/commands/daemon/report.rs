//! What a command has done, one thing after the other.

use crate::{
    error::CommandError,
    exit::Exit,
    output::{json, screen, text},
};
use serde::Serialize;

/// For a person each thing is printed when it is done, so that an error later shows how far it came; for a program all of them at the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether anything was changed.
    changed: bool,
    done: Vec<Deed>,
    notes: Vec<String>,
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
        Self { changed: false, done: Vec::new(), notes: Vec::new(), json }
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

    /// `nothing`: what to say if nothing was done.
    pub(super) fn finish(mut self, nothing: &str) -> Result<Exit, CommandError> {
        if !self.changed {
            self.note(nothing)?;
        }
        if self.json {
            json::document(&self)?;
        }
        Ok(Exit::Done)
    }
}
