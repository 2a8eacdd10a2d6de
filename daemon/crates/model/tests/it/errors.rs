//! Error responses: status, headers and body become a kind and a message.

use crate::{
    ask::{KEY, OneKey, ask, ask_once, config, delta, finish, hello, models, stream},
    server::{Answer, Server},
};
use abide_model::{Api, ModelError, Models, Prices, ProviderConfig, Secret};
use abide_protocol::record::ModelErrorKind as Kind;
use std::sync::Arc;

pub(crate) const WIRES: [Api; 3] = [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic];

/// The event that reports this error within a stream.
pub(crate) fn error_event(api: Api, error: &str) -> String {
    match api.name() {
        "openai-responses" => {
            format!(r#"{{"type":"response.failed","response":{{"status":"failed","error":{error}}}}}"#)
        }
        "anthropic" => format!(r#"{{"type":"error","error":{error}}}"#),
        _ => format!(r#"{{"error":{error}}}"#),
    }
}

pub(crate) fn refusal(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
    let headers = headers.iter().map(|(n, v)| (*n, (*v).to_owned())).collect();
    Answer::Whole { status, headers, body: body.as_bytes().to_vec() }
}

async fn error(status: u16, body: &str) -> ModelError {
    ask_once(Api::OpenaiChat, refusal(status, &[], body)).await.error()
}

#[tokio::test]
async fn kinds() {
    let cases = [
        (401, r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#, Kind::Auth, false),
        (403, "forbidden", Kind::Refused, false),
        (402, "", Kind::Quota, false),
        (429, r#"{"error":{"message":"x","type":"insufficient_quota"}}"#, Kind::Quota, false),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
            Kind::Quota,
            false,
        ),
        (404, r#"{"error":{"message":"no such model"}}"#, Kind::NotFound, false),
        (408, "", Kind::RateLimited, true),
        (429, r#"{"error":{"message":"slow down"}}"#, Kind::RateLimited, true),
        (500, "<html>oops</html>", Kind::ServerError, true),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Kind::Overloaded,
            true,
        ),
        (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, Kind::ContextOverflow, false),
        (
            400,
            r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            Kind::ContextOverflow,
            false,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing it","type":"exceed_context_size_error"}}"#,
            Kind::ContextOverflow,
            false,
        ),
        (413, "", Kind::ContextOverflow, false),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed","status":"INVALID_ARGUMENT"}}]"#,
            Kind::ContextOverflow,
            false,
        ),
        (400, r#"{"error":{"message":"x","code":"content_filter"}}"#, Kind::Refused, false),
        (400, r#"{"error":"tools are not supported"}"#, Kind::BadRequest, false),
        (422, r#"{"detail":"bad"}"#, Kind::BadRequest, false),
    ];
    for (status, body, kind, retryable) in cases {
        let error = error(status, body).await;
        assert_eq!((error.kind, error.retryable), (kind, retryable), "{status} {body}: {error}");
        assert!(error.message.starts_with("p: ") && error.message.contains(&status.to_string()), "{error}");
    }
}

#[tokio::test]
async fn messages_say_what_to_do() {
    assert_eq!(
        error(401, r#"{"error":{"message":"Incorrect key"}}"#).await.message,
        "p: it does not accept the key (401: Incorrect key); set another with `abide key set p`"
    );
    let server = Server::start(vec![refusal(401, &[], "")]).await;
    let keyless =
        Models::new(vec![config(Api::OpenaiChat, server.url())], Arc::new(OneKey(None)), Prices::built_in());
    assert_eq!(
        ask(&keyless, hello()).await.error().message,
        "p: it wants a key and none is set (401); set one with `abide key set p`"
    );
    assert_eq!(server.only().header("authorization"), None);
}

#[tokio::test]
async fn quoted_words_of_providers_are_short_plain_and_without_the_key() {
    let body = format!("no \u{1b}[2J entry\r\nfor Bearer {KEY} {}", "x".repeat(100_000));
    let error = error(400, &body).await;
    assert!(error.message.len() < 500, "{error}");
    assert!(!error.message.contains(|c: char| c.is_control()), "{error:?}");
    assert!(!error.message.contains("SECRET"), "{error}");
    assert!(error.message.contains("Bearer [key]"), "{error}");
}

/// A key as short as a word is not removed from Abide's words, nor from a provider's.
#[tokio::test]
async fn a_short_key_mangles_no_words() {
    for (key, status, body, said) in [
        (
            "e",
            400,
            r#"{"error":"the tree is green"}"#,
            "p: it finds the request wrong (400: the tree is green)",
        ),
        ("wrong", 400, r#"{"error":"wrong"}"#, "p: it finds the request wrong (400: wrong)"),
        (
            "key12345",
            401,
            r#"{"error":"key12345 is no key"}"#,
            "p: it does not accept the key (401: [key] is no key); set another with `abide key set p`",
        ),
        ("the request", 400, r#"{"error":"no"}"#, "p: it finds the request wrong (400: no)"),
    ] {
        let server = Server::start(vec![refusal(status, &[], body)]).await;
        let keys = Arc::new(OneKey(Some(key)));
        let models = Models::new(vec![config(Api::OpenaiChat, server.url())], keys, Prices::built_in());
        assert_eq!(ask(&models, hello()).await.error().message, said, "{key}");
    }
}

/// A path that does not exist is another mistake than a missing model.
#[tokio::test]
async fn a_wrong_base_url_is_told_from_a_missing_model() {
    let no_path = "; is its base_url right? It is what comes before";
    for (api, body, expected) in [
        (
            Api::OpenaiChat,
            r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#,
            "there is no model `m` at",
        ),
        (
            Api::Anthropic,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#,
            "there is no model `m` at",
        ),
        (
            Api::OpenaiChat,
            r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#,
            no_path,
        ),
        (Api::OpenaiChat, r#"{"detail":"Not Found"}"#, no_path),
        (Api::OpenaiChat, "<html>404</html>", no_path),
        (Api::OpenaiResponses, "404 page not found", "/responses, and mostly ends in /v1"),
        (Api::Anthropic, "", no_path),
    ] {
        let error = ask_once(api, refusal(404, &[], body)).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::NotFound, false));
        assert!(error.message.contains(expected), "{body}: {error}");
        assert!(error.message.contains("http://127.0.0.1:"), "{error}");
    }
}

#[test]
fn nothing_shows_a_key() {
    assert!(!format!("{:?}", Secret::new(KEY)).contains("SECRET"));
    let config =
        ProviderConfig::new("p", Api::OpenaiChat, "https://me:SECRET@example.org/v1?k=SECRET", "config");
    assert!(!format!("{config:?}").contains("SECRET"));
    assert_eq!(config.shown_url(), "https://example.org/v1");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::start(vec![]).await;
    let to = format!("{}/v1?token=T", elsewhere.url());
    for status in [301, 302, 307, 308] {
        let answer = refusal(status, &[("location", to.as_str())], "");
        let error = ask_once(Api::OpenaiChat, answer).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::BadRequest, false));
        assert!(error.message.contains(&elsewhere.url()) && !error.message.contains("token"), "{error}");
    }
    assert_eq!(elsewhere.seen().len(), 0);
}

#[tokio::test]
async fn errors_in_a_stream_that_began_well() {
    for (event, kind) in [
        (r#"{"error":{"message":"busy","code":503}}"#, Kind::Overloaded),
        (r#"{"error":{"message":"slow","code":429}}"#, Kind::RateLimited),
        (
            r#"{"error":{"message":"full","code":400,"type":"exceed_context_size_error"}}"#,
            Kind::ContextOverflow,
        ),
        (r#"{"object":"error","message":"broke","code":500}"#, Kind::ServerError),
    ] {
        let begin = delta(r#"{"content":"hi"}"#);
        let error = ask_once(Api::OpenaiChat, stream(&[&begin, event])).await.error();
        assert_eq!(error.kind, kind, "{error}");
    }
}

#[tokio::test]
async fn a_response_that_is_no_event_stream_is_malformed() {
    let bad_utf8 = Answer::Stream(vec![crate::server::Step::Bytes(b"data: \xff\xfe\n\n".to_vec())]);
    assert_eq!(ask_once(Api::OpenaiChat, bad_utf8).await.error().kind, Kind::Malformed);
    let page = refusal(200, &[("content-type", "text/html; charset=utf-8")], "<html>");
    let page = ask_once(Api::OpenaiChat, page).await.error();
    assert_eq!((page.kind, page.retryable), (Kind::Malformed, false));
    assert!(
        page.message.contains("is the right base_url") || page.message.contains("the right base_url"),
        "{page}"
    );
    let error =
        refusal(200, &[("content-type", "application/json")], r#"{"error":{"message":"no","code":402}}"#);
    assert_eq!(ask_once(Api::OpenaiChat, error).await.error().kind, Kind::Quota);
}

#[tokio::test]
async fn huge_events_and_replies_are_refused() {
    let huge = format!("data: {}", "x".repeat(3 * 1024 * 1024));
    let steps = vec![crate::ask::bytes(&huge)];
    let error = ask_once(Api::OpenaiChat, Answer::Stream(steps)).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::Malformed, false), "{error}");

    let part = delta(&format!(r#"{{"content":"{}"}}"#, "x".repeat(1024 * 1024)));
    let end = finish("stop");
    let error = ask_once(Api::OpenaiChat, stream(&[&part, &part, &part, &part, &part, &end])).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::Malformed, false), "{error}");

    let calls: Vec<_> = (0..300)
        .map(|n| delta(&format!(r#"{{"tool_calls":[{{"index":{n},"function":{{"name":"t"}}}}]}}"#)))
        .collect();
    let error = ask_once(Api::OpenaiChat, stream(&calls.iter().map(String::as_str).collect::<Vec<_>>()))
        .await
        .error();
    assert_eq!(error.kind, Kind::Malformed, "{error}");
}

#[tokio::test]
async fn unknown_models_are_refused() {
    let models = models(ProviderConfig::new("p", Api::OpenaiChat, "not a url", "config"));
    for (name, kind) in [
        ("nothing", Kind::NotFound),
        ("q/m", Kind::NotFound),
        ("p/", Kind::NotFound),
        ("p/m", Kind::BadRequest),
    ] {
        assert_eq!(models.supports(name).unwrap_err().kind, kind, "{name}");
        let mut request = hello();
        request.model = name.to_owned();
        let error = ask(&models, request).await.error();
        assert_eq!((error.kind, error.sent), (kind, false), "{name}");
    }
}
