//! What kind of error a status and the words of a body are.

use super::{complaint::Complaint, wait::Wait};
use abide_protocol::record::ModelErrorKind as Kind;

const REFUSALS: [&str; 4] = ["content_filter", "content_policy_violation", "bio_policy", "cyber_policy"];
const LIMITS: [&str; 6] = [
    "rate_limit_error",
    "rate_limit_exceeded",
    "usage_limit_reached",
    "usage_limit_exceeded",
    "resource_exhausted",
    "throttlingexception",
];
const MONEY: [&str; 5] = [
    "credit balance is too low",
    "insufficient balance",
    "insufficient credits",
    "insufficient funds",
    "more credits",
];
/// Servers that have more to do than they can.
const OVERLOAD: [&str; 13] = [
    "overload",
    "at capacity",
    "out of capacity",
    "no capacity",
    "capacity exceeded",
    "busy",
    "too many requests",
    "high demand",
    "heavy load",
    "temporarily unavailable",
    "service unavailable",
    "insufficient_system_resource",
    "queue is full",
];
/// What a 403 says of the key itself.
const KEY: [&str; 10] = [
    "api key",
    "api_key",
    "apikey",
    "api-key",
    "credential",
    "unauthorized",
    "authenticat",
    "access token",
    "invalid token",
    "token expired",
];

impl Complaint {
    /// The kind of this error. `with_key`: the request had a key.
    pub(super) fn kind(&self, status: u16, wait: Wait, with_key: bool) -> Kind {
        match status {
            _ if self.is_alone_too_large() => Kind::RateLimited,
            407 => Kind::Unreachable,
            _ if self.is_about_credit(status) && !self.ends_by_itself(wait) => Kind::Quota,
            _ if self.is_about_context(status) => Kind::ContextOverflow,
            _ if self.is_refusal() => Kind::Refused,
            408 | 429 => Kind::RateLimited,
            400..500 if status != 401 && self.is_limit() => Kind::RateLimited,
            401 => Kind::Auth,
            _ if self.lasting().is_some() => Kind::BadRequest,
            // A payment that waiting replaces.
            402 => Kind::RateLimited,
            403 if self.is_about_key(with_key) => Kind::Auth,
            403 => Kind::Refused,
            404 | 405 => Kind::NotFound,
            500 | 505..520 if self.is_overload() => Kind::Overloaded,
            500 | 505..520 => Kind::ServerError,
            501 => Kind::BadRequest,
            502.. => Kind::Overloaded,
            _ => Kind::BadRequest,
        }
    }

    pub(super) fn is_refusal(&self) -> bool {
        REFUSALS.iter().any(|code| self.has(code))
    }

    /// A limit on use over hours, days or months.
    pub(super) fn is_about_usage(&self) -> bool {
        ["usage_limit_reached", "usage_limit_exceeded", "quota_exceeded", "insufficient_quota"]
            .iter()
            .any(|c| self.has(c))
            || self.says(&[
                "usage limit",
                "quota",
                "limit will reset",
                "daily limit",
                "weekly limit",
                "limit reached",
                "per day",
            ])
    }

    fn is_limit(&self) -> bool {
        LIMITS.iter().any(|code| self.has(code)) || self.says(&["usage limit", "rate limit exceeded"])
    }

    /// The request needs more of a limit per minute or day than there is at all.
    pub(super) fn is_alone_too_large(&self) -> bool {
        let is_rate = self.says(&["per min", "per day", "(tpm)", "(tpd)"]);
        let exceeds = match (self.number_after("limit"), self.number_after("requested")) {
            (Some(limit), Some(requested)) => requested > limit,
            _ => self.says(&["request too large"]),
        };
        is_rate && exceeds
    }

    /// The number that follows this word, with at most a colon and a space between.
    fn number_after(&self, word: &str) -> Option<u64> {
        self.text.match_indices(word).find_map(|(at, _)| {
            let rest = self.text.get(at + word.len()..)?.trim_start_matches([':', ' ']);
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
            rest.get(..end)?.replace(',', "").parse().ok()
        })
    }

    fn is_about_credit(&self, status: u16) -> bool {
        const CODES: [&str; 3] = ["insufficient_quota", "billing_error", "billing_hard_limit_reached"];
        status == 402 || CODES.iter().any(|code| self.has(code)) || (status < 500 && self.says(&MONEY))
    }

    /// A used up quota that is filled up again without payment.
    fn ends_by_itself(&self, wait: Wait) -> bool {
        !self.says(&MONEY) && (wait.is_said() || (self.says(&["usage limit"]) && wait.ms(true).is_some()))
    }

    fn is_overload(&self) -> bool {
        self.codes.contains("overload") || self.says(&OVERLOAD)
    }

    fn is_about_key(&self, with_key: bool) -> bool {
        self.has("authentication_error") || self.says(&KEY) || (!with_key && !self.is_page)
    }

    /// A 404 about the model; otherwise it is the path that does not exist.
    pub(super) fn is_about_model(&self) -> bool {
        self.has("model_not_found") || (!self.is_page && self.says(&["model"]))
    }
}
