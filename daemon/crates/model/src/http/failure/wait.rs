//! How long a provider asks to wait: in its headers, in the members of its error, or in its words.

use super::complaint::Complaint;
use chrono::DateTime;
use regex::Regex;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;
use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

/// The longest wait, in ms: a weekly limit and a day.
const MAX: u64 = 8 * 24 * 3_600_000;
/// How deep the members of a body are searched.
const DEPTH: usize = 8;
/// Numbers from here on are a time, not a duration: seconds, or ms, since 1970.
const SECONDS_SINCE_1970: f64 = 1e9;
const MS_SINCE_1970: f64 = 1e11;

/// Members with a duration or a time. (Compared in lower case, letters and digits alone.)
const MEMBERS: [&str; 22] = [
    "resetsinseconds",
    "resetinseconds",
    "resetsin",
    "resetin",
    "resetafter",
    "resetafterseconds",
    "resetsat",
    "resetat",
    "resettime",
    "resettimestamp",
    "nextresettime",
    "quotaresetdelay",
    "quotaresettimestamp",
    "ratelimitreset",
    "xratelimitreset",
    "retrydelay",
    "retryafter",
    "retryafterseconds",
    "retryin",
    "retryat",
    "waitseconds",
    "waittime",
];
/// Members with a duration in ms.
const MEMBERS_IN_MS: [&str; 4] = ["retryafterms", "retryaftermilliseconds", "resetafterms", "resetsinms"];

/// Expressions for texts in lower case.
struct Patterns {
    /// Words that a duration follows.
    duration: Regex,
    /// One number and its unit.
    part: Regex,
    /// Nothing but numbers with units.
    whole: Regex,
    /// Words that a date with a time zone follows.
    date: Regex,
    /// Seconds since 1970 behind a message.
    mark: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    const PART: &str = r"\d+(?:\.\d+)?\s*(?:milliseconds?|millis|months?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d|weeks?|w)";
    let lead = r"(?:again|retry|retrying|resets?|wait|available|access|refresh(?:es|ed)?|renews?)";
    Some(Patterns {
        duration: Regex::new(&format!(
            r"\b{lead}\s+(?:in\s+|after\s+|for\s+)?(?:about\s+|approximately\s+|at least\s+|another\s+)?((?:{PART}[\s,]*(?:and\s+)?)+)"
        ))
        .ok()?,
        part: Regex::new(r"(\d+(?:\.\d+)?)\s*([a-z]+)").ok()?,
        whole: Regex::new(&format!(r"^(?:{PART}\s*)+$")).ok()?,
        date: Regex::new(&format!(
            r"\b(?:{lead}|until)\b[^.;]{{0,30}}?(\d{{4}}-\d\d-\d\d)(?:t|\s+at\s+|\s+)(\d\d:\d\d)(:\d\d)?(?:\.\d+)?\s*(z|utc|gmt|[+-]\d\d:\d\d)"
        ))
        .ok()?,
        mark: Regex::new(r"\|(\d{10,13})\b").ok()?,
    })
});

/// Times to wait, in ms, by where they stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wait {
    /// `Retry-After` and the like.
    asked: Option<u64>,
    /// In the body.
    said: Option<u64>,
    /// When the headers of a limit say that it is filled up again.
    reset: Option<u64>,
}

impl Wait {
    pub(super) fn read(headers: &HeaderMap, complaint: &Complaint) -> Self {
        let date = header(headers, DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
        let clock = Clock::at(date.unwrap_or_else(now));
        let said = clock.in_members(&complaint.body, DEPTH).max(clock.in_words(&complaint.text));
        Self { asked: clock.asked(headers), said, reset: clock.reset(headers) }
    }

    /// The body says when.
    pub(super) const fn is_said(self) -> bool {
        self.said.is_some()
    }

    /// How long to wait, in ms. `for_usage`: all that was used up must be filled up again, so the longest
    /// counts.
    pub(super) fn ms(self, for_usage: bool) -> Option<u64> {
        let known = if for_usage { self.said.max(self.reset) } else { self.said.or(self.reset) };
        self.asked.or(known).map(|ms| ms.min(MAX))
    }
}

/// Only dates are compared with it, and only those of a response that has no `Date`.
#[expect(clippy::disallowed_methods, reason = "an absolute time in an error means nothing without a clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// The time of the error, in ms since 1970.
#[derive(Clone, Copy)]
struct Clock(u64);

impl Clock {
    fn at(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn asked(self, headers: &HeaderMap) -> Option<u64> {
        let ms = header(headers, "retry-after-ms").and_then(|ms| ms.parse().ok()).and_then(millis);
        ms.or_else(|| self.of_text(header(headers, RETRY_AFTER.as_str())?))
    }

    /// The longest of the limits that are used up; if none says so, the shortest of all.
    fn reset(self, headers: &HeaderMap) -> Option<u64> {
        let mut used_up = None;
        let mut others = None;
        for name in headers.keys().map(reqwest::header::HeaderName::as_str) {
            if !(name.contains("ratelimit") && name.contains("reset")) {
                continue;
            }
            let Some(wait) = header(headers, name).and_then(|text| self.of_text(text)) else { continue };
            let left =
                header(headers, &name.replace("reset", "remaining")).and_then(|n| n.parse::<f64>().ok());
            let status = header(headers, &name.replace("reset", "status")).unwrap_or_default();
            if left.is_some_and(|left| left > 0.0) || status.starts_with("allowed") {
                others = Some(others.map_or(wait, |other: u64| other.min(wait)));
            } else {
                used_up = used_up.max(Some(wait));
            }
        }
        used_up.or(others)
    }

    /// The longest wait in the members of a body.
    fn in_members(self, value: &Value, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match value {
            Value::Array(items) => items.iter().filter_map(|item| self.in_members(item, depth)).max(),
            Value::Object(members) => members
                .iter()
                .filter_map(|(name, value)| self.of_member(name, value).max(self.in_members(value, depth)))
                .max(),
            _ => None,
        }
    }

    fn of_member(self, name: &str, value: &Value) -> Option<u64> {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = name.to_ascii_lowercase();
        if MEMBERS_IN_MS.contains(&name.as_str()) {
            return value.as_f64().or_else(|| value.as_str()?.parse().ok()).and_then(millis);
        }
        MEMBERS.contains(&name.as_str()).then_some(())?;
        match value {
            Value::String(text) => self.of_text(text),
            Value::Number(number) => self.of_number(number.as_f64()?),
            // A duration of protocol buffers.
            Value::Object(parts) => self.of_number(parts.get("seconds")?.as_f64()?),
            _ => None,
        }
    }

    /// The longest wait in a message.
    fn in_words(self, text: &str) -> Option<u64> {
        let patterns = PATTERNS.as_ref()?;
        let durations = patterns.duration.captures_iter(text).filter_map(|found| {
            let part = found.get(1)?;
            let words = part.as_str().trim_end();
            // "2 more" is not two minutes.
            let ends = !text.get(part.start() + words.len()..)?.starts_with(char::is_alphabetic);
            ends.then(|| duration(words))?
        });
        let dates = patterns.date.captures_iter(text).filter_map(|found| {
            let part = |n: usize| found.get(n).map(|part| part.as_str());
            let zone = part(4).filter(|zone| zone.starts_with(['+', '-'])).unwrap_or("z");
            self.of_date(&format!("{}t{}{}{zone}", part(1)?, part(2)?, part(3).unwrap_or(":00")))
        });
        let marks =
            patterns.mark.captures_iter(text).filter_map(|found| self.of_text(found.get(1)?.as_str()));
        durations.chain(dates).chain(marks).max()
    }

    /// A number, a duration with units, or a date.
    fn of_text(self, text: &str) -> Option<u64> {
        let text = text.trim();
        if let Ok(number) = text.parse::<f64>() {
            return self.of_number(number);
        }
        let lower = text.to_ascii_lowercase();
        if PATTERNS.as_ref().is_some_and(|patterns| patterns.whole.is_match(&lower)) {
            return duration(&lower);
        }
        self.of_date(&lower).or_else(|| {
            let until = httpdate::parse_http_date(text).ok()?;
            Some(Self::at(until).0.saturating_sub(self.0))
        })
    }

    fn of_date(self, text: &str) -> Option<u64> {
        let until = DateTime::parse_from_rfc3339(&text.to_ascii_uppercase()).ok()?;
        Some(u64::try_from(until.timestamp_millis()).unwrap_or(0).saturating_sub(self.0))
    }

    fn of_number(self, number: f64) -> Option<u64> {
        match number {
            ms if ms >= MS_SINCE_1970 => Some(millis(ms)?.saturating_sub(self.0)),
            seconds if seconds >= SECONDS_SINCE_1970 => {
                Some(millis(seconds * 1000.0)?.saturating_sub(self.0))
            }
            seconds => millis(seconds * 1000.0),
        }
    }
}

/// The sum of the numbers with units.
fn duration(text: &str) -> Option<u64> {
    let parts = PATTERNS.as_ref()?.part.captures_iter(text).map(|part| {
        let number: f64 = part.get(1)?.as_str().parse().ok()?;
        Some(number * unit(part.get(2)?.as_str())?)
    });
    millis(parts.sum::<Option<f64>>()?)
}

/// One of these in ms.
fn unit(name: &str) -> Option<f64> {
    Some(match name {
        "ms" | "millis" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
        "m" | "min" | "mins" | "minute" | "minutes" => 6e4,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3.6e6,
        "d" | "day" | "days" => 8.64e7,
        "w" | "week" | "weeks" => 6.048e8,
        "month" | "months" => 2.592e9,
        _ => return None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a sane, positive number"
)]
fn millis(ms: f64) -> Option<u64> {
    (ms.is_finite() && (0.0..1e14).contains(&ms)).then(|| ms.ceil() as u64)
}
