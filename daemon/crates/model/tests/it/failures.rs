//! Servers that fail: for good, for now, or because they have too much to do.

use crate::{
    ask::{ask_once, stream},
    errors::{WIRES, error_event, refusal},
};
use abide_protocol::record::ModelErrorKind as Kind;

#[tokio::test]
async fn a_failure_that_comes_back_with_the_same_request_is_not_retried_and_says_what_to_do() {
    for (words, advice) in [
        ("Conversation roles must alternate user/assistant/user/assistant/...", "chat template"),
        ("No user query found in messages.", "chat template"),
        ("Jinja Exception: System message must be at the beginning", "chat template"),
        ("Error rendering prompt with jinja template: Unknown filter", "chat template"),
        ("model requires more system memory (5.6 GiB) than is available (4.2 GiB)", "smaller model"),
        ("llama runner process has terminated: cudaMalloc failed: out of memory", "smaller model"),
        (
            "model failed to load, this may be due to resource limitations or an internal error",
            "smaller model",
        ),
        ("Failed to parse tool call arguments as JSON", "--tools none"),
        ("error parsing tool call: raw='{'", "--tools none"),
        ("Cannot parse tool call", "--mode chat"),
        ("tools param requires --jinja flag", "--tools none"),
        ("registry.ollama.ai/library/m:latest does not support tools", "--tools none"),
        ("No endpoints found that support tool use", "--tools none"),
        (r#"\"m\" does not support thinking"#, "take another model"),
        ("this model does not support images", "can see images"),
        ("image input is not supported - hint: you may need to provide the mmproj", "can see images"),
    ] {
        let error = format!(r#"{{"message":"{words}","type":"server_error"}}"#);
        for api in WIRES {
            for status in [400, 404, 500, 503] {
                let whole =
                    ask_once(api, refusal(status, &[], &format!(r#"{{"error":{error}}}"#))).await.error();
                assert_eq!(
                    (whole.kind, whole.retryable),
                    (Kind::BadRequest, false),
                    "{status} {words}: {whole}"
                );
                assert!(whole.message.contains(advice), "{whole}");
            }
            let event = ask_once(api, stream(&[&error_event(api, &error)])).await.error();
            assert_eq!((event.kind, event.retryable), (Kind::BadRequest, false), "{words}: {event}");
        }
    }
}

#[tokio::test]
async fn a_failed_server_is_told_from_an_overloaded_one() {
    for (status, words, kind) in [
        (500, "The server had an error while processing your request. Sorry about that!", Kind::ServerError),
        (
            500,
            "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error",
            Kind::ServerError,
        ),
        (500, "index out of range", Kind::ServerError),
        (508, "loop", Kind::ServerError),
        (500, "The engine is currently overloaded, please try again later", Kind::Overloaded),
        (500, "server busy, please try again", Kind::Overloaded),
        (500, "We are experiencing high demand", Kind::Overloaded),
        (502, "bad gateway", Kind::Overloaded),
        (503, "Loading model", Kind::Overloaded),
        (504, "timeout", Kind::Overloaded),
        (520, "x", Kind::Overloaded),
        (529, "Overloaded", Kind::Overloaded),
        (501, "this server was started without it", Kind::BadRequest),
    ] {
        for api in WIRES {
            let body = format!(r#"{{"error":{{"message":"{words}","type":"server_error"}}}}"#);
            let error = ask_once(api, refusal(status, &[], &body)).await.error();
            assert_eq!((error.kind, error.retryable), (kind, kind != Kind::BadRequest), "{status}: {error}");
        }
    }
    let error = ask_once(WIRES[0], refusal(500, &[], r#"{"error":"boom"}"#)).await.error();
    assert_eq!(error.message, "p: the server failed (500: boom)");
}

#[tokio::test]
async fn errors_within_a_stream_have_the_kinds_of_their_names() {
    for (error, kind) in [
        (r#"{"message":"boom","type":"server_error"}"#, Kind::ServerError),
        (r#"{"message":"boom","code":"server_error"}"#, Kind::ServerError),
        (r#"{"message":"Internal server error","type":"api_error"}"#, Kind::ServerError),
        (r#"{"message":"boom","type":"internal_server_error","code":500}"#, Kind::ServerError),
        (r#"{"message":"boom","code":"500"}"#, Kind::ServerError),
        (r#"{"message":"boom"}"#, Kind::ServerError),
        (r#"{"message":"Overloaded","type":"overloaded_error"}"#, Kind::Overloaded),
        (r#"{"message":"the engine is overloaded","type":"server_error"}"#, Kind::Overloaded),
        (r#"{"message":"Provider disconnected","code":502}"#, Kind::Overloaded),
        (r#"{"message":"x","code":"429"}"#, Kind::RateLimited),
        (r#"{"message":"x","type":"rate_limit_error"}"#, Kind::RateLimited),
        (r#"{"message":"x","code":"context_length_exceeded"}"#, Kind::ContextOverflow),
        (r#"{"message":"x","type":"authentication_error"}"#, Kind::Auth),
        (r#"{"message":"x","type":"invalid_request_error"}"#, Kind::BadRequest),
    ] {
        for api in WIRES {
            let event = ask_once(api, stream(&[&error_event(api, error)])).await.error();
            assert_eq!(event.kind, kind, "{error}: {event}");
        }
    }
}

/// A router says what the provider behind it says.
#[tokio::test]
async fn what_a_router_quotes_counts() {
    for (raw, kind, said) in [
        (
            r#"{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"#,
            Kind::ContextOverflow,
            "prompt is too long",
        ),
        (
            r#"m is temporarily rate-limited upstream. Please retry shortly"#,
            Kind::BadRequest,
            "rate-limited upstream",
        ),
    ] {
        let body = format!(
            r#"{{"error":{{"message":"Provider returned error","code":400,"metadata":{{"raw":"{raw}"}}}}}}"#
        );
        let error = ask_once(WIRES[0], refusal(400, &[], &body)).await.error();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}

/// A refusal is about the key only if it says so.
#[tokio::test]
async fn a_refused_access_is_about_the_key_only_if_it_says_so() {
    const WAF: &str =
        "<html><head><title>Attention Required! | Cloudflare</title></head><body>x</body></html>";
    for (status, body, kind, said) in [
        (401, "", Kind::Auth, "does not accept the key (401)"),
        (401, WAF, Kind::Auth, "(401: Attention Required! | Cloudflare)"),
        (
            403,
            r#"{"error":{"message":"Your API key does not have permission to use the specified resource"}}"#,
            Kind::Auth,
            "does not accept the key",
        ),
        (
            403,
            r#"{"error":{"message":"x","type":"authentication_error"}}"#,
            Kind::Auth,
            "does not accept the key",
        ),
        (
            403,
            r#"{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}"#,
            Kind::Refused,
            "(403: Country, region, or territory not supported)",
        ),
        (
            403,
            r#"{"error":{"message":"Project `proj_1` does not have access to model `m`","code":"model_not_found"}}"#,
            Kind::Refused,
            "does not have access to model `m`",
        ),
        (403, WAF, Kind::Refused, "(403: Attention Required! | Cloudflare)"),
        (403, "forbidden", Kind::Refused, "(403: forbidden)"),
        (403, "", Kind::Refused, "(403)"),
        (407, "<title>Proxy Authentication Required</title>", Kind::Unreachable, "proxy"),
        (502, "<html><head><title>502 Bad Gateway</title></head>", Kind::Overloaded, "(502: Bad Gateway)"),
        (400, "<html><h1>Blocked &amp; logged</h1>", Kind::BadRequest, "(400: Blocked & logged)"),
    ] {
        for api in WIRES {
            let error = ask_once(api, refusal(status, &[], body)).await.error();
            assert_eq!((error.kind, error.retryable), (kind, status > 500), "{body}: {error}");
            assert!(error.message.contains(said), "{error}");
            assert_eq!(error.message.contains("abide key set"), kind == Kind::Auth, "{error}");
        }
    }
}
