//! The modes to choose from, each with its name and one line about it.

use abide_client::protocol::task::Mode;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeChoice(pub Mode);

impl ModeChoice {
    /// In the order in which they are offered.
    pub const ALL: [Self; Mode::ALL.len()] = [
        Self(Mode::Auto),
        Self(Mode::Chat),
        Self(Mode::Agent),
        Self(Mode::Roa),
        Self(Mode::Plan),
        Self(Mode::Tree),
    ];

    /// Its name and what it does.
    #[must_use]
    pub const fn line(self) -> &'static str {
        match self.0 {
            Mode::Chat => "Chat: one answer",
            Mode::Agent => "Agent: uses tools until it is done",
            Mode::Roa => "ROA: reason, act, observe, repeat",
            Mode::Plan => "Plan: a list of calls in each step",
            Mode::Auto => "Auto: answers, or works with tools",
            Mode::Tree => "Tree: splits the work among sub-agents",
        }
    }
}

impl fmt::Display for ModeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Mode::Chat => "Chat",
            Mode::Agent => "Agent",
            Mode::Roa => "ROA",
            Mode::Plan => "Plan",
            Mode::Auto => "Auto",
            Mode::Tree => "Tree",
        })
    }
}
