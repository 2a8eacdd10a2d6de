//! The next attempt of a model call that failed: which attempt, when, and why the one before failed.

use crate::output::{measure, text};
use abide_client::protocol::{
    Timestamp,
    record::ModelErrorKind,
    task::{AgentTask, Retry},
};

/// `attempt 3 of 12 in 4 s: overloaded`, and while it is under way `attempt 3 of 12 (before: overloaded)`;
/// `None` if the call has not failed, or the task is parked: then its pause says so.
pub(crate) fn short(task: &AgentTask, now: Timestamp) -> Option<String> {
    task.retry
        .as_ref()
        .filter(|_| task.pause_reason.is_none())
        .map(|retry| words(retry, now, kind(retry.kind)))
}

/// The same with the error message.
pub(crate) fn whole(task: &AgentTask, now: Timestamp) -> Option<String> {
    task.retry.as_ref().map(|retry| words(retry, now, &text::one_line(&retry.reason)))
}

/// The reason first: `p: it is overloaded; attempt 3 of 12 in 4 s`.
pub(crate) fn line(retry: &Retry, now: Timestamp) -> String {
    let reason = text::one_line(&retry.reason);
    let attempt = format!("{}; attempt {} of {}", reason.trim_end_matches('.'), retry.attempt, retry.of);
    match retry.next_at.since(now).next_multiple_of(1000) {
        0 => attempt,
        ms => format!("{attempt} in {}", measure::duration(ms)),
    }
}

fn words(retry: &Retry, now: Timestamp, why: &str) -> String {
    let attempt = format!("attempt {} of {}", retry.attempt, retry.of);
    // Rounded up to whole seconds.
    match retry.next_at.since(now).next_multiple_of(1000) {
        0 => format!("{attempt} (before: {why})"),
        ms => format!("{attempt} in {}: {why}", measure::duration(ms)),
    }
}

pub(super) const fn kind(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Auth => "key not accepted",
        ModelErrorKind::Quota => "no credit",
        ModelErrorKind::RateLimited => "asked too often",
        ModelErrorKind::Overloaded => "overloaded",
        ModelErrorKind::Network => "connection broke",
        ModelErrorKind::Stalled => "no answer in time",
        ModelErrorKind::ContextOverflow => "context full",
        ModelErrorKind::Refused => "refused",
        ModelErrorKind::BadRequest => "request not accepted",
        ModelErrorKind::Malformed => "answer made no sense",
        ModelErrorKind::NotFound => "not found",
        ModelErrorKind::Interrupted => "interrupted",
        ModelErrorKind::Unreachable => "nobody reached",
        ModelErrorKind::ServerError => "the server failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn a_retry_shows_attempt_time_and_reason() {
        let retry = Retry {
            attempt: 3,
            of: 12,
            kind: ModelErrorKind::Overloaded,
            reason: "p: it is overloaded\u{1b}[2J".to_owned(),
            next_at: fixture::START.plus(3_200),
        };
        let task = AgentTask { retry: Some(retry), ..fixture::task() };
        assert_eq!(short(&task, fixture::START).as_deref(), Some("attempt 3 of 12 in 4 s: overloaded"));
        assert_eq!(
            short(&task, fixture::START.plus(9_000)).as_deref(),
            Some("attempt 3 of 12 (before: overloaded)")
        );
        let whole = whole(&task, fixture::START).unwrap();
        assert_eq!(whole, "attempt 3 of 12 in 4 s: p: it is overloaded\\x1b[2J");
        assert_eq!(short(&fixture::task(), fixture::START), None);
        let retry = task.retry.unwrap();
        let line = line(&retry, fixture::START);
        assert_eq!(line, "p: it is overloaded\\x1b[2J; attempt 3 of 12 in 4 s");
    }
}
