//! The confinement of a helper and its command, as the daemon plans it and the helper carries it out.

use crate::CommandLimits;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// What a helper does to itself before it takes an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Confinement {
    /// Nothing: the command has the rights of the user.
    None,
    /// Landlock and seccomp in the user's own namespaces.
    Landlock(View),
    /// Namespaces of the helper's own, with a view of the files, Landlock and seccomp.
    Full(View),
}

/// The namespaces into which a helper is forked. The helper makes the rest of its confinement later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// The user's namespaces.
    Host,
    /// Namespaces of the helper's own, but the host's network.
    Networked,
    /// Namespaces and a network of the helper's own. The fork server of such helpers has left the user's
    /// namespaces.
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

    /// How long the processes of a stopped command have to clean up. An unconfined command may be in the
    /// middle of a change of the machine, such as an installation.
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

/// What a confined command sees and may change. All paths are absolute and without links. Other paths can be
/// read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    /// Folders that the command may write to.
    pub(crate) writable: Vec<PathBuf>,
    /// The conversation's folders for `/tmp` and `/var/tmp`.
    pub(crate) private: Vec<Private>,
    /// The user's caches. The command sees and changes its own copy.
    pub(crate) caches: Vec<Cache>,
    /// Files and folders that the command sees empty.
    pub(crate) hidden: Vec<PathBuf>,
    /// Readable files and folders in hidden folders.
    pub(crate) shown: Vec<PathBuf>,
    /// Files and folders in writable folders that cannot be opened.
    pub(crate) closed: Vec<PathBuf>,
    /// Files and folders in writable folders that may only be read.
    pub(crate) protected: Vec<Protected>,
    pub(crate) network: Network,
    /// The command's limits. `None`: the command is one of ours.
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

/// A read-only path, with the identity of its file or folder when the view was planned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Protected {
    pub(crate) path: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Network {
    /// Only a loopback of its own.
    #[default]
    Off,
    /// The host's network.
    Host,
}
