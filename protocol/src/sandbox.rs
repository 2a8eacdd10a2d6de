//! The sandbox of commands.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How well commands can be confined, the least first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Not at all: a command has the rights of its user.
    #[default]
    None,
    /// By Landlock and seccomp. Files that programs are configured by cannot be protected within the
    /// workspace.
    Landlock,
    /// By namespaces, Landlock and seccomp.
    Full,
}

impl SandboxLevel {
    /// As configuration and people name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
