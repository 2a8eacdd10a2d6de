//! `[http]`: where the HTTP interface listens.

use super::Problem;
use crate::http::is_authority;
use serde::Deserialize;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// As `http://localhost:5000`.
    pub listen: Vec<String>,
    /// Names that a proxy in front of it has, with a port if only that one counts.
    pub hosts: Vec<String>,
    /// Addresses that other machines reach are allowed.
    pub plain: bool,
}

impl HttpConfig {
    pub(super) fn check(&self) -> Result<(), Problem> {
        if let Some(url) = self.listen.iter().find(|url| !url.starts_with("http://")) {
            let advice = "give an address as \"http://localhost:5000\"";
            return Err(Problem::new("http.listen", format!("{url:?} is no address"), advice));
        }
        if let Some(host) = self.hosts.iter().find(|host| !is_authority(host)) {
            let advice = "give a name as \"abide.example.org\", with a port if only that one counts";
            return Err(Problem::new("http.hosts", format!("{host:?} is no host"), advice));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::HttpConfig;

    #[test]
    fn a_host_that_no_request_can_name_is_refused() {
        let table = [
            ("abide.example.org", true),
            ("abide.example.org:443", true),
            ("[2001:db8::7]:8443", true),
            ("", false),
            ("https://abide.example.org", false),
            ("abide.example.org/", false),
            ("*.example.org", false),
            ("abide.example.org:", false),
            ("abide.example.org:99999", false),
            ("me@abide.example.org", false),
            ("ábide.example.org", false),
            (" abide.example.org", false),
        ];
        for (host, is_right) in table {
            let config = HttpConfig { hosts: vec![host.to_owned()], ..HttpConfig::default() };
            assert_eq!(config.check().is_ok(), is_right, "{host:?}");
        }
    }
}
