//! Turns an error response into a kind of error and a message that says what to do.

use super::Peer;
use crate::{config::Api, error::ModelError, quote::quote, wire::Place};
use abide_protocol::record::ModelErrorKind as Kind;
use reqwest::header::{DATE, HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;

/// The error for a response whose status is not a success.
pub(super) fn of_response(peer: &Peer<'_>, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    if (300..400).contains(&status) {
        return redirected(peer, status, headers);
    }
    let complaint = Complaint::read(peer, body);
    let mut error = explain(peer, status, &complaint);
    if error.retryable {
        error.retry_after_ms = retry_after(headers);
    }
    error
}

/// The error for an error event within a stream.
pub(super) fn of_event(peer: &Peer<'_>, body: &str) -> ModelError {
    let complaint = Complaint::read(peer, body);
    explain(peer, complaint.status(), &complaint)
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

/// The provider's error message.
#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// Its names for the error (`type`, `code`, `status`), in lower case, separated by spaces.
    codes: String,
    /// A status number in the body.
    number: Option<u64>,
}

impl Complaint {
    /// Reads the usual shapes: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, a list of one, plain text.
    fn read(peer: &Peer<'_>, body: &str) -> Self {
        let Ok(mut value) = serde_json::from_str::<Value>(body) else {
            let is_page = body.trim_start().starts_with('<');
            return Self {
                message: if is_page { String::new() } else { peer.quoted(body) },
                ..Self::default()
            };
        };
        if let Some(first) = value.get_mut(0) {
            value = first.take();
        }
        let inner = value.get("error").unwrap_or(&value);
        let text = |name: &str| inner.get(name).and_then(Value::as_str);
        let message = inner.as_str().or_else(|| text("message")).or_else(|| text("detail"));
        let codes = ["type", "code", "status"].iter().filter_map(|name| text(name)).collect::<Vec<_>>();
        Self {
            message: peer.quoted(message.unwrap_or(body)),
            codes: codes.join(" ").to_ascii_lowercase(),
            number: inner.get("code").or_else(|| inner.get("status")).and_then(Value::as_u64),
        }
    }

    fn has(&self, code: &str) -> bool {
        self.codes.split(' ').any(|c| c == code)
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|w| message.contains(w))
    }

    /// The HTTP status that fits the error; within a stream the response's own status was a success.
    fn status(&self) -> u16 {
        if let Some(number) =
            self.number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n))
        {
            return number;
        }
        [
            ("overloaded_error", 529),
            ("rate_limit_error", 429),
            ("rate_limit_exceeded", 429),
            ("authentication_error", 401),
            ("permission_error", 403),
            ("billing_error", 402),
            ("not_found_error", 404),
            ("request_too_large", 413),
            ("invalid_request_error", 400),
            ("invalid_prompt", 400),
        ]
        .iter()
        .find(|(code, _)| self.has(code))
        .map_or(500, |&(_, status)| status)
    }

    fn is_about_context(&self, status: u16) -> bool {
        const CODES: [&str; 4] = [
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
            "model_context_window_exceeded",
        ];
        const WORDS: [&str; 9] = [
            "maximum context length",
            "prompt is too long",
            "input is too long",
            "exceeds the available context size",
            "exceed context limit",
            "context length exceeded",
            "context window",
            "exceeds the maximum number of tokens",
            "reduce the length of the messages",
        ];
        CODES.iter().any(|c| self.has(c))
            || status == 413
            || (matches!(status, 400 | 422 | 500) && self.says(&WORDS))
    }

    fn is_about_credit(&self, status: u16) -> bool {
        status == 402
            || ["insufficient_quota", "billing_error", "billing_hard_limit_reached"]
                .iter()
                .any(|c| self.has(c))
            || (status < 500
                && self.says(&["credit balance is too low", "insufficient balance", "insufficient credits"]))
    }

    /// A 404 about the model; otherwise it is the path that does not exist.
    fn is_about_model(&self) -> bool {
        self.has("model_not_found") || self.says(&["model"])
    }

    fn kind(&self, status: u16) -> Kind {
        const REFUSALS: [&str; 4] =
            ["content_filter", "content_policy_violation", "bio_policy", "cyber_policy"];
        match status {
            _ if self.is_about_credit(status) => Kind::Quota,
            _ if self.is_about_context(status) => Kind::ContextOverflow,
            _ if REFUSALS.iter().any(|code| self.has(code)) => Kind::Refused,
            401 | 403 => Kind::Auth,
            404 | 405 => Kind::NotFound,
            408 | 429 => Kind::RateLimited,
            500.. => Kind::Overloaded,
            _ => Kind::BadRequest,
        }
    }
}

fn explain(peer: &Peer<'_>, status: u16, complaint: &Complaint) -> ModelError {
    let provider = &peer.config.name;
    let said = if complaint.message.is_empty() {
        status.to_string()
    } else {
        format!("{status}: {}", complaint.message)
    };
    let kind = complaint.kind(status);
    let what = match kind {
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
            "there is no model `{}` at {} ({said}); `abide models` lists what there is",
            quote(peer.model),
            peer.config.shown_url()
        ),
        Kind::RateLimited => format!("it is asked too often ({said}); wait a little"),
        Kind::Overloaded => format!("it is overloaded or out of order ({said})"),
        Kind::ContextOverflow => {
            format!("the conversation is longer than `{}` can read ({said})", quote(peer.model))
        }
        Kind::Refused => format!("it refuses to answer this ({said})"),
        _ => format!("it finds the request wrong ({said})"),
    };
    peer.error(kind, what)
}

/// Describes the right `base_url`, for a person who has set another.
const fn where_paths_begin(api: Api) -> &'static str {
    match api.place() {
        Place::Address { base_url, .. } => base_url,
        Place::File => "It has no address",
    }
}

/// How long to wait: seconds, or a date, which is compared with the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()).and_then(millis) {
        return Some(ms);
    }
    let after = header(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return millis(seconds * 1000.0);
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let now = httpdate::parse_http_date(header(DATE.as_str())?).ok()?;
    let wait = until.duration_since(now).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a sane, positive number"
)]
fn millis(ms: f64) -> Option<u64> {
    (ms.is_finite() && (0.0..1e12).contains(&ms)).then(|| ms.ceil() as u64)
}
