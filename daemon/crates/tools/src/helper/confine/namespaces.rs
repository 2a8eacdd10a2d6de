use super::{Failure, kernel};
use crate::sandbox::Network;
use rustix::{
    mount::{MountPropagationFlags, mount_change},
    process::{getegid, geteuid},
};
use std::fs;

/// The user that a helper runs as, read before it has a user namespace.
pub(in super::super) struct Ids {
    user: u32,
    group: u32,
}

impl Ids {
    pub(super) fn of_this_process() -> Self {
        Self { user: geteuid().as_raw(), group: getegid().as_raw() }
    }
}

pub(super) const fn flags(network: Network) -> i32 {
    let all = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    match network {
        Network::Off => all | libc::CLONE_NEWNET,
        Network::Host => all,
    }
}

/// Makes the new namespaces usable, and the last ones: nothing inside can make another user namespace.
pub(super) fn settle(ids: &Ids, network: Network) -> Result<(), Failure> {
    let write = |file: &str, text: String| {
        fs::write(file, text).map_err(|error| Failure::new(format!("write {file}"), error))
    };
    // A user who is mapped to itself. Groups other than the first cannot be mapped without privileges.
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{0} {0} 1", ids.user))?;
    write("/proc/self/gid_map", format!("{0} {0} 1", ids.group))?;
    write("/proc/sys/user/max_user_namespaces", "0".to_owned())?;
    // The helper is small; what it starts inherits this, and is killed before the daemon when memory runs out.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    if network == Network::Off {
        kernel::bring_loopback_up()?;
    }
    // What is mounted here stays here.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|error| Failure::new("separate the mounts from the host's", error))
}
