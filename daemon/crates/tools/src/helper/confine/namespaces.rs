use super::{Failure, kernel};
use crate::sandbox::Namespaces;
use rustix::process::{getegid, geteuid};
use std::fs;

/// The user that a helper runs as, read before it has a user namespace.
pub(super) struct Ids {
    user: u32,
    group: u32,
}

impl Ids {
    pub(super) fn of_this_process() -> Self {
        Self { user: geteuid().as_raw(), group: getegid().as_raw() }
    }
}

/// The namespaces that a helper in this place has for itself (`CLONE_NEW*`). Helpers apart share the fork
/// server's namespace of users.
pub(super) const fn flags(place: Namespaces) -> i32 {
    let own = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    match place {
        Namespaces::Host => 0,
        Namespaces::Networked => own | libc::CLONE_NEWUSER,
        Namespaces::Apart => own,
    }
}

/// Makes this process's new user namespace usable, and forbids further user namespaces within it.
pub(super) fn settle(ids: &Ids) -> Result<(), Failure> {
    // The user is mapped to itself. Further groups cannot be mapped without privileges.
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{0} {0} 1", ids.user))?;
    write("/proc/self/gid_map", &format!("{0} {0} 1", ids.group))?;
    write("/proc/sys/user/max_user_namespaces", "0")?;
    // When memory runs out, this small process and its children are killed before the daemon.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    kernel::bound_capabilities()
}

pub(super) fn write(file: &str, text: &str) -> Result<(), Failure> {
    fs::write(file, text).map_err(|error| Failure::new(format!("write {file}"), error))
}
