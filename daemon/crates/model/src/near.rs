//! Addresses of this machine and of the network around it. A model server there is a person's own: slow to
//! read a long prompt, and asked for things that only its software knows.

use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr};

/// Endings of names that the domain name system outside does not know.
const PRIVATE_ENDINGS: [&str; 6] = [".local", ".lan", ".internal", ".home", ".home.arpa", ".localhost"];

/// Whether the host of this address is this machine or in a private network. Nothing is resolved: a name
/// counts if it cannot be a public one.
pub(crate) fn is_near(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url.trim()) else { return false };
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    match host.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(IpAddr::V4(v4)) => is_near_v4(v4),
        Ok(IpAddr::V6(v6)) => {
            let is_unique_local = v6.segments()[0] & 0xfe00 == 0xfc00;
            let is_link_local = v6.segments()[0] & 0xffc0 == 0xfe80;
            v6.is_loopback()
                || is_unique_local
                || is_link_local
                || v6.to_ipv4_mapped().is_some_and(is_near_v4)
        }
        Err(_) => {
            !host.is_empty() && (!host.contains('.') || PRIVATE_ENDINGS.iter().any(|end| host.ends_with(end)))
        }
    }
}

/// The addresses that carriers share are also those of private overlay networks.
const fn is_near_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_loopback() || address.is_private() || address.is_link_local() || (a == 100 && b & 0xc0 == 64)
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn this_machine_and_private_networks_are_near_and_all_else_is_not() {
        for near in [
            "http://127.0.0.1:11434/v1",
            "http://127.8.9.1",
            "http://localhost:1234/v1",
            "https://localhost",
            "http://[::1]:8080",
            "http://10.0.0.7:11434/v1",
            "http://172.16.3.4",
            "https://192.168.1.20/v1",
            "http://169.254.1.1",
            "http://100.101.2.3:8000",
            "http://[fd12::7]:8000",
            "http://[fe80::1]:8000",
            "http://[::ffff:192.168.0.4]/v1",
            "http://gpu-box:8000/v1",
            "http://gpu.LAN:8000/v1",
            "http://host.docker.internal:11434",
            "http://nas.local./v1",
        ] {
            assert!(is_near(near), "{near}");
        }
        for far in [
            "https://api.openai.com/v1",
            "http://8.8.8.8/v1",
            "http://172.32.0.1",
            "http://100.128.0.1",
            "http://[2001:db8::1]/v1",
            "https://local.example.org",
            "not a url",
            "",
        ] {
            assert!(!is_near(far), "{far}");
        }
    }
}
