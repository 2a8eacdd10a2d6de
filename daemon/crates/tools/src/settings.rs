//! What a person configures about the sandbox.

use abide_protocol::sandbox::SandboxLevel;
use rustix::system::sysinfo;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `[sandbox]` of the configuration, and what of `[policy]` is about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The least level at which anything runs unattended.
    pub require: SandboxLevel,
    /// Commands use the host's network, and ask.
    pub host_network: bool,
    /// Further folders that commands may write to, absolute. Commands see these folders even where they would
    /// be hidden.
    pub writable: Vec<PathBuf>,
    /// Further files and folders that commands do not see, absolute.
    pub hidden: Vec<PathBuf>,
    /// Further files and folders of a workspace that commands may not change, relative to it.
    pub protect: Vec<PathBuf>,
    /// The rules that deny reading in the workspace, as `read(**/.env)`: commands cannot open these files
    /// either.
    pub unreadable: Vec<String>,
    /// Further variables that commands in the sandbox get: names, or beginnings of names with a `*`.
    pub environment: Vec<String>,
    pub limits: CommandLimits,
    pub shell: Unasked,
    pub edits: Unasked,
}

/// What a command in the sandbox and all processes that it starts may use. A command that uses more is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLimits {
    /// Processes at the same time.
    pub processes: u32,
    /// The command's own memory, in bytes.
    pub memory: u64,
    /// Disk space of the conversation's temporary folders, in bytes.
    pub tmp: u64,
}

/// Which calls run without asking, as far as the sandbox makes that safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// Calls that stay in the sandbox.
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
            unreadable: Vec::new(),
            environment: Vec::new(),
            limits: CommandLimits::default(),
            shell: Unasked::Sandboxed,
            edits: Unasked::Sandboxed,
        }
    }
}

/// More than the build of a large project needs.
impl Default for CommandLimits {
    fn default() -> Self {
        let machine = sysinfo();
        let memory = machine.totalram * u64::from(machine.mem_unit);
        Self { processes: 4096, memory: memory / 4 * 3, tmp: 20 << 30 }
    }
}
