//! Why no connection could be made, and what to do about it.

use super::{
    Peer, cause,
    proxy::{RESTART, Way},
};
use crate::error::ModelError;
use abide_protocol::record::ModelErrorKind as Kind;
use rustls::CertificateError;
use std::{env, error::Error as _};

enum Obstacle {
    NobodyListens,
    UnknownHost,
    /// The certificate names others than this machine trusts.
    UnknownIssuer,
    /// The certificate is not, or no longer, or not yet that of this host.
    Certificate,
    /// The proxy wants a login.
    ProxyLogin,
    /// The proxy does not let this through.
    ProxyRefuses,
    Other,
}

impl Obstacle {
    fn of(error: &reqwest::Error) -> Self {
        if error.is_dns() {
            return Self::UnknownHost;
        }
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(obstacle) = Self::named_by(cause) {
                return obstacle;
            }
            source = cause.source();
        }
        Self::Other
    }

    fn named_by(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return Some(match tls {
                rustls::Error::InvalidCertificate(
                    CertificateError::Expired
                    | CertificateError::ExpiredContext { .. }
                    | CertificateError::NotValidYet
                    | CertificateError::NotValidYetContext { .. }
                    | CertificateError::NotValidForName
                    | CertificateError::NotValidForNameContext { .. },
                ) => Self::Certificate,
                rustls::Error::InvalidCertificate(_) => Self::UnknownIssuer,
                _ => Self::Certificate,
            });
        }
        // The type of these is private.
        match cause.to_string().as_str() {
            "tunnel error: proxy authorization required" => return Some(Self::ProxyLogin),
            "tunnel error: unsuccessful" => return Some(Self::ProxyRefuses),
            _ => {}
        }
        let io = cause.downcast_ref::<std::io::Error>()?;
        if io.kind() == std::io::ErrorKind::ConnectionRefused {
            return Some(Self::NobodyListens);
        }
        // `source` of an I/O error skips the error that it wraps, so the wrapped one is looked at first.
        io.get_ref().and_then(|inner| Self::named_by(inner))
    }
}

/// The error of a connection that could not be made on this way.
pub(super) fn error(peer: &Peer<'_>, error: &reqwest::Error, way: &Way) -> ModelError {
    let at = peer.config.shown_url();
    let cause = cause(error);
    let obstacle = Obstacle::of(error);
    let is_certificate = matches!(obstacle, Obstacle::UnknownIssuer | Obstacle::Certificate);
    let what = match (&obstacle, way) {
        (Obstacle::ProxyLogin, way) => return peer.error(Kind::Unreachable, way.wants_login(&cause)).fatal(),
        (Obstacle::ProxyRefuses, Way::Proxy { variable, address }) => format!(
            "the proxy {address} ({variable} of the daemon's environment) does not connect it to {at} ({cause}); is the host right, and \
             does the proxy allow it?"
        ),
        (_, Way::Proxy { variable, address }) if !is_certificate => format!(
            "the proxy {address} ({variable} of the daemon's environment) cannot be reached ({cause}); correct or unset {variable}, or \
             name the host in NO_PROXY, then {RESTART}"
        ),
        (Obstacle::NobodyListens, _) => {
            format!("nobody listens at {at} ({cause}); start the server there, or correct its base_url")
        }
        (Obstacle::UnknownHost, _) => format!(
            "the host of {at} is not known ({cause}); is the network up, and is the name in its base_url right?"
        ),
        (Obstacle::UnknownIssuer, _) => format!(
            "the certificate of {at} is not accepted ({cause}): nobody whom this machine trusts has signed it; if a company's or an own \
             CA has, name its file in SSL_CERT_FILE, or its folder in SSL_CERT_DIR, of the daemon's environment: {RESTART}{}",
            trust_of_env()
        ),
        (Obstacle::Certificate, _) => format!(
            "the certificate of {at} is not accepted ({cause}); is the clock right, and does nothing stand in between?"
        ),
        _ => format!("cannot be reached at {at} ({cause}); is the network up, and is its base_url right?"),
    };
    let ignored = match way {
        Way::Ignored { variable, value } => format!(
            "; {variable} of the daemon's environment (`{value}`) is no address of a proxy and was not used: correct it, then {RESTART}"
        ),
        Way::Direct | Way::Proxy { .. } => String::new(),
    };
    peer.error(Kind::Unreachable, what + &ignored)
}

/// The variables that say whom the daemon trusts, if they are set.
pub(super) fn trust_of_env() -> String {
    let set = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(|name| {
        let value = env::var(name).ok().filter(|value| !value.is_empty())?;
        Some(format!("{name} is {}", crate::quote::quote(&value)))
    });
    let set: Vec<_> = set.collect();
    if set.is_empty() { String::new() } else { format!(" (now {})", set.join(", ")) }
}
