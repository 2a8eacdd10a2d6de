//! Lists of models, servers on this machine, names of APIs.

use crate::{
    ask::{OneKey, config, models},
    server::{Answer, Server, Step},
};
use abide_model::{Api, LocalPorts, Models, Prices, ProviderConfig, UnknownApi, find_local_on};
use abide_protocol::{method::daemon::ListModelsParams, provider::KeyState, record::ModelErrorKind};
use serde_json::json;
use std::sync::Arc;

fn document(body: &str) -> Answer {
    let headers = vec![("content-type", "application/json".to_owned())];
    Answer::Whole { status: 200, headers, body: body.as_bytes().to_vec() }
}

#[tokio::test]
async fn each_provider_lists_its_models_or_a_problem() {
    let good = Server::start(vec![document(
        r#"{"object":"list","data":[{"id":"a"},{"id":"org/b"},{"id":"evil\u001b[2J"}]}"#,
    )])
    .await;
    let odd = Server::start(vec![document(r#"{"hello":1}"#)]).await;
    let named = |name: &str, api, url| ProviderConfig { name: name.to_owned(), ..config(api, url) };
    let providers = vec![
        named("good", Api::Anthropic, good.url()),
        named("odd", Api::OpenaiChat, format!("{}/v1", odd.url())),
        named("remote", Api::OpenaiChat, "https://127.0.0.1:1/v1".to_owned()),
        ProviderConfig::demo(),
    ];
    let models = Models::new(providers, Arc::new(OneKey(None)), Prices::built_in());

    let infos = models.list(&ListModelsParams::default()).await;
    assert_eq!(infos[0].models, ["good/a", "good/org/b"]);
    assert_eq!(
        (good.only().path.as_str(), odd.only().path.as_str()),
        ("/v1/models?limit=1000", "/v1/models")
    );
    assert!(infos[1].problem.as_ref().unwrap().contains("no list of models"));
    assert!(infos[2].problem.as_ref().unwrap().contains("nobody listens at https://127.0.0.1:1/v1"));
    assert_eq!((infos[3].models.as_slice(), &infos[3].problem), (["demo/demo".to_owned()].as_slice(), &None));
    let keys: Vec<_> = infos.iter().map(|info| info.key).collect();
    assert_eq!(keys, [KeyState::NotNeeded, KeyState::NotNeeded, KeyState::Missing, KeyState::NotNeeded]);

    let offline = models.list(&ListModelsParams { offline: true, provider: None }).await;
    assert_eq!(offline[0].problem.as_deref(), Some("not asked"));
    assert_eq!(offline[3].models, ["demo/demo"]);
    assert_eq!(good.seen().len(), 1);
}

#[tokio::test]
async fn a_provider_without_its_key_is_not_asked_and_one_can_be_asked_alone() {
    let servers =
        [Server::start(vec![]).await, Server::start(vec![document(r#"{"data":[{"id":"a"}]}"#)]).await];
    let named = |name: &str, server: &Server, wants_key| ProviderConfig {
        name: name.to_owned(),
        wants_key,
        ..config(Api::OpenaiChat, server.url())
    };
    let configs = vec![named("vendor", &servers[0], true), named("gateway", &servers[1], false)];
    let models = Models::new(configs.clone(), Arc::new(OneKey(None)), Prices::built_in());

    let problems: Vec<_> =
        models.list(&ListModelsParams::default()).await.into_iter().map(|info| info.problem).collect();
    assert_eq!(problems, [Some("not asked: it wants a key and none is set".to_owned()), None]);
    assert_eq!((servers[0].seen().len(), servers[1].seen().len()), (0, 1));

    let with_key = Models::new(configs, Arc::new(OneKey(Some("a-real-key"))), Prices::built_in());
    let alone =
        with_key.list(&ListModelsParams { offline: false, provider: Some("vendor".to_owned()) }).await;
    assert_eq!(alone.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["vendor"]);
    assert_eq!((servers[0].seen().len(), servers[1].seen().len()), (1, 1));
}

#[tokio::test]
async fn a_missing_list_is_not_reported_as_a_missing_model() {
    let answer = Answer::Whole { status: 404, headers: vec![], body: br#"{"detail":"Not Found"}"#.to_vec() };
    let server = Server::start(vec![answer]).await;
    let models =
        Models::new(vec![config(Api::OpenaiChat, server.url())], Arc::new(OneKey(None)), Prices::built_in());
    let problem = models.list(&ListModelsParams::default()).await.remove(0).problem.unwrap();
    let said = format!("p: {} has no list of models (404: Not Found); is its base_url right?", server.url());
    assert!(problem.starts_with(&said), "{problem}");
}

#[tokio::test]
async fn local_servers_are_known_by_their_answers() {
    let ollama = Server::start(vec![document(r#"{"version":"0.12.3"}"#)]).await;
    let props = r#"{"default_generation_settings":{},"total_slots":1}"#;
    let llama = Server::start(vec![document(props), document(props)]).await;
    let found = find_local_on(LocalPorts { ollama: ollama.port, llama_server: llama.port }).await;
    let found: Vec<_> = found.iter().map(|p| (p.name.as_str(), p.base_url.clone())).collect();
    assert_eq!(
        found,
        [("ollama", format!("{}/v1", ollama.url())), ("llama-server", format!("{}/v1", llama.url()))]
    );

    let loading = || Answer::Whole {
        status: 503,
        headers: vec![],
        body: br#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#.to_vec(),
    };
    let starting = Server::start(vec![loading(), loading(), loading()]).await;
    let found = find_local_on(LocalPorts { ollama: starting.port, llama_server: starting.port }).await;
    assert_eq!(found.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["llama-server"]);

    let stranger = || vec![document(r#"{"data":[{"id":"x","owned_by":"me"}]}"#), document("[]")];
    let (a, b) = (Server::start(stranger()).await, Server::start(stranger()).await);
    assert_eq!(find_local_on(LocalPorts { ollama: a.port, llama_server: b.port }).await, []);
}

#[test]
fn apis_by_name() {
    for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic, Api::Scripted] {
        assert_eq!(api.name().parse(), Ok(api));
    }
    assert_eq!("grpc".parse::<Api>(), Err(UnknownApi { name: "grpc".to_owned() }));
}

#[tokio::test]
async fn a_check_is_one_small_request_and_ends_with_the_first_word() {
    let word = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"O\"}}]}\n\n";
    // The rest of the reply never comes.
    let server =
        Server::start(vec![Answer::Stream(vec![Step::Bytes(word.as_bytes().to_vec()), Step::Hang])]).await;
    let models = models(config(Api::OpenaiChat, server.url()));
    models.check("p/m").await.unwrap();
    server.client_gone().await;
    let asked = server.only().json();
    assert_eq!(
        (&asked["model"], &asked["tools"], &asked["max_tokens"]),
        (&json!("m"), &json!(null), &json!(64))
    );
}

#[tokio::test]
async fn models_of_the_responses_api_are_listed_and_checked() {
    let word = "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"O\"}\n\n";
    let hangs = Answer::Stream(vec![Step::Bytes(word.as_bytes().to_vec()), Step::Hang]);
    let server = Server::start(vec![document(r#"{"data":[{"id":"a"}]}"#), hangs]).await;
    let models = models(config(Api::OpenaiResponses, format!("{}/v1", server.url())));
    let info = models.list(&ListModelsParams::default()).await.remove(0);
    assert_eq!((info.api.as_str(), info.models.as_slice()), ("openai-responses", &["p/a".to_owned()][..]));
    models.check("p/a").await.unwrap();
    server.client_gone().await;
    let paths: Vec<_> = server.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/v1/models", "/v1/responses"]);
}

#[tokio::test]
async fn a_check_says_why_a_model_does_not_answer_and_asks_no_vendor_without_its_key() {
    let refusal = Answer::Whole {
        status: 401,
        headers: vec![("content-type", "application/json".to_owned())],
        body: br#"{"error":{"message":"no such key","code":"invalid_api_key"}}"#.to_vec(),
    };
    let server = Server::start(vec![refusal]).await;
    let refused = models(config(Api::OpenaiChat, server.url())).check("p/m").await.unwrap_err();
    assert_eq!(refused.kind, ModelErrorKind::Auth, "{refused}");

    let vendor = Server::start(vec![]).await;
    let config = ProviderConfig { wants_key: true, ..config(Api::Anthropic, vendor.url()) };
    let models = Models::new(vec![config], Arc::new(OneKey(None)), Prices::built_in());
    for failed in [models.check("p/m").await.unwrap_err(), models.first_of("p").await.unwrap_err()] {
        assert_eq!((failed.kind, failed.sent), (ModelErrorKind::Auth, false), "{failed}");
    }
    assert_eq!(models.check("gone/m").await.unwrap_err().kind, ModelErrorKind::NotFound);
    assert!(vendor.seen().is_empty());
}
