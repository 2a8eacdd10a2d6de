//! Limits of providers: how long to wait, and which limits no waiting ends.

use crate::{
    ask::{ask_once, stream},
    errors::{WIRES, error_event, refusal},
};
use abide_model::{Api, ModelError};
use abide_protocol::record::ModelErrorKind as Kind;
use std::time::{Duration, SystemTime};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
/// 2027-01-15 08:00:00 UTC, in seconds since 1970.
const NOW: u64 = 1_800_000_000;
const NOW_DATE: &str = "Fri, 15 Jan 2027 08:00:00 GMT";

async fn limited(api: Api, headers: &[(&'static str, &str)], body: &str) -> ModelError {
    let headers = [headers, &[("date", NOW_DATE)]].concat();
    ask_once(api, refusal(429, &headers, body)).await.error()
}

#[tokio::test]
async fn the_wait_is_read_from_members_of_the_error() {
    for (member, expected) in [
        (r#""resets_in_seconds":5555"#.to_owned(), 5_555_000),
        (r#""resets_in_seconds":"90""#.to_owned(), 90_000),
        (format!(r#""resets_at":{}"#, NOW + 7_200), 2 * HOUR),
        (format!(r#""resetsAt":{}"#, (NOW + 7_200) * 1000), 2 * HOUR),
        (r#""resets_at":"2027-01-15T10:00:00Z""#.to_owned(), 2 * HOUR),
        (r#""reset_time":"2027-01-15T11:00:00+01:00""#.to_owned(), 2 * HOUR),
        (r#""retry_after":12.5"#.to_owned(), 12_500),
        (r#""retry_after_ms":850"#.to_owned(), 850),
        (
            r#""details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]"#
                .to_owned(),
            34_000,
        ),
        (r#""details":[{"retryDelay":"34.074824224s"}]"#.to_owned(), 34_075),
        (r#""details":[{"metadata":{"quotaResetDelay":"21h9m34s"}}]"#.to_owned(), 76_174_000),
        (format!(r#""metadata":{{"headers":{{"X-RateLimit-Reset":"{}"}}}}"#, (NOW + 60) * 1000), 60_000),
        // Bounded, and what has passed is over.
        (r#""resets_in_seconds":99999999"#.to_owned(), 8 * DAY),
        (format!(r#""resets_at":{}"#, NOW - 5), 0),
    ] {
        let error = format!(r#"{{"message":"slow","type":"rate_limit_error",{member}}}"#);
        for api in WIRES {
            let body = format!(r#"{{"error":{error}}}"#);
            let whole = limited(api, &[], &body).await;
            assert_eq!((whole.kind, whole.retry_after_ms), (Kind::RateLimited, Some(expected)), "{member}");
            let event = error_event(api, &error);
            let event = ask_once(api, stream(&[&event])).await.error();
            // Within a stream there is no date to compare with but the clock's.
            assert_eq!(event.kind, Kind::RateLimited, "{member}");
            if !(member.contains("_at")
                || member.contains("At")
                || member.contains("time")
                || member.contains("Reset\""))
            {
                assert_eq!(event.retry_after_ms, Some(expected), "{member}");
            }
        }
    }
}

#[tokio::test]
async fn the_wait_is_read_from_words() {
    for (words, expected) in [
        ("Please try again in 1h2m3s.", Some(3_723_000)),
        ("Please try again in 6m0s. Visit", Some(360_000)),
        ("Please try again in 850ms.", Some(850)),
        ("Please retry after 20 seconds.", Some(20_000)),
        ("Try again in about 2 hours", Some(2 * HOUR)),
        ("Please retry in 34.07s", Some(34_070)),
        ("try again in 4 days 20 hours 9 minutes.", Some(4 * DAY + 20 * HOUR + 540_000)),
        ("try again in 3 hours and 5 minutes", Some(3 * HOUR + 300_000)),
        ("Your quota will reset after 21h9m34s.", Some(76_174_000)),
        ("The limit resets in 2 hours", Some(2 * HOUR)),
        ("Please wait 45 seconds before retrying", Some(45_000)),
        ("You will regain access on 2027-01-16 at 08:00 UTC.", Some(DAY)),
        ("Your limit will reset at 2027-01-15 09:00:00Z", Some(HOUR)),
        ("usage limit reached|1800003600", Some(HOUR)),
        // No time, or one that is not certain.
        ("try again in 2 more attempts", None),
        ("try again later", None),
        ("at most 20 requests in 10 seconds", None),
        ("Your limit will reset at 2027-01-15 09:00:00", None),
    ] {
        let body = format!(r#"{{"error":{{"message":"{words}","code":"rate_limit_exceeded"}}}}"#);
        for api in WIRES {
            assert_eq!(limited(api, &[], &body).await.retry_after_ms, expected, "{words}");
        }
    }
}

#[tokio::test]
async fn the_wait_is_read_from_headers() {
    let usage = r#"{"error":{"message":"usage limit reached","resets_in_seconds":60}}"#;
    for (headers, body, expected) in [
        (&[("retry-after", "7")][..], "", Some(7_000)),
        (&[("retry-after", "7200")], "", Some(2 * HOUR)),
        (&[("retry-after", "0.25")], "", Some(250)),
        (&[("retry-after-ms", "1234"), ("retry-after", "9")], "", Some(1_234)),
        (&[("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT")], "", Some(30_000)),
        (&[("retry-after", "Fri, 15 Jan 2027 07:00:00 GMT")], "", Some(0)),
        (&[("retry-after", "soon")], "", None),
        (&[("retry-after", "-5")], "", None),
        (&[("x-ratelimit-reset-requests", "1m30s")], "", Some(90_000)),
        (&[("x-ratelimit-reset-tokens", "6m0s"), ("x-ratelimit-reset-requests", "20ms")], "", Some(360_000)),
        (
            &[
                ("x-ratelimit-reset-tokens", "6m0s"),
                ("x-ratelimit-remaining-tokens", "900"),
                ("x-ratelimit-reset-requests", "20ms"),
                ("x-ratelimit-remaining-requests", "0"),
            ],
            "",
            Some(20),
        ),
        (&[("x-ratelimit-reset", "1800000060")], "", Some(60_000)),
        (&[("anthropic-ratelimit-unified-reset", "1800003600")], "", Some(HOUR)),
        (&[("anthropic-ratelimit-requests-reset", "2027-01-15T08:01:00Z")], "", Some(60_000)),
        (
            &[
                ("anthropic-ratelimit-unified-5h-status", "allowed"),
                ("anthropic-ratelimit-unified-5h-reset", "1800003600"),
                ("anthropic-ratelimit-unified-7d-status", "rejected"),
                ("anthropic-ratelimit-unified-7d-reset", "1800007200"),
            ],
            "",
            Some(2 * HOUR),
        ),
        // `Retry-After` goes first; the longest of the others counts for a usage limit, the body's for
        // another one.
        (&[("retry-after", "7"), ("x-ratelimit-reset-tokens", "6m0s")], usage, Some(7_000)),
        (&[("x-ratelimit-reset-tokens", "6m0s")], usage, Some(360_000)),
        (&[("x-ratelimit-reset-tokens", "6m0s")], r#"{"error":"try again in 2s"}"#, Some(2_000)),
        (&[], "", None),
    ] {
        for api in WIRES {
            assert_eq!(limited(api, headers, body).await.retry_after_ms, expected, "{headers:?} {body}");
        }
    }
    let hopeless = refusal(401, &[("retry-after", "7")], "");
    assert_eq!(ask_once(Api::OpenaiChat, hopeless).await.error().retry_after_ms, None);
}

/// A date is compared with the server's clock; where it sends none, with ours.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the date of a server is of the real time")]
async fn a_date_without_the_servers_clock_is_compared_with_ours() {
    let in_an_hour = SystemTime::now() + Duration::from_secs(3600);
    let seconds = in_an_hour.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs().to_string();
    let date = httpdate::fmt_http_date(in_an_hour);
    for headers in [("retry-after", date.as_str()), ("anthropic-ratelimit-unified-reset", &seconds)] {
        let error = ask_once(Api::Anthropic, refusal(429, &[headers], "")).await.error();
        let wait = error.retry_after_ms.unwrap();
        assert!((HOUR - 60_000..=HOUR).contains(&wait), "{headers:?}: {wait}");
    }
}

/// A quota that is filled up again wants patience, not money.
#[tokio::test]
async fn a_used_up_quota_with_a_time_is_a_limit_and_one_without_wants_money() {
    for (status, body, kind) in [
        (
            429,
            r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":5555}}"#,
            Kind::RateLimited,
        ),
        (
            402,
            r#"{"error":{"message":"You have hit your usage limit. Try again in 3 hours."}}"#,
            Kind::RateLimited,
        ),
        (
            403,
            r#"{"error":{"message":"You've reached your usage limit, which resets in 2 hours"}}"#,
            Kind::RateLimited,
        ),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2027-01-16 at 00:00 UTC."}}"#,
            Kind::RateLimited,
        ),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"Your quota is used up; it resets in 5 hours"}}"#,
            Kind::RateLimited,
        ),
        (
            429,
            r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"41000s"}]}}]"#,
            Kind::RateLimited,
        ),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details."}}"#,
            Kind::Quota,
        ),
        (402, r#"{"error":{"message":"Insufficient credits. Try again in 5 minutes."}}"#, Kind::Quota),
        (402, "", Kind::Quota),
    ] {
        for api in WIRES {
            let headers = [("date", NOW_DATE)];
            let error = ask_once(api, refusal(status, &headers, body)).await.error();
            assert_eq!((error.kind, error.retryable), (kind, kind == Kind::RateLimited), "{body}: {error}");
            assert_eq!(
                error.retry_after_ms.is_some_and(|ms| ms >= 600_000),
                kind == Kind::RateLimited,
                "{body}"
            );
            assert_eq!(error.message.contains("credit left"), kind == Kind::Quota, "{error}");
            assert!(!error.message.contains("wait a little"), "{error}");
        }
    }
    let soon = limited(Api::OpenaiChat, &[("retry-after", "7")], "").await;
    assert_eq!(soon.message, "p: it is asked too often (429); wait a little");
    let long = limited(Api::OpenaiChat, &[("retry-after", "7200")], "").await;
    assert_eq!(long.message, "p: its limit is used up (429)");
}

#[tokio::test]
async fn a_request_that_is_larger_than_its_rate_limit_is_not_tried_again() {
    for (status, words, retryable) in [
        (
            429,
            "Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Requested 60000. The input or output tokens must be reduced in order to run successfully.",
            false,
        ),
        (
            413,
            "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
            false,
        ),
        (
            429,
            "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
            true,
        ),
    ] {
        let body =
            format!(r#"{{"error":{{"message":"{words}","type":"tokens","code":"rate_limit_exceeded"}}}}"#);
        for api in WIRES {
            let error = ask_once(api, refusal(status, &[], &body)).await.error();
            assert_eq!((error.kind, error.retryable), (Kind::RateLimited, retryable), "{error}");
            assert_eq!(error.message.contains("no waiting helps"), !retryable, "{error}");
        }
    }
}
