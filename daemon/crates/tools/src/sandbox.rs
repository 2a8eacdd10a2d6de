//! The sandbox of commands: the level that this machine allows, what a command sees and may change, and
//! whether the command may run without asking.

mod confinement;
pub(crate) mod git;
pub(crate) mod hidden;
mod home;
mod identity;
mod level;
mod links;
mod mounts;
mod plan;
mod private;
mod protected;
mod sockets;

pub(crate) use confinement::{Cache, Confinement, Namespaces, Network, Private, Protected, View};
pub(crate) use git::Repository;
pub(crate) use identity::Identity;
pub use level::try_sandbox;
pub(crate) use level::{Found, Levels};
pub(crate) use mounts::Mounts;
pub(crate) use plan::{Plan, PlanError, Planner};
pub(crate) use private::{Lease, PrivateFolders, is_private, taken};
pub(crate) use sockets::Sockets;

use abide_protocol::sandbox::SandboxLevel;

/// What confines a tool's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sandbox {
    pub(crate) level: SandboxLevel,
    pub(crate) network: Network,
}

impl Sandbox {
    /// Nothing but the rights of the user.
    pub(crate) const NONE: Self = Self { level: SandboxLevel::None, network: Network::Host };

    /// The sandbox's name in records.
    pub(crate) const fn name(self) -> &'static str {
        match (self.level, self.network) {
            (SandboxLevel::None, _) => "none",
            (SandboxLevel::Landlock, Network::Off) => "landlock",
            (SandboxLevel::Landlock, Network::Host) => "landlock, network",
            (SandboxLevel::Full, Network::Off) => "full",
            (SandboxLevel::Full, Network::Host) => "full, network",
        }
    }

    /// The sandbox that a record names; `None` if it was written by another version.
    pub(crate) fn named(name: &str) -> Option<Self> {
        use SandboxLevel::{Full, Landlock};
        let all = [
            Self::NONE,
            Self { level: Landlock, network: Network::Off },
            Self { level: Landlock, network: Network::Host },
            Self { level: Full, network: Network::Off },
            Self { level: Full, network: Network::Host },
        ];
        all.into_iter().find(|sandbox| sandbox.name() == name)
    }
}
