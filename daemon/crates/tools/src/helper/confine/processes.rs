//! The kernel's limit on a command's processes and threads. The helper ends a command that has too many
//! processes, but a fork bomb would first use up those of the machine.

use super::{Failure, namespaces::write};
use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    system::uname,
};

/// The first Linux where a process namespace has its own `pid_max`. Earlier, root would change the machine's.
const OWN_MAXIMUM: [u32; 2] = [6, 14];

/// The lowest process ids are used once only (`RESERVED_PIDS`, kernel/pid.c).
const RESERVED: u32 = 300;

/// The highest `pid_max` there is (`PID_MAX_LIMIT`).
const HIGHEST: u32 = 4 << 20;

/// Bounds the processes of this process's own namespaces, to a few more than `most`, so that the helper sees
/// when they are too many.
pub(super) fn bound(most: u32) -> Result<(), Failure> {
    let most = most.saturating_add(most / 4);
    if version().is_some_and(|version| version >= OWN_MAXIMUM) {
        return write("/proc/sys/kernel/pid_max", &most.saturating_add(RESERVED).min(HIGHEST).to_string());
    }
    // The limit counts the user's processes in this user namespace, with those of other commands that share
    // it. The limit does not bound root.
    let most = Some(getrlimit(Resource::Nproc).maximum.map_or(most.into(), |hard| hard.min(most.into())));
    setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most })
        .map_err(|error| Failure::new("bound the processes", error))
}

/// The version of the kernel, as in "6.18.2-generic".
fn version() -> Option<[u32; 2]> {
    let uname = uname();
    let mut numbers = uname.release().to_str().ok()?.split(|c: char| !c.is_ascii_digit());
    Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
}
