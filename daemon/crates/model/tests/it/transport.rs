//! Silence, cancelling, parallel calls, connections.

use crate::{
    ask::{KEY, OneKey, ask, config, data_event, delta, finish, hello, last_event, models, stream, within},
    server::{Answer, Server, Step, self_signed},
};
use abide_model::{Api, ModelEvent, Price, Prices, ProviderConfig};
use abide_protocol::{method::daemon::ListModelsParams, record::ModelErrorKind as Kind};
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

fn impatient(server: &Server, stall: Duration) -> ProviderConfig {
    ProviderConfig { stall_timeout: stall, prompt_timeout: stall, ..config(Api::OpenaiChat, server.url()) }
}

#[tokio::test]
async fn silence_is_a_stall_before_the_answer_and_within_it() {
    let begun = vec![data_event(&delta(r#"{"content":"hi"}"#)), Step::Hang];
    for answer in [Answer::Silence, Answer::Stream(begun), Answer::Stream(vec![Step::Hang])] {
        let server = Server::start(vec![answer]).await;
        let error = ask(&models(impatient(&server, Duration::from_millis(200))), hello()).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::Stalled, true), "{error}");
        within("the connection's end", server.client_gone()).await;
    }
}

#[tokio::test]
async fn dropping_the_attempt_closes_the_connection() {
    let steps = vec![data_event(&delta(r#"{"content":"hi"}"#)), Step::Hang];
    let server = Server::start(vec![Answer::Stream(steps)]).await;
    let models = models(config(Api::OpenaiChat, server.url()));
    let first = Notify::new();
    let mut sink = |_| first.notify_one();
    {
        let attempt = models.complete(hello(), &mut sink);
        tokio::select! {
            result = attempt => panic!("it ended: {result:?}"),
            () = within("the first delta", first.notified()) => {}
        }
    }
    within("the connection's end", server.client_gone()).await;
}

#[tokio::test]
async fn no_more_calls_at_a_time_than_allowed() {
    let gate = Arc::new(Notify::new());
    let slow = Answer::Stream(vec![Step::Gate(Arc::clone(&gate)), data_event("[DONE]")]);
    let server = Server::start(vec![slow, stream(&["[DONE]"])]).await;
    let config = ProviderConfig { max_parallel: 1, ..config(Api::OpenaiChat, server.url()) };
    let models = models(config.clone());
    let second = async {
        within("the first request", server.asked()).await;
        // Other changes of the configuration do not raise the limit.
        let models = models.renewed(vec![config], Arc::new(OneKey(None)), Prices::built_in());
        let mut waits = false;
        let mut sink = |event| {
            if matches!(event, ModelEvent::Waits(_)) {
                waits = true;
                assert_eq!(server.seen().len(), 1);
                gate.notify_one();
            }
        };
        models.complete(hello(), &mut sink).await.unwrap();
        assert!(waits);
    };
    let (first, ()) = within("both", async { tokio::join!(ask(&models, hello()), second) }).await;
    first.reply();
    assert_eq!(server.seen().len(), 2);
}

/// A dropped attempt releases its permit.
#[tokio::test]
async fn a_cancelled_call_frees_its_place() {
    let server = Server::start(vec![Answer::Silence, stream(&["[DONE]"])]).await;
    let models = models(ProviderConfig { max_parallel: 0, ..config(Api::OpenaiChat, server.url()) });
    tokio::select! {
        _ = ask(&models, hello()) => panic!("nobody answered"),
        () = within("the request", server.asked()) => {}
    }
    ask(&models, hello()).await.reply();
}

#[tokio::test]
async fn the_next_step_uses_the_same_connection() {
    let answer = || stream(&[&delta(r#"{"content":"hi"}"#), &finish("stop"), "[DONE]"]);
    let server = Server::start(vec![answer(), answer(), answer()]).await;
    let models = models(config(Api::OpenaiChat, server.url()));
    for _ in 0..3 {
        ask(&models, hello()).await.reply();
    }
    let seen = server.seen();
    assert_eq!(seen.iter().map(|s| s.connection).collect::<Vec<_>>(), [0, 0, 0]);
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[tokio::test]
async fn paths_and_key_headers() {
    for (api, base, path, header, value) in [
        (Api::OpenaiChat, "/v1", "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (Api::OpenaiChat, "/v1/", "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (Api::OpenaiResponses, "/v1/", "/v1/responses", "authorization", format!("Bearer {KEY}")),
        (Api::Anthropic, "", "/v1/messages", "x-api-key", KEY.to_owned()),
        (Api::Anthropic, "/proxy/v1/", "/proxy/v1/messages", "x-api-key", KEY.to_owned()),
    ] {
        let server = Server::start(vec![stream(&[last_event(api)])]).await;
        ask(&models(config(api, format!("{}{base}", server.url()))), hello()).await.reply();
        let seen = server.only();
        assert_eq!((seen.path.as_str(), seen.header(header)), (path, Some(value.as_str())));
    }
}

#[tokio::test]
async fn a_refused_connection_is_named_with_and_without_tls() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "https"] {
        let error = ask(&models(config(Api::OpenaiChat, format!("{scheme}://127.0.0.1:{port}/v1"))), hello())
            .await
            .error();
        let at = format!("p: nobody listens at {scheme}://127.0.0.1:{port}/v1 (");
        assert_eq!((error.kind, error.retryable, error.sent), (Kind::Unreachable, true, false), "{error}");
        assert!(error.message.starts_with(&at) && error.message.ends_with("correct its base_url"), "{error}");
    }
}

/// (`.invalid` never resolves: RFC 6761.)
#[tokio::test]
async fn an_unknown_host_and_an_untrusted_certificate_are_named() {
    let error =
        ask(&models(config(Api::OpenaiChat, "http://nowhere.invalid/v1".to_owned())), hello()).await.error();
    assert_eq!((error.kind, error.retryable, error.sent), (Kind::Unreachable, true, false), "{error}");
    assert!(error.message.starts_with("p: the host of http://nowhere.invalid/v1 is not known ("), "{error}");

    let port = self_signed();
    let error =
        ask(&models(config(Api::OpenaiChat, format!("https://localhost:{port}/v1"))), hello()).await.error();
    assert_eq!((error.kind, error.retryable, error.sent), (Kind::Unreachable, true, false), "{error}");
    assert!(error.message.starts_with("p: the certificate of https://localhost"), "{error}");
    for word in ["SSL_CERT_FILE", "SSL_CERT_DIR", "the daemon's environment: `abide daemon restart`"] {
        assert!(error.message.contains(word), "{word}: {error}");
    }
}

#[tokio::test]
async fn cost_is_known_only_where_a_price_is() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100}}"#;
    let server = Server::start(vec![stream(&[usage, "[DONE]"]), stream(&[usage, "[DONE]"])]).await;
    let ask_with = async |prices| {
        let keys = Arc::new(crate::ask::OneKey(None));
        let models = abide_model::Models::new(vec![config(Api::OpenaiChat, server.url())], keys, prices);
        ask(&models, hello()).await.reply().usage.cost_micros
    };
    assert_eq!(ask_with(Prices::built_in()).await, None);
    let mut prices = Prices::built_in();
    prices.set("p/m", Price { input: 3_000_000, output: 15_000_000, cache_read: 0, cache_write: 0 });
    assert_eq!(ask_with(prices).await, Some(4_500));
}

/// One `Models` serves all tasks, on all threads.
#[test]
fn attempts_can_be_spawned() {
    const fn is_send<T: Send>(_: &T) {}
    const fn is_sync<T: Sync>(_: &T) {}
    let models = models(ProviderConfig::demo());
    is_sync(&models);
    let mut sink = |_| {};
    is_send(&models.complete(hello(), &mut sink));
    is_send(&models.list(&ListModelsParams::default()));
    is_send(&abide_model::find_local());
}
