//! `[http]`: where the HTTP interface listens.

use super::Problem;
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
        if let Some(host) = self.hosts.iter().find(|host| host.is_empty() || host.contains('/')) {
            let advice = "give a name as \"abide.example.org\"";
            return Err(Problem::new("http.hosts", format!("{host:?} is no host"), advice));
        }
        Ok(())
    }
}
