//! What a daemon inherits of the shell that starts it for its connections: proxies, and the CAs that it
//! trusts.

use crate::systemd::UserManager;
use abide_client::protocol::start::StartedBy;
use std::env;

const VARIABLES: [&str; 10] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Those that are set, with their values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Inherited(Vec<(&'static str, String)>);

impl Inherited {
    pub(super) fn of_shell() -> Self {
        Self::of(|name| env::var(name).ok())
    }

    /// Those of another process of this user; none where the system does not tell.
    pub(super) fn of_process(pid: u32) -> Self {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let environ = String::from_utf8_lossy(&environ);
        Self::of(|name| {
            let value =
                environ.split('\0').find_map(|variable| variable.strip_prefix(name)?.strip_prefix('='));
            value.map(str::to_owned)
        })
    }

    fn of(value: impl Fn(&str) -> Option<String>) -> Self {
        let set = VARIABLES.into_iter().filter_map(|name| Some((name, value(name)?)));
        Self(set.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// The names of those that `other` has not, or with another value.
    fn without(&self, other: &Self) -> Vec<&'static str> {
        self.0.iter().filter(|variable| !other.0.contains(variable)).map(|(name, _)| *name).collect()
    }

    /// Those that systemd's user manager gives to what it starts.
    pub(super) async fn of_manager(manager: &UserManager) -> Self {
        let said = manager.environment().await;
        Self::of(|name| {
            said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
        })
    }
}

/// One line about the new daemon, which this shell has started, or systemd. `None`: there is nothing to say.
/// Values are not shown: a proxy's may have a password.
pub(super) fn line(shell: &Inherited, before: &Inherited, now: &Inherited, by: &StartedBy) -> Option<String> {
    let missing = shell.without(now);
    if matches!(by, StartedBy::Systemd(_)) && !missing.is_empty() {
        let names = missing.join(" ");
        return Some(format!(
            "systemd has started it, without this shell's {}: `systemctl --user import-environment {names}` and `abide daemon restart` give \
             it those until you log out, `systemctl --user edit abided.service` for good",
            missing.join(", ")
        ));
    }
    let dropped: Vec<_> = before.0.iter().map(|(name, _)| *name).collect();
    let dropped: Vec<_> =
        dropped.into_iter().filter(|name| now.0.iter().all(|(has, _)| has != name)).collect();
    let has: Vec<_> = now.0.iter().map(|(name, _)| *name).collect();
    let parts = [("it has this shell's", has), ("it no longer has", dropped)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let said: Vec<_> = parts.map(|(words, names)| format!("{words} {}", names.join(", "))).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::start::SystemdStart;

    fn with(set: &[(&str, &str)]) -> Inherited {
        Inherited::of(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_restart_says_what_the_daemon_has_and_what_it_has_lost() {
        let systemd = StartedBy::Systemd(SystemdStart::default());
        let proxy = [("HTTPS_PROXY", "http://me:SECRET@p:1"), ("SSL_CERT_FILE", "/ca.pem"), ("no_proxy", "")];
        for (shell, before, now, by, expected) in [
            (&[][..], &[][..], &[][..], StartedBy::Client, None),
            (&proxy, &[], &proxy, StartedBy::Client, Some("it has this shell's HTTPS_PROXY, SSL_CERT_FILE")),
            (&[], &proxy[..1], &[], StartedBy::Client, Some("it no longer has HTTPS_PROXY")),
            (
                &proxy[1..],
                &proxy[..1],
                &proxy[1..],
                StartedBy::Client,
                Some("it has this shell's SSL_CERT_FILE; it no longer has HTTPS_PROXY"),
            ),
            (&proxy, &[], &proxy, systemd.clone(), Some("it has this shell's HTTPS_PROXY, SSL_CERT_FILE")),
        ] {
            assert_eq!(line(&with(shell), &with(before), &with(now), &by).as_deref(), expected);
        }
        let not_given =
            line(&with(&proxy), &with(&[]), &with(&[("HTTPS_PROXY", "http://other")]), &systemd).unwrap();
        assert!(
            not_given
                .starts_with("systemd has started it, without this shell's HTTPS_PROXY, SSL_CERT_FILE: ")
                && not_given.contains("import-environment HTTPS_PROXY SSL_CERT_FILE`")
                && !not_given.contains("SECRET"),
            "{not_given}"
        );
    }
}
