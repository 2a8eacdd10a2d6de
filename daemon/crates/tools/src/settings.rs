//! What a person configures about the sandbox.

use abide_protocol::sandbox::SandboxLevel;
use std::path::PathBuf;

/// `[sandbox]` of the configuration, and what of `[policy]` is about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The least level at which anything runs unattended.
    pub require: SandboxLevel,
    /// Commands use the host's network, and ask.
    pub host_network: bool,
    /// Further folders that commands may write to, absolute. They are seen, too, where they would be hidden.
    pub writable: Vec<PathBuf>,
    /// Further files and folders that commands do not see, absolute.
    pub hidden: Vec<PathBuf>,
    /// Further files and folders of a workspace that commands may not change, relative to it.
    pub protect: Vec<PathBuf>,
    pub shell: Unasked,
    pub edits: Unasked,
}

/// What runs without asking where the sandbox makes that safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// What stays in the sandbox.
    Sandboxed,
    /// Nothing.
    Nothing,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            require: SandboxLevel::Landlock,
            host_network: false,
            writable: Vec::new(),
            hidden: Vec::new(),
            protect: Vec::new(),
            shell: Unasked::Sandboxed,
            edits: Unasked::Sandboxed,
        }
    }
}
