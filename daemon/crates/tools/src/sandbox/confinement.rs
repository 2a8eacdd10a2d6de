//! What confines a helper and its command, as the daemon plans it and the helper carries it out.

use crate::CommandLimits;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// What a helper does to itself before it takes an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Confinement {
    /// Nothing: its command has the rights of the user.
    None,
    /// Landlock and seccomp in the user's own namespaces.
    Landlock(View),
    /// Namespaces of its own with a view of the files, and Landlock and seccomp in them.
    Full(View),
}

/// What a helper is forked into. The rest of its confinement it gets and makes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// The user's namespaces.
    Host,
    /// Namespaces of its own, but with the host's network.
    Networked,
    /// Namespaces and a network of its own. The server of such helpers has left the user's namespaces.
    Apart,
}

impl Confinement {
    pub(crate) const fn place(&self) -> Namespaces {
        match self {
            Self::None | Self::Landlock(_) => Namespaces::Host,
            Self::Full(View { network: Network::Host, .. }) => Namespaces::Networked,
            Self::Full(View { network: Network::Off, .. }) => Namespaces::Apart,
        }
    }

    /// How long the processes of a command that is stopped have to clean up. One that nothing confines may be in the middle of a change of
    /// the machine, as an installation is.
    pub(crate) const fn grace(&self) -> Duration {
        match self {
            Self::None => Duration::from_secs(10),
            Self::Landlock(_) | Self::Full(_) => Duration::from_millis(300),
        }
    }
}

impl From<Namespaces> for u8 {
    fn from(place: Namespaces) -> Self {
        match place {
            Namespaces::Host => 0,
            Namespaces::Networked => 1,
            Namespaces::Apart => 2,
        }
    }
}

impl TryFrom<u8> for Namespaces {
    type Error = ();

    fn try_from(number: u8) -> Result<Self, ()> {
        [Self::Host, Self::Networked, Self::Apart]
            .into_iter()
            .find(|place| u8::from(*place) == number)
            .ok_or(())
    }
}

/// What a confined command sees and may change. All paths are absolute and without links. What is not named can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    /// Folders that may be written.
    pub(crate) writable: Vec<PathBuf>,
    /// A folder of the conversation, and where the command finds it: `/tmp` and `/var/tmp`.
    pub(crate) private: Vec<Private>,
    /// Caches of the user. The command sees and changes its own copy.
    pub(crate) caches: Vec<Cache>,
    /// Files and folders that the command sees as empty ones.
    pub(crate) hidden: Vec<PathBuf>,
    /// Readable although they lie in a hidden folder.
    pub(crate) shown: Vec<PathBuf>,
    /// Within what may be written, these cannot be opened.
    pub(crate) closed: Vec<PathBuf>,
    /// Within what may be written, these may not be.
    pub(crate) protected: Vec<Protected>,
    pub(crate) network: Network,
    /// `None`: it is a command of our own.
    pub(crate) limits: Option<CommandLimits>,
}

/// A folder that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Private {
    pub(crate) folder: PathBuf,
    pub(crate) at: PathBuf,
}

/// A folder over which an overlay is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cache {
    pub(crate) at: PathBuf,
    /// The folders of the overlay's changes and of its work.
    pub(crate) upper: PathBuf,
    pub(crate) work: PathBuf,
}

/// A path that may be read only. The rest says which file or folder it was when the view was planned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Protected {
    pub(crate) path: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Network {
    /// Loopback only, and its own.
    #[default]
    Off,
    /// That of the host.
    Host,
}
