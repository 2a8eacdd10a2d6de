//! Confines a helper, and with it its command, which inherits all of it: first what it sees (namespaces and mounts), then what
//! it may do (Landlock, capabilities, seccomp). Each step is irreversible for this process and all that come from it.

mod kernel;
mod landlock;
mod mounts;
mod namespaces;
mod seccomp;

pub(super) use namespaces::Ids;
pub(super) use seccomp::Filters;

use crate::sandbox::{Confinement, Network, View};
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
};
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

/// What was read and compiled before a helper is forked, so that each helper need not do it.
pub(super) struct Groundwork {
    ids: Ids,
    filters: Filters,
}

impl Groundwork {
    pub(super) fn lay() -> Self {
        Self { ids: Ids::of_this_process(), filters: Filters::compile() }
    }
}

impl Confinement {
    /// The flags of `clone` that make the helper's namespaces.
    pub(super) const fn namespaces(&self) -> i32 {
        match self {
            Self::None | Self::Landlock(_) => 0,
            Self::Full(view) => namespaces::flags(view.network),
        }
    }

    /// Confines this process, which has one thread. After a failure it must not run the command.
    pub(super) fn enter(&self, groundwork: &Groundwork) -> Result<(), Failure> {
        match self {
            Self::None => Ok(()),
            Self::Landlock(view) => {
                kernel::close_to_others()?;
                kernel::drop_capabilities()?;
                landlock::restrict(&landlock::around(view))?;
                match view.network {
                    Network::Off => groundwork.filters.without_sockets(),
                    Network::Host => groundwork.filters.with_sockets(),
                }
            }
            Self::Full(view) => {
                namespaces::settle(&groundwork.ids, view.network)?;
                mounts::build(view)?;
                kernel::close_to_others()?;
                kernel::drop_capabilities()?;
                landlock::restrict(&landlock::beneath(view))?;
                groundwork.filters.with_sockets()
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
