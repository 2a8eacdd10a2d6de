//! Confines a helper, and with it its command, which inherits all of it: first what it sees (namespaces and mounts), then what
//! it may do (Landlock, capabilities, seccomp). Each step is irreversible for this process and all that come from it.

mod kernel;
mod landlock;
mod mounts;
mod namespaces;
mod networks;
mod seccomp;

use crate::sandbox::{Confinement, Network, View};
use namespaces::Ids;
use networks::{Entered, Networks};
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
    thread::UnshareFlags,
};
use seccomp::Filters;
use std::{ffi::CStr, io, os::fd::OwnedFd, path::Path};

/// Why a sandbox could not be made. The command does not run then.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox could not be made, so nothing ran: {what}: {source}")]
pub(super) struct Failure {
    what: String,
    source: io::Error,
}

impl Failure {
    fn new(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self { what: what.into(), source: source.into() }
    }

    /// `verb` with a path: "hide /home/me/.ssh".
    fn at(verb: &str, path: &Path) -> impl FnOnce(Errno) -> Self {
        let what = format!("{verb} {}", path.display());
        move |source| Self { what, source: source.into() }
    }
}

/// What was made before a helper is forked, so that each helper need not do it.
pub(super) struct Groundwork {
    ids: Ids,
    filters: Filters,
    /// Once this process forks helpers without network.
    apart: Option<Networks>,
}

/// What the next helper is forked into.
pub(super) struct Place {
    namespaces: i32,
    network: Option<Entered>,
}

impl Place {
    /// The flags of `clone` that make the helper's further namespaces.
    pub(super) const fn namespaces(&self) -> i32 {
        self.namespaces
    }
}

impl Groundwork {
    pub(super) fn lay() -> Self {
        Self { ids: Ids::of_this_process(), filters: Filters::compile(), apart: None }
    }

    /// Makes the place for a helper with this confinement. A process that does so for one without network has left the user's
    /// namespaces, and can make no other places from then on.
    pub(super) fn place(&mut self, confinement: &Confinement) -> Result<Place, Failure> {
        let namespaces = confinement.namespaces();
        if !confinement.is_apart() {
            return match self.apart {
                None => Ok(Place { namespaces, network: None }),
                Some(_) => Err(Failure::new("return to the network of the host", Errno::PERM)),
            };
        }
        if self.apart.is_none() {
            kernel::unshare(UnshareFlags::NEWUSER)
                .map_err(|error| Failure::new("make a namespace of users", error))?;
            namespaces::settle(&self.ids)?;
        }
        let network = self.apart.get_or_insert_default().enter()?;
        Ok(Place { namespaces, network: Some(network) })
    }

    /// A helper with this process id was forked into this place.
    pub(super) fn forked(&mut self, place: Place, helper: i32) {
        if let (Some(networks), Some(network)) = (&mut self.apart, place.network) {
            networks.give(network, helper);
        }
    }

    /// A child with this process id has ended.
    pub(super) fn ended(&mut self, helper: i32) {
        if let Some(networks) = &mut self.apart {
            networks.take_back(helper);
        }
    }
}

impl Confinement {
    /// The flags of `clone` that make the helper's namespaces.
    const fn namespaces(&self) -> i32 {
        match self {
            Self::None | Self::Landlock(_) => 0,
            Self::Full(view) => namespaces::flags(view.network),
        }
    }

    /// Confines this process, which has one thread and is in this place. After a failure it must not run the command.
    pub(super) fn enter(&self, place: Place, groundwork: Groundwork) -> Result<(), Failure> {
        let Groundwork { ids, filters, apart } = groundwork;
        // The ways into networks, its own and others'.
        drop((place, apart));
        match self {
            Self::None => Ok(()),
            Self::Landlock(view) => {
                kernel::close_to_others()?;
                if kernel::has_capabilities()? {
                    kernel::bound_capabilities()?;
                    kernel::drop_capabilities()?;
                }
                landlock::restrict(&landlock::around(view))?;
                match view.network {
                    Network::Off => filters.without_sockets(),
                    Network::Host => filters.with_sockets(),
                }
            }
            Self::Full(view) => {
                if view.network == Network::Host {
                    namespaces::settle(&ids)?;
                }
                mounts::build(view)?;
                kernel::close_to_others()?;
                kernel::drop_capabilities()?;
                landlock::restrict(&landlock::beneath(view))?;
                filters.with_sockets()
            }
        }
    }
}

/// Opens a folder again, here: a descriptor from outside leads out of this process's view.
pub(super) fn inside(path: &CStr, outside: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (here, there) =
        (openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?, fstat(outside)?);
    let seen = fstat(&here)?;
    if (seen.st_dev, seen.st_ino) == (there.st_dev, there.st_ino) {
        Ok(here)
    } else {
        Err(io::Error::other("the working folder was replaced while the sandbox was made; nothing ran"))
    }
}

impl View {
    /// The folders that may be written, as the command finds them.
    fn writable_places(&self) -> impl Iterator<Item = &Path> {
        let private = self.private.iter().map(|private| &private.at);
        let caches = self.caches.iter().map(|cache| &cache.at);
        self.writable.iter().chain(private).chain(caches).map(AsRef::as_ref)
    }
}
