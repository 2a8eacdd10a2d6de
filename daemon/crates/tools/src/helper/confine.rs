//! Confines a helper. The command inherits the confinement. First comes what a helper sees (namespaces and
//! mounts), then what it may do (Landlock, capabilities, seccomp). No step can be undone by this process or
//! its children.

mod kernel;
mod landlock;
mod mounts;
mod namespaces;
mod networks;
mod processes;
mod seccomp;

use crate::sandbox::{Confinement, Namespaces, Network, View};
use mounts::Parts;
use namespaces::Ids;
use networks::{Entered, Networks};
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
    thread::UnshareFlags,
};
use seccomp::Filters;
use std::{ffi::CStr, io, os::fd::OwnedFd, path::Path};

/// Why a sandbox could not be made. Then the command does not run.
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

/// What the fork server makes once for all helpers.
pub(super) struct Groundwork {
    ids: Ids,
    filters: Filters,
    /// The networks, once this process forks helpers without network.
    apart: Option<Networks>,
}

/// The place into which the next helper is forked.
pub(super) struct Ready {
    place: Namespaces,
    network: Option<Entered>,
}

impl Ready {
    /// The flags of `clone` that make the helper's further namespaces.
    pub(super) const fn namespaces(&self) -> i32 {
        namespaces::flags(self.place)
    }
}

impl Groundwork {
    pub(super) fn lay() -> Self {
        Self { ids: Ids::of_this_process(), filters: Filters::compile(), apart: None }
    }

    /// Makes a place for a helper. A process that has made a place apart has left the user's namespaces, and
    /// can make no places of other kinds.
    pub(super) fn ready(&mut self, place: Namespaces) -> Result<Ready, Failure> {
        if place != Namespaces::Apart {
            return match self.apart {
                None => Ok(Ready { place, network: None }),
                Some(_) => Err(Failure::new("return to the network of the host", Errno::PERM)),
            };
        }
        if self.apart.is_none() {
            kernel::unshare(UnshareFlags::NEWUSER)
                .map_err(|error| Failure::new("make a namespace of users", error))?;
            namespaces::settle(&self.ids)?;
            kernel::unshare(UnshareFlags::NEWNS)
                .map_err(|error| Failure::new("make a namespace of mounts", error))?;
            mounts::lay_ground()?;
        }
        let network = self.apart.get_or_insert_default().enter()?;
        Ok(Ready { place, network: Some(network) })
    }

    /// A helper with this process id was forked into this place.
    pub(super) fn forked(&mut self, ready: Ready, helper: i32) {
        if let (Some(networks), Some(network)) = (&mut self.apart, ready.network) {
            networks.give(network, helper);
        }
    }

    /// A child with this process id has ended.
    pub(super) fn ended(&mut self, helper: i32) {
        if let Some(networks) = &mut self.apart {
            networks.take_back(helper);
        }
    }

    /// Prepares, in a helper that was forked into this place, what all confinements of the place share.
    pub(super) fn prepare(self, ready: Ready) -> Result<Prepared, Failure> {
        let Self { ids, filters, apart } = self;
        let Ready { place, network } = ready;
        // These descriptors lead into networks, the helper's own and others'.
        drop((network, apart));
        if place == Namespaces::Networked {
            namespaces::settle(&ids)?;
            mounts::lay_ground()?;
        }
        let parts = if place == Namespaces::Host { None } else { Some(Parts::make()?) };
        Ok(Prepared { place, filters, parts })
    }
}

/// A helper that is ready for any confinement of its place, and not confined yet.
pub(super) struct Prepared {
    place: Namespaces,
    filters: Filters,
    /// The parts of the helper's view of the files, if it has its own view.
    parts: Option<Parts>,
}

impl Prepared {
    /// Confines this process, which has one thread. After a failure the process must not run the command.
    pub(super) fn confine(self, confinement: &Confinement) -> Result<(), Failure> {
        let Self { place, filters, parts } = self;
        if confinement.place() != place {
            return Err(Failure::new("be where it belongs", Errno::INVAL));
        }
        match (confinement, parts) {
            (Confinement::None, _) => Ok(()),
            (Confinement::Landlock(view), _) => {
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
            (Confinement::Full(view), Some(parts)) => {
                view.limits.map_or(Ok(()), |limits| processes::bound(limits.processes))?;
                mounts::build(view, parts)?;
                kernel::close_to_others()?;
                kernel::drop_capabilities()?;
                landlock::restrict(&landlock::beneath(view))?;
                filters.with_sockets()
            }
            (Confinement::Full(_), None) => Err(Failure::new("find the parts of its view", Errno::INVAL)),
        }
    }
}

/// Opens a folder again, because a descriptor from outside leads out of this process's view.
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
    pub(super) fn writable_places(&self) -> impl Iterator<Item = &Path> {
        let private = self.private.iter().map(|private| &private.at);
        let caches = self.caches.iter().map(|cache| &cache.at);
        self.writable.iter().chain(private).chain(caches).map(AsRef::as_ref)
    }
}
