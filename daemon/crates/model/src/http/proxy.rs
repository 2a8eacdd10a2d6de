//! The proxy that the environment names for an address, for messages about it. (The HTTP client reads the
//! same variables.)

use crate::quote::quote;
use hyper_util::client::proxy::matcher::Matcher;
use std::env;

/// The variables for one kind of address, those that go first before the others.
const HTTPS: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const HTTP: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
const ALL: [&str; 2] = ["ALL_PROXY", "all_proxy"];
const NO: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// What an environment says of proxies.
pub(super) struct Proxies {
    /// The variables that are set, with their values.
    set: Vec<(&'static str, String)>,
}

/// The way to an address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    Direct,
    /// Through the proxy of this variable. The address has no login.
    Proxy {
        variable: &'static str,
        address: String,
    },
    /// Direct, though the variable has a value, which is no address of a proxy.
    Ignored {
        variable: &'static str,
        value: String,
    },
}

impl Proxies {
    pub(super) fn from_env() -> Self {
        Self::of_variables(|name| env::var(name).ok())
    }

    fn of_variables(value: impl Fn(&str) -> Option<String>) -> Self {
        let names = [HTTPS, HTTP, ALL, NO].concat();
        Self { set: names.into_iter().filter_map(|name| Some((name, value(name)?))).collect() }
    }

    /// The first of the two that is set, also to nothing.
    fn first(&self, names: [&str; 2]) -> Option<(&'static str, &str)> {
        let of = |name| self.set.iter().find(|(set, _)| *set == name);
        names.into_iter().find_map(of).map(|(name, value)| (*name, value.as_str()))
    }

    /// The way to this address.
    pub(super) fn of(&self, url: &str) -> Way {
        let own = if url.starts_with("https:") { HTTPS } else { HTTP };
        let no = self.first(NO).map_or("", |(_, value)| value);
        let uses = |value: &str| {
            let matcher = Matcher::builder().all(value.to_owned()).no(no.to_owned()).build();
            url.parse().is_ok_and(|url| matcher.intercept(&url).is_some())
        };
        if !uses("http://proxy.invalid") {
            return Way::Direct;
        }
        let set: Vec<_> = [own, ALL].into_iter().filter_map(|names| self.first(names)).collect();
        if let Some((variable, value)) = set.iter().find(|(_, value)| uses(value)) {
            return Way::Proxy { variable, address: without_login(value) };
        }
        match set.iter().find(|(_, value)| !value.trim().is_empty()) {
            Some((variable, value)) => Way::Ignored { variable, value: without_login(value) },
            None => Way::Direct,
        }
    }
}

impl Way {
    /// The message for a proxy that wants a login, which is in `said`.
    pub(super) fn wants_login(&self, said: &str) -> String {
        match self {
            Self::Proxy { variable, address } => format!(
                "the proxy {address} ({variable} of the daemon's environment) wants a login ({said}); set {variable} to \
                 http://NAME:PASSWORD@HOST:PORT, then {RESTART}"
            ),
            _ => format!("a proxy in between wants a login ({said}); it is no answer of the provider"),
        }
    }
}

/// How the daemon gets another environment.
pub(super) const RESTART: &str = "`abide daemon restart` in a shell that has it";

/// A value without what may be a password, safe for a message.
fn without_login(value: &str) -> String {
    let (scheme, rest) = value.split_once("://").map_or(("", value), |(scheme, rest)| (scheme, rest));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    quote(&if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_that_counts_is_named_and_no_password() {
        let proxy = |variable, address: &str| Way::Proxy { variable, address: address.to_owned() };
        let ignored = |variable, value: &str| Way::Ignored { variable, value: value.to_owned() };
        const HERE: &str = "https://api.example.org/v1";
        for (set, url, expected) in [
            (&[][..], HERE, Way::Direct),
            (
                &[("https_proxy", "http://me:SECRET@10.0.0.1:3128/")],
                HERE,
                proxy("https_proxy", "http://10.0.0.1:3128/"),
            ),
            (
                &[("HTTPS_PROXY", "10.0.0.1:3128"), ("https_proxy", "http://b:1")],
                HERE,
                proxy("HTTPS_PROXY", "10.0.0.1:3128"),
            ),
            (&[("http_proxy", "http://a:1")], HERE, Way::Direct),
            (&[("http_proxy", "http://a:1")], "http://api.example.org/v1", proxy("http_proxy", "http://a:1")),
            (&[("ALL_PROXY", "http://a:1")], HERE, proxy("ALL_PROXY", "http://a:1")),
            (&[("HTTPS_PROXY", ""), ("ALL_PROXY", "http://a:1")], HERE, proxy("ALL_PROXY", "http://a:1")),
            (&[("HTTPS_PROXY", "http://a:1"), ("NO_PROXY", "example.org")], HERE, Way::Direct),
            (
                &[("HTTPS_PROXY", "http://a:1"), ("no_proxy", "other.org")],
                HERE,
                proxy("HTTPS_PROXY", "http://a:1"),
            ),
            (&[("HTTPS_PROXY", "htp://me:SECRET@a:1")], HERE, ignored("HTTPS_PROXY", "htp://a:1")),
            (&[("HTTPS_PROXY", "http://a b\u{1b}:1")], HERE, ignored("HTTPS_PROXY", "http://a b :1")),
            (&[("HTTPS_PROXY", "")], HERE, Way::Direct),
        ] {
            let value =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Proxies::of_variables(value).of(url), expected, "{set:?}");
        }
    }
}
