//! A model call that waits for its next attempt: which attempt, when, and why the last one failed.

use crate::output::{measure, text};
use abide_client::protocol::{
    Timestamp,
    record::ModelErrorKind,
    task::{AgentTask, Retry},
};

/// `attempt 3 of 12 in 4 s: overloaded`; `None` if no attempt is pending.
pub(crate) fn short(task: &AgentTask, now: Timestamp) -> Option<String> {
    task.retry.as_ref().map(|retry| format!("{}: {}", when(retry, now), kind(retry.kind)))
}

/// The same with the error message.
pub(crate) fn whole(task: &AgentTask, now: Timestamp) -> Option<String> {
    task.retry.as_ref().map(|retry| format!("{}: {}", when(retry, now), text::one_line(&retry.reason)))
}

fn when(retry: &Retry, now: Timestamp) -> String {
    // Rounded up to whole seconds.
    let ms = retry.next_at.since(now).next_multiple_of(1000);
    let soon = if ms == 0 { "now".to_owned() } else { format!("in {}", measure::duration(ms)) };
    format!("attempt {} of {} {soon}", retry.attempt, retry.of)
}

const fn kind(kind: ModelErrorKind) -> &'static str {
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
            Some("attempt 3 of 12 now: overloaded")
        );
        let whole = whole(&task, fixture::START).unwrap();
        assert_eq!(whole, "attempt 3 of 12 in 4 s: p: it is overloaded\\x1b[2J");
        assert_eq!(short(&fixture::task(), fixture::START), None);
    }
}
