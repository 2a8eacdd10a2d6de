//! What the body of an error says.

use super::{super::Peer, page};
use serde_json::Value;

/// The names of members that have a name of the error.
const NAMES: [&str; 5] = ["type", "code", "status", "reason", "__type"];
/// The names of members that have the message.
const MESSAGES: [&str; 5] = ["message", "detail", "msg", "error_description", "error"];
/// Names of errors, and the HTTP status that fits.
const STATUSES: [(&str, u16); 32] = [
    ("overloaded_error", 529),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("usage_limit_reached", 429),
    ("insufficient_quota", 429),
    ("resource_exhausted", 429),
    ("throttlingexception", 429),
    ("too_many_requests", 429),
    ("authentication_error", 401),
    ("invalid_api_key", 401),
    ("unauthenticated", 401),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("billing_error", 402),
    ("not_found_error", 404),
    ("model_not_found", 404),
    ("not_found", 404),
    ("request_too_large", 413),
    ("context_length_exceeded", 400),
    ("invalid_request_error", 400),
    ("invalid_argument", 400),
    ("failed_precondition", 400),
    ("invalid_prompt", 400),
    ("badrequesterror", 400),
    ("validationexception", 400),
    ("unavailable", 503),
    ("service_unavailable", 503),
    ("service_unavailable_error", 503),
    ("server_overloaded", 503),
    ("slow_down", 503),
    ("deadline_exceeded", 504),
    ("timeout_error", 504),
];

/// The provider's error.
#[derive(Debug, Default)]
pub(super) struct Complaint {
    /// For people.
    pub(super) message: String,
    /// The whole message in lower case, with one space between words.
    pub(super) text: String,
    /// Its names for the error, in lower case, separated by spaces.
    pub(super) codes: String,
    /// A status number in the body.
    number: Option<u16>,
    /// The body, if it is JSON.
    pub(super) body: Value,
    /// The body is a web page.
    pub(super) is_page: bool,
}

impl Complaint {
    /// Reads the usual shapes: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, a list of one, plain
    /// text, a web page.
    pub(super) fn read(peer: &Peer<'_>, body: &str) -> Self {
        let Ok(mut value) = serde_json::from_str::<Value>(body) else {
            let is_page = body.trim_start().starts_with('<');
            let words = if is_page { page::title(body).unwrap_or_default() } else { body.to_owned() };
            return Self { is_page, ..Self::of(peer, &words) };
        };
        if let Some(first) = value.get_mut(0) {
            value = first.take();
        }
        let inner = ["/error", "/choices/0/error"].into_iter().find_map(|at| value.pointer(at));
        let inner = inner.filter(|inner| !inner.is_null()).unwrap_or(&value);
        let message = message(inner).unwrap_or_else(|| body.to_owned());
        let member = |name: &str| inner.get(name).or_else(|| value.get(name));
        let codes: Vec<_> = NAMES.iter().filter_map(|name| inner.get(name)?.as_str()).collect();
        let numbers = ["code", "status", "status_code", "statusCode"];
        Self {
            codes: codes.join(" ").to_ascii_lowercase(),
            number: numbers.iter().filter_map(|name| number(member(name)?)).find(|n| (400..600).contains(n)),
            body: value,
            ..Self::of(peer, &message)
        }
    }

    fn of(peer: &Peer<'_>, words: &str) -> Self {
        let text = peer.redact(words).to_lowercase();
        Self {
            message: peer.quoted(words),
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            ..Self::default()
        }
    }

    pub(super) fn has(&self, code: &str) -> bool {
        self.codes.split(' ').any(|c| c == code)
    }

    pub(super) fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.contains(word))
    }

    /// The HTTP status that fits the error; within a stream the response's own status was a success.
    pub(super) fn status(&self) -> u16 {
        let named = || STATUSES.iter().find(|(code, _)| self.has(code)).map(|&(_, status)| status);
        self.number.or_else(named).unwrap_or(500)
    }
}

/// The message of an error, and what a router quotes of the provider behind it.
fn message(error: &Value) -> Option<String> {
    let own = error.as_str().or_else(|| MESSAGES.iter().find_map(|name| error.get(name)?.as_str()))?;
    let behind = error.pointer("/metadata/raw").and_then(Value::as_str).map(|raw| {
        let inner = serde_json::from_str::<Value>(raw).ok();
        let inner = inner.as_ref().and_then(|raw| message(raw.get("error").unwrap_or(raw)));
        inner.unwrap_or_else(|| raw.to_owned())
    });
    Some(behind.map_or_else(|| own.to_owned(), |behind| format!("{own}: {behind}")))
}

fn number(value: &Value) -> Option<u16> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64().and_then(|n| u16::try_from(n).ok()),
    }
}
