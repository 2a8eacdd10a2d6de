//! Turns an error response into a kind of error and a message that says what to do.

mod complaint;
mod context;
mod kind;
mod lasting;
mod page;
mod wait;

use super::Peer;
use crate::{
    api::{Api, ServerLocation},
    error::ModelError,
    quote::quote,
};
use abide_protocol::record::ModelErrorKind as Kind;
use complaint::Complaint;
use reqwest::header::{HeaderMap, LOCATION};
use wait::Wait;

/// From so many ms on nobody is told to wait a little: the limit lasts.
const LONG: u64 = 600_000;

/// The error for a response whose status is not a success.
pub(super) fn of_response(peer: &Peer<'_>, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    if (300..400).contains(&status) {
        return redirected(peer, status, headers);
    }
    let complaint = Complaint::read(peer, body);
    let wait = Wait::read(headers, &complaint);
    explain(peer, status, &complaint, wait)
}

/// The error for an error event within a stream.
pub(super) fn of_event(peer: &Peer<'_>, body: &str) -> ModelError {
    let complaint = Complaint::read(peer, body);
    let wait = Wait::read(&HeaderMap::new(), &complaint);
    explain(peer, complaint.status(), &complaint, wait)
}

fn redirected(peer: &Peer<'_>, status: u16, headers: &HeaderMap) -> ModelError {
    let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
    let to = peer.quoted(to.split(['?', '#']).next().unwrap_or_default());
    peer.error(
        Kind::BadRequest,
        format!(
            "it redirects to {to} ({status}), which is not followed because the key would be sent there too; if that is the \
             right address, make it the base_url"
        ),
    )
}

fn explain(peer: &Peer<'_>, status: u16, complaint: &Complaint, wait: Wait) -> ModelError {
    let kind = complaint.kind(status, wait, peer.key.is_some());
    let wait = wait.ms(complaint.is_about_usage());
    let said = if complaint.message.is_empty() {
        status.to_string()
    } else {
        format!("{status}: {}", complaint.message)
    };
    let error = peer.error(kind, words(peer, kind, complaint, wait, &said));
    match kind {
        Kind::RateLimited if complaint.is_alone_too_large() => error.fatal(),
        Kind::Unreachable => error.fatal(),
        _ if error.retryable => ModelError { retry_after_ms: wait, ..error },
        _ => error,
    }
}

fn words(peer: &Peer<'_>, kind: Kind, complaint: &Complaint, wait: Option<u64>, said: &str) -> String {
    let (provider, model) = (&peer.config.name, quote(peer.model));
    match kind {
        Kind::Auth if peer.key.is_none() => {
            format!("it wants a key and none is set ({said}); set one with `abide key set {provider}`")
        }
        Kind::Auth => {
            format!("it does not accept the key ({said}); set another with `abide key set {provider}`")
        }
        Kind::Quota => {
            format!("the account has no credit left ({said}); add some there, or take another model")
        }
        Kind::NotFound if peer.model.is_empty() => format!(
            "{} has no list of models ({said}); is its base_url right? {}",
            peer.config.shown_url(),
            where_paths_begin(peer.config.api)
        ),
        Kind::NotFound if !complaint.is_about_model() => format!(
            "the server at {} has no such path ({said}); is its base_url right? {}",
            peer.config.shown_url(),
            where_paths_begin(peer.config.api)
        ),
        Kind::NotFound => format!(
            "there is no model `{model}` at {} ({said}); `abide models` lists what there is",
            peer.config.shown_url()
        ),
        Kind::RateLimited if complaint.is_alone_too_large() => format!(
            "this request alone is larger than its rate limit allows, so no waiting helps ({said}); take another model, or have \
             the limit raised there"
        ),
        Kind::RateLimited if complaint.is_about_usage() || wait.is_some_and(|ms| ms >= LONG) => {
            format!("its limit is used up ({said})")
        }
        Kind::RateLimited => format!("it is asked too often ({said}); wait a little"),
        Kind::Overloaded => format!("it is overloaded or out of order ({said})"),
        Kind::ServerError => format!("the server failed ({said})"),
        Kind::ContextOverflow => format!("the conversation is longer than `{model}` can read ({said})"),
        Kind::Refused if complaint.is_refusal() => format!("it refuses to answer this ({said})"),
        Kind::Refused if complaint.is_page => format!(
            "access is refused ({said}), with a web page: it may be of a firewall or a proxy in between, not of the provider"
        ),
        Kind::Refused => format!(
            "it refuses access ({said}); the key is not what it names, but what the account, the project or this place may use"
        ),
        Kind::Unreachable => peer.proxy_wants_login(said),
        _ => match complaint.lasting() {
            Some(lasting) => format!("it cannot work on this request ({said}); {}", lasting.advice()),
            None => format!("it finds the request wrong ({said})"),
        },
    }
}

/// Describes the right `base_url`, for a person who has set another.
const fn where_paths_begin(api: Api) -> &'static str {
    match api.location() {
        ServerLocation::Address { base_url, .. } => base_url,
        ServerLocation::File => "It has no address",
    }
}
