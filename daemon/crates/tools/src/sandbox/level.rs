use super::{Confinement, Plan, View};
use crate::CommandLimits;
use crate::command::{ForkServer, try_helper};
use abide_protocol::sandbox::SandboxLevel;
use std::{ffi::OsString, fs, sync::OnceLock};

/// The setting by which AppArmor keeps user namespaces from programs without a profile (Ubuntu 23.10 and
/// later).
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// The sandbox that this machine allows, found out by making one.
#[derive(Debug, Default)]
pub(crate) struct Levels(OnceLock<Found>);

/// The best level that works, and why better levels do not.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) level: SandboxLevel,
    /// In words, empty at the highest level.
    pub(crate) why_not: Vec<String>,
}

impl Levels {
    /// Tries the levels once, the best first. Blocking.
    pub(crate) fn found(&self, server: &ForkServer) -> &Found {
        self.0.get_or_init(|| Found::by_trial(server))
    }
}

impl Found {
    fn by_trial(server: &ForkServer) -> Self {
        let view = View { limits: Some(CommandLimits::default()), ..View::default() };
        let levels = [
            (SandboxLevel::Full, Confinement::Full(view.clone())),
            (SandboxLevel::Landlock, Confinement::Landlock(view)),
        ];
        let mut why_not = Vec::new();
        for (level, confinement) in levels {
            match try_helper(server, &Plan::of(confinement)) {
                Ok(()) => return Self { level, why_not },
                Err(error) => {
                    tracing::warn!(%level, %error, "this sandbox cannot be made here");
                    // The fork server of the failed trial is of no further use.
                    server.close();
                    why_not.push(format!("no `{level}`: {error}{}", remedy(level)));
                }
            }
        }
        Self { level: SandboxLevel::None, why_not }
    }
}

/// What a person can do about a failed level.
fn remedy(level: SandboxLevel) -> &'static str {
    let restricts = || fs::read_to_string(APPARMOR).is_ok_and(|value| value.trim() == "1");
    match level {
        SandboxLevel::Full if restricts() => {
            "; AppArmor keeps user namespaces from programs without a profile: as root, load Abide's with `/usr/lib/abide/apparmor load` (of its package; see packaging/README.md)"
        }
        SandboxLevel::Full => "; it needs user namespaces, which most containers do not allow",
        SandboxLevel::Landlock => "; it needs Linux 6.2 or newer, with Landlock",
        SandboxLevel::None => "",
    }
}

/// The best sandbox that this machine allows, and why a better one cannot be made. `helper` is as in
/// [`Options`](crate::Options). Blocking.
#[must_use]
pub fn try_sandbox(helper: Vec<OsString>) -> (SandboxLevel, Vec<String>) {
    let Found { level, why_not } = Found::by_trial(&ForkServer::new(helper));
    (level, why_not)
}
