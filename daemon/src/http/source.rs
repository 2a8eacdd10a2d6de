//! Where a request comes from: whether it was meant for this server, and whether a page of another site has
//! sent it.

use super::refusal::Refusal;
use abide_protocol::ErrorKind;
use hyper::{
    HeaderMap, Uri,
    header::{HOST, HeaderName, ORIGIN},
};
use std::net::{IpAddr, SocketAddr};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses a request for another host, and one of another site's page. `local` is the address that the
/// connection has reached, `hosts` are the names that the configuration adds.
pub(super) fn check(
    uri: &Uri,
    headers: &HeaderMap,
    local: SocketAddr,
    hosts: &[String],
) -> Result<(), Refusal> {
    let Some(host) = only(headers, &HOST) else {
        return Err(Refusal::new(ErrorKind::InvalidRequest, "a request has exactly one Host header"));
    };
    let is_ours = |authority: &str| is_ours(authority, local, hosts);
    if !is_ours(host) || uri.authority().is_some_and(|authority| !is_ours(authority.as_str())) {
        let words = format!(
            "this server is not {host:?}; a name that a proxy in front of it has belongs into `[http] hosts`"
        );
        return Err(Refusal::new(ErrorKind::Forbidden, words));
    }
    let foreign = || Refusal::new(ErrorKind::Forbidden, "pages of other sites may not use this server");
    if headers.contains_key(ORIGIN) {
        let origin = only(headers, &ORIGIN).ok_or_else(foreign)?;
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.filter(|authority| is_ours(authority)).ok_or_else(foreign)?;
    }
    if headers.contains_key(FETCH_SITE) {
        let site = only(headers, &FETCH_SITE).ok_or_else(foreign)?;
        ["same-origin", "none"].contains(&site).then_some(()).ok_or_else(foreign)?;
    }
    Ok(())
}

/// The header's value, if it is there once and readable.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(())?;
    value.to_str().ok()
}

/// Whether `HOST[:PORT]` names this server.
fn is_ours(authority: &str, local: SocketAddr, hosts: &[String]) -> bool {
    let Some((host, port)) = split(authority) else { return false };
    let is_named = |own: &String| match split(own) {
        // Nobody writes the usual port of a scheme.
        Some((name, Some(own_port))) => {
            let is_port = port.map_or([80, 443].contains(&own_port), |port: u16| port == own_port);
            host.eq_ignore_ascii_case(name) && is_port
        }
        Some((name, None)) => host.eq_ignore_ascii_case(name),
        None => false,
    };
    if hosts.iter().any(is_named) {
        return true;
    }
    if port.unwrap_or(80) != local.port() {
        return false;
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let address = match bare {
        Some(bare) => bare.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    };
    host.eq_ignore_ascii_case("localhost")
        || address.is_some_and(|address| {
            let loopback = ["127.0.0.1", "::1"].iter().any(|own| own.parse() == Ok(address));
            loopback || address == local.ip().to_canonical()
        })
}

/// Whether a request can name such a `HOST[:PORT]`.
pub(crate) fn is_authority(text: &str) -> bool {
    split(text).is_some()
}

/// Host and port; `None`: it is neither.
pub(super) fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.rfind(':') {
        // The colons of a bare IPv6 address in brackets are before the bracket.
        Some(at) if !authority[at..].contains(']') => (&authority[..at], Some(&authority[at + 1..])),
        _ => (authority, None),
    };
    let is_host = |c: u8| c.is_ascii_alphanumeric() || b"-._".contains(&c);
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_sound = match inside {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_host),
    };
    let port = match port {
        Some(port) if port.bytes().all(|c| c.is_ascii_digit()) => Some(port.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    is_sound.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn status(local: &str, headers: &[(&str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let hosts = ["abide.tail.ts.net", "proxy:8443", "usual.example:443"].map(str::to_owned);
        let checked = check(&Uri::from_static("/health"), &map, local.parse().unwrap(), &hosts);
        checked.map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn a_request_names_this_server_once() {
        let table = [
            ("127.0.0.1:5000", "localhost:5000", 200),
            ("127.0.0.1:5000", "LocalHost:5000", 200),
            ("127.0.0.1:5000", "127.0.0.1:5000", 200),
            ("[::1]:5000", "[::1]:5000", 200),
            ("127.0.0.1:80", "localhost", 200),
            ("192.0.2.7:5000", "192.0.2.7:5000", 200),
            ("[::ffff:192.0.2.7]:5000", "192.0.2.7:5000", 200),
            ("[2001:db8::7]:5000", "[2001:db8:0::7]:5000", 200),
            ("127.0.0.1:5000", "abide.tail.ts.net", 200),
            ("127.0.0.1:5000", "Abide.Tail.TS.net:443", 200),
            ("127.0.0.1:5000", "proxy:8443", 200),
            ("127.0.0.1:5000", "proxy", 403),
            ("127.0.0.1:5000", "proxy:443", 403),
            ("127.0.0.1:5000", "usual.example", 200),
            ("127.0.0.1:5000", "usual.example:443", 200),
            ("127.0.0.1:5000", "usual.example:8443", 403),
            ("127.0.0.1:5000", "localhost", 403),
            ("127.0.0.1:5000", "localhost:5001", 403),
            ("127.0.0.1:5000", "localhost:05000x", 403),
            ("127.0.0.1:5000", "localhost:99999999", 403),
            ("127.0.0.1:5000", "localhost.:5000", 403),
            ("127.0.0.1:5000", "localhost.evil.example:5000", 403),
            ("127.0.0.1:5000", "evil.example:5000", 403),
            ("127.0.0.1:5000", "abide.tail.ts.net.evil.example", 403),
            ("127.0.0.1:5000", "127.0.0.2:5000", 403),
            ("127.0.0.1:5000", "0.0.0.0:5000", 403),
            ("127.0.0.1:5000", "2130706433:5000", 403),
            ("127.0.0.1:5000", "192.0.2.7:5000", 403),
            ("127.0.0.1:5000", "localhost:5000@evil.example", 403),
            ("127.0.0.1:5000", "[::1:5000", 403),
            ("127.0.0.1:5000", "", 403),
            ("127.0.0.1:5000", " ", 403),
        ];
        for (local, host, expected) in table {
            assert_eq!(status(local, &[("host", host)]), expected, "{host:?} at {local}");
        }
        assert_eq!(status("127.0.0.1:5000", &[]), 400);
        assert_eq!(status("127.0.0.1:5000", &[("host", "localhost:5000"), ("host", "localhost:5000")]), 400);
        assert_eq!(status("127.0.0.1:5000", &[("host", "localhost:5000\u{e9}")]), 400);
        let map = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost:5000"))]);
        let uri = Uri::from_static("http://evil.example/health");
        assert!(check(&uri, &map, "127.0.0.1:5000".parse().unwrap(), &[]).is_err());
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let table: [(&[&str], &[&str], u16); 18] = [
            (&["http://localhost:5000"], &["same-origin"], 200),
            (&["http://127.0.0.1:5000"], &[], 200),
            (&["https://abide.tail.ts.net"], &[], 200),
            (&["http://proxy:8443"], &[], 200),
            (&[], &["none"], 200),
            (&[], &["same-origin"], 200),
            (&["null"], &[], 403),
            (&[""], &[], 403),
            (&["http://localhost:3000"], &[], 403),
            (&["http://localhost:5000/"], &[], 403),
            (&["http://localhost:5000.evil.example"], &[], 403),
            (&["https://evil.example"], &[], 403),
            (&["file://localhost:5000"], &[], 403),
            (&["http://user@localhost:5000"], &[], 403),
            (&["http://localhost:5000", "http://localhost:5000"], &[], 403),
            (&[], &["same-site"], 403),
            (&[], &["cross-site"], 403),
            (&["http://localhost:5000"], &["same-origin", "cross-site"], 403),
        ];
        for (origins, sites, expected) in table {
            let headers: Vec<_> = [("host", "localhost:5000")]
                .into_iter()
                .chain(origins.iter().map(|origin| ("origin", *origin)))
                .chain(sites.iter().map(|site| ("sec-fetch-site", *site)))
                .collect();
            assert_eq!(status("127.0.0.1:5000", &headers), expected, "{origins:?} {sites:?}");
        }
    }
}
