//! What texts mean to a server's model.

use crate::{
    ask::{KEY, config, models},
    server::{Answer, Server},
};
use abide_model::Api;
use abide_protocol::record::ModelErrorKind;
use serde_json::json;

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Answer {
    let headers = vec![("content-type", "application/json".to_owned())];
    Answer::Whole { status, headers, body: body.into() }
}

#[tokio::test]
async fn each_text_has_its_vector() {
    let body = r#"{"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1,2e-3]}],"model":"m"}"#;
    let server = Server::start(vec![answer(200, body)]).await;
    let texts = ["one".to_owned(), "two".to_owned()];
    let models = models(config(Api::OpenaiChat, format!("{}/v1", server.url())));
    assert_eq!(models.embed("p/m", &texts).await.unwrap(), [[1.0, 0.002], [0.5, -1.0]]);
    let asked = server.only();
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(asked.json(), json!({ "model": "m", "input": ["one", "two"] }));
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[tokio::test]
async fn what_is_no_vector_for_each_text_is_refused() {
    let long = format!(r#"{{"data":[{{"index":0,"embedding":[{}1]}}]}}"#, "1,".repeat(8192));
    let endless = format!(r#"{{"data":[{{"index":0,"embedding":[1{}]}}]}}"#, " ".repeat(17 * 1024 * 1024));
    let cases = [
        (200, r#"{"data":[]}"#),
        (200, r#"{"data":[{"index":0,"embedding":[]}]}"#),
        (200, r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}"#),
        (200, r#"{"data":[{"index":0,"embedding":[1,null]}]}"#),
        (200, r#"{"data":[{"index":0,"embedding":[NaN]}]}"#),
        (200, r#"{"data":[{"index":0,"embedding":[1e400]}]}"#),
        (200, r#"{"data":[{"index":0,"embedding":"AAAA"}]}"#),
        (200, r#"{"data":[{"index":0,"embedding":[1]}"#),
        (200, ""),
        (200, &long),
        (200, &endless),
        (500, r#"{"error":{"message":"no such model"}}"#),
    ];
    for (status, body) in cases {
        let server = Server::start(vec![answer(status, body)]).await;
        let models = models(config(Api::OpenaiChat, server.url()));
        let error = models.embed("p/m", &["one".to_owned()]).await.unwrap_err();
        let is_malformed = error.kind == ModelErrorKind::Malformed;
        assert_eq!(is_malformed, status == 200, "{body:.60}: {error}");
        assert!(error.message.starts_with("p: "), "{error}");
    }
    // Texts that differ in length.
    let body = r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}"#;
    let server = Server::start(vec![answer(200, body)]).await;
    let models = models(config(Api::OpenaiChat, server.url()));
    models.embed("p/m", &["one".to_owned(), "two".to_owned()]).await.unwrap_err();
}

#[tokio::test]
async fn an_api_without_embeddings_is_not_asked() {
    let server = Server::start(vec![]).await;
    let models = models(config(Api::Anthropic, server.url()));
    let error = models.embed("p/m", &["one".to_owned()]).await.unwrap_err();
    assert!(error.message.contains("anthropic, has no embeddings"), "{error}");
    assert_eq!(server.seen().len(), 0);
}
