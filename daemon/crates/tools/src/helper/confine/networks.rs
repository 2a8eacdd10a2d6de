//! Networks that are nothing but a loopback device, for commands without network.
//!
//! To make one and to end it takes the kernel longer than all the rest of a sandbox (0.34 and 0.3 ms on one machine). So one whose
//! processes have all ended is used again. Two helpers never have the same one at the same time, so commands find nobody but
//! themselves in it, and it keeps nothing of earlier ones: their sockets end with them.

use super::{Failure, kernel, namespaces::write};
use rustix::{
    fs::{Mode, OFlags, open},
    thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space},
};
use std::{
    collections::HashMap,
    os::fd::{AsFd as _, OwnedFd},
};

/// How many are kept that nobody uses.
const FREE: usize = 4;

/// What a network would keep of connections that are over, and how it is turned off: the port of a server that was closed would be in use
/// for a minute, and what was measured of a connection would count for the next.
const FORGETS: [(&str, &str); 2] =
    [("/proc/sys/net/ipv4/tcp_max_tw_buckets", "0"), ("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")];

/// The networks of a process that forks helpers.
#[derive(Default)]
pub(super) struct Networks {
    free: Vec<OwnedFd>,
    /// By the process id of the helper.
    used: HashMap<i32, OwnedFd>,
}

/// A network that this process is in, and nobody else. It can be used again unless it would keep something.
pub(super) struct Entered(Option<OwnedFd>);

impl Networks {
    /// Moves this process into a network that nobody uses, so that a helper that is forked now has it.
    pub(super) fn enter(&mut self) -> Result<Entered, Failure> {
        let Some(free) = self.free.pop() else { return make() };
        move_into_link_name_space(free.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| Failure::new("enter a network of its own", error))?;
        Ok(Entered(Some(free)))
    }

    /// The helper with this process id has it.
    pub(super) fn give(&mut self, Entered(network): Entered, helper: i32) {
        self.used.extend(network.map(|network| (helper, network)));
    }

    /// A child has ended. If it was a helper, it was the first process of its namespace of processes, and the others there ended
    /// before it.
    pub(super) fn take_back(&mut self, child: i32) {
        let returned = self.used.remove(&child).filter(|_| self.free.len() < FREE);
        self.free.extend(returned);
    }
}

fn make() -> Result<Entered, Failure> {
    let fail = |error| Failure::new("make a network of its own", error);
    kernel::unshare(UnshareFlags::NEWNET).map_err(fail)?;
    kernel::bring_loopback_up()?;
    if FORGETS.iter().any(|(file, value)| write(file, value).is_err()) {
        return Ok(Entered(None));
    }
    let network = open("/proc/self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(fail)?;
    Ok(Entered(Some(network)))
}
