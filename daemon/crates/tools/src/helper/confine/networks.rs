//! Networks that are nothing but a loopback device, for commands without network.
//!
//! The kernel needs longer to make and end a network (0.34 and 0.3 ms on one machine) than for all the rest
//! of a sandbox. So a network whose processes have all ended is used again. Two helpers never have the same
//! network at the same time, so a command finds nobody else in it. The network keeps nothing of earlier
//! commands, whose sockets ended with them.

use super::{Failure, kernel, namespaces::write};
use rustix::{
    fs::{Mode, OFlags, open},
    thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space},
};
use std::{
    collections::HashMap,
    os::fd::{AsFd as _, OwnedFd},
};

/// The most unused networks that are kept.
const FREE: usize = 4;

/// Settings that make a network forget closed connections. Otherwise a closed server's port would stay in use
/// for a minute, and measurements of one connection would count for the next.
const FORGETS: [(&str, &str); 2] =
    [("/proc/sys/net/ipv4/tcp_max_tw_buckets", "0"), ("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")];

/// The networks of a process that forks helpers.
#[derive(Default)]
pub(super) struct Networks {
    free: Vec<OwnedFd>,
    /// Networks in use, by the helper's process id.
    used: HashMap<i32, OwnedFd>,
}

/// A network that only this process is in. `None`: the network would keep something, and is not used again.
pub(super) struct Entered(Option<OwnedFd>);

impl Networks {
    /// Moves this process into an unused network, for the helper that is forked next.
    pub(super) fn enter(&mut self) -> Result<Entered, Failure> {
        let Some(free) = self.free.pop() else { return make() };
        move_into_link_name_space(free.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| Failure::new("enter a network of its own", error))?;
        Ok(Entered(Some(free)))
    }

    /// Notes that the helper with this process id has the network.
    pub(super) fn give(&mut self, Entered(network): Entered, helper: i32) {
        self.used.extend(network.map(|network| (helper, network)));
    }

    /// A child has ended. A helper is the first process of its process namespace, so all other processes of
    /// its network have ended, too.
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
