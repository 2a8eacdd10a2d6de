//! The window that a server gives a model, asked of servers of every kind.

use crate::{
    ask::{config, models},
    server::{Answer, Server},
};
use abide_model::Api;
use std::time::Duration;

const LLAMA: &str = r#"{"default_generation_settings":{"n_ctx":8192,"params":{}},"total_slots":4}"#;
const STUDIO: &str = r#"{"data":[{"id":"other","state":"loaded","loaded_context_length":1},
    {"id":"m","state":"loaded","max_context_length":131072,"loaded_context_length":4096}]}"#;
const LOADED: &str = r#"{"models":[{"name":"m:latest","model":"m:latest","size":1,"context_length":4096}]}"#;

#[tokio::test]
async fn each_server_tells_its_window_and_how_to_enlarge_it() {
    let nothing_loaded = ("/api/ps", r#"{"models":[]}"#);
    for (name, pages, expected) in [
        ("Ollama, loaded", vec![("/api/ps", LOADED)], Some((4_096, "OLLAMA_CONTEXT_LENGTH"))),
        (
            "Ollama, set in the Modelfile",
            vec![nothing_loaded, ("/api/show", r#"{"parameters":"stop   \"x\"\nnum_ctx      16384\n"}"#)],
            Some((16_384, "num_ctx")),
        ),
        (
            "Ollama, not loaded: what the model could read is not what it will",
            vec![nothing_loaded, ("/api/show", r#"{"model_info":{"llama.context_length":131072}}"#)],
            None,
        ),
        (
            "Ollama of an earlier version",
            vec![("/api/ps", r#"{"models":[{"name":"m:latest","model":"m:latest"}]}"#)],
            None,
        ),
        ("LM Studio", vec![("/api/v0/models", STUDIO)], Some((4_096, "LM Studio"))),
        (
            "LM Studio, not loaded",
            vec![("/api/v0/models", r#"{"data":[{"id":"m","max_context_length":131072}]}"#)],
            None,
        ),
        ("llama-server", vec![("/props", LLAMA)], Some((8_192, "`-c 32768`"))),
        (
            "vLLM",
            vec![("/v1/models", r#"{"data":[{"id":"m","max_model_len":40960}]}"#)],
            Some((40_960, "--max-model-len")),
        ),
        ("another model", vec![("/v1/models", r#"{"data":[{"id":"n","max_model_len":40960}]}"#)], None),
        (
            "nonsense",
            vec![("/v1/models", r#"{"data":[{"id":"m","max_model_len":"many"}]}"#), ("/props", "[]")],
            None,
        ),
        ("absurd", vec![("/props", r#"{"default_generation_settings":{"n_ctx":0}}"#)], None),
    ] {
        for (api, base) in [(Api::OpenaiChat, "/v1"), (Api::OpenaiResponses, "/v1"), (Api::Anthropic, "")] {
            let pages: Vec<_> = pages
                .iter()
                .map(|(path, body)| match *path {
                    "/v1/models" if api == Api::Anthropic => ("/v1/models?limit=1000", *body),
                    path => (path, *body),
                })
                .collect();
            let server = Server::pages(&pages).await;
            let window = models(config(api, format!("{}{base}", server.url()))).window("p/m").await;
            let found = window.as_ref().map(|window| (window.tokens, window.to_enlarge.unwrap_or_default()));
            match (found, expected) {
                (Some((tokens, how)), Some((expected, words))) => {
                    assert!(tokens == expected && how.contains(words), "{name}: {window:?}");
                }
                (found, expected) => assert_eq!(found.is_some(), expected.is_some(), "{name}: {window:?}"),
            }
            for seen in server.seen() {
                let has_key = seen.header("authorization").or(seen.header("x-api-key")).is_some();
                assert_eq!(has_key, seen.path.starts_with("/v1/models"), "{name}: {}", seen.path);
            }
        }
    }
}

/// A slow server costs two seconds and no error; a model that nobody knows costs nothing.
#[tokio::test]
async fn a_server_that_does_not_answer_tells_no_window() {
    let server = Server::start((0..4).map(|_| Answer::Silence).collect()).await;
    let models = models(config(Api::OpenaiChat, server.url()));
    let asked = std::time::Instant::now();
    assert_eq!(models.window("p/m").await, None);
    assert!(asked.elapsed() < Duration::from_secs(10));
    assert_eq!(models.window("gone/m").await, None);
    assert_eq!(server.seen().len(), 4);
}

/// What only servers at home know is not asked elsewhere. (`.invalid` never resolves: RFC 6761.)
#[tokio::test]
async fn a_distant_server_is_not_asked_what_only_one_at_home_knows() {
    let distant = models(config(Api::OpenaiChat, "https://api.invalid/v1".to_owned()));
    assert_eq!(distant.window("p/m").await, None);
}
