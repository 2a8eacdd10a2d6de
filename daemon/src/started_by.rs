//! Who started this process, as far as it can see.

use abide_host::login::{BY_AUTOSTART, BY_CLIENT, STARTED_BY};
use abide_protocol::start::{StartedBy, SystemdStart};
use std::{
    fs,
    io::{self, IsTerminal as _},
};

/// Who started this process.
#[must_use]
pub fn started_by() -> StartedBy {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    Seen { pid: std::process::id(), at_terminal: io::stdin().is_terminal(), groups: &groups }.judged(variable)
}

/// What a process sees of itself.
struct Seen<'a> {
    pid: u32,
    at_terminal: bool,
    /// `/proc/self/cgroup`.
    groups: &'a str,
}

impl Seen<'_> {
    fn judged(&self, variable: impl Fn(&str) -> Option<String>) -> StartedBy {
        // A variable is inherited: one with a process id counts for that process only, and nobody starts a
        // daemon that reads from a terminal but a person.
        let is_for_us = |name: &str| variable(name).and_then(|pid| pid.parse().ok()) == Some(self.pid);
        let said = variable(STARTED_BY);
        match said.as_deref() {
            _ if self.at_terminal => StartedBy::Terminal,
            // Before systemd, which starts the desktop's entries on many systems.
            Some(BY_AUTOSTART) => StartedBy::Autostart,
            _ if is_for_us("SYSTEMD_EXEC_PID") || is_for_us("LISTEN_PID") => {
                StartedBy::Systemd(SystemdStart {
                    unit: self.unit().filter(|_| is_for_us("SYSTEMD_EXEC_PID")),
                    socket: is_for_us("LISTEN_PID"),
                })
            }
            Some(BY_CLIENT) => StartedBy::Client,
            _ => StartedBy::Program,
        }
    }

    /// The unit of this process: the last part of the path of its control group.
    fn unit(&self) -> Option<String> {
        let paths = self.groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        let units =
            paths.filter_map(|path| path.rsplit('/').next()).filter(|name| name.ends_with(".service"));
        units.map(str::to_owned).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = "5:memory:/\n1:name=systemd:/\n0::/user.slice/user-1000.slice/user@1000.service/app.slice/abided.service\n";
    const SHELL: &str = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-konsole@7.service\n";

    /// Variables, whether standard input is a terminal, control groups, and what follows from them.
    type Case<'a> = (&'a [(&'a str, &'a str)], bool, &'a str, StartedBy);

    fn systemd(unit: Option<&str>, socket: bool) -> StartedBy {
        StartedBy::Systemd(SystemdStart { unit: unit.map(str::to_owned), socket })
    }

    #[test]
    fn who_started_it_is_told_from_what_no_other_process_has() {
        let table: [Case<'_>; 9] = [
            (&[], true, SHELL, StartedBy::Terminal),
            (&[(STARTED_BY, BY_CLIENT)], false, SHELL, StartedBy::Client),
            (&[], false, SHELL, StartedBy::Program),
            (&[("SYSTEMD_EXEC_PID", "7")], false, UNIT, systemd(Some("abided.service"), false)),
            (
                &[("SYSTEMD_EXEC_PID", "7"), ("LISTEN_PID", "7")],
                false,
                UNIT,
                systemd(Some("abided.service"), true),
            ),
            // `systemd-socket-activate`, which has no unit.
            (&[("LISTEN_PID", "7")], false, SHELL, systemd(None, true)),
            // A terminal or a client that systemd started: its variables are inherited.
            (&[("SYSTEMD_EXEC_PID", "6"), ("LISTEN_PID", "6")], true, SHELL, StartedBy::Terminal),
            (&[("SYSTEMD_EXEC_PID", "6"), (STARTED_BY, BY_CLIENT)], false, SHELL, StartedBy::Client),
            // systemd starts the entry of the autostart folder.
            (&[("SYSTEMD_EXEC_PID", "7"), (STARTED_BY, BY_AUTOSTART)], false, UNIT, StartedBy::Autostart),
        ];
        for (variables, at_terminal, groups, expected) in table {
            let variable =
                |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Seen { pid: 7, at_terminal, groups }.judged(variable), expected, "{variables:?}");
        }
    }
}
