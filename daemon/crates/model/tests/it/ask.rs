//! Helpers: configurations, requests, and calls of a model.

use crate::server::{Answer, Seen, Server, Step};
use abide_model::{
    Api, Keys, ModelError, ModelEvent, ModelRequest, Models, Prices, ProviderConfig, Secret, Written,
};
use abide_protocol::{
    CallId, JsonText,
    shape::RequestShape,
    transcript::{EffectClass, Entry, Reply, ResultEntry, Risk, Tier, ToolSpec},
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use uuid::Uuid;

pub(crate) const KEY: &str = "sk-test-SECRET-12345";

/// Every provider has this key, or none has.
pub(crate) struct OneKey(pub(crate) Option<&'static str>);

impl Keys for OneKey {
    fn key(&self, _provider: &str) -> Option<Secret> {
        self.0.map(Secret::new)
    }
}

pub(crate) fn config(api: Api, base_url: String) -> ProviderConfig {
    ProviderConfig {
        stall_timeout: Duration::from_secs(20),
        ..ProviderConfig::new("p", api, base_url, "config")
    }
}

pub(crate) fn models(config: ProviderConfig) -> Models {
    Models::new(vec![config], Arc::new(OneKey(Some(KEY))), Prices::built_in())
}

pub(crate) fn request(entries: Vec<Entry>) -> ModelRequest {
    ModelRequest {
        model: "p/m".to_owned(),
        system: "".into(),
        tools: Arc::new([]),
        conversation: None,
        transcript: entries.into(),
        written: Written::default(),
        max_output_tokens: None,
        shape: RequestShape::default(),
    }
}

/// A request that declares a tool, so that it may have calls.
pub(crate) fn request_with_tool(entries: Vec<Entry>) -> ModelRequest {
    ModelRequest { tools: Arc::new([tool("read")]), ..request(entries) }
}

pub(crate) fn hello() -> ModelRequest {
    request(vec![Entry::User("hello".to_owned())])
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("does {name}"),
        parameters: JsonText::parse(r#"{"type":"object","properties":{"b":{},"a":{}}}"#).unwrap(),
        effect: EffectClass::Pure,
        risk: Risk::Low,
        tier: Tier::Allow,
    }
}

pub(crate) fn result(call: u128, provider_id: &str, ok: bool, text: &str) -> Entry {
    Entry::Result(ResultEntry {
        call_id: CallId(Uuid::from_u128(call)),
        provider_id: provider_id.to_owned(),
        tool: "read".to_owned(),
        ok,
        text: text.to_owned(),
        elided: false,
    })
}

/// The result of one attempt.
pub(crate) struct Outcome {
    pub(crate) result: Result<Reply, ModelError>,
    pub(crate) events: Vec<ModelEvent>,
}

impl Outcome {
    pub(crate) fn reply(self) -> Reply {
        self.result.unwrap()
    }

    pub(crate) fn error(self) -> ModelError {
        self.result.unwrap_err()
    }
}

pub(crate) async fn ask(models: &Models, request: ModelRequest) -> Outcome {
    let mut events = Vec::new();
    let mut sink = |event| events.push(event);
    let result = within("the attempt's end", models.complete(request, &mut sink)).await;
    Outcome { result, events }
}

/// One attempt that gets this response.
pub(crate) async fn ask_once(api: Api, answer: Answer) -> Outcome {
    ask_as(api, hello(), answer).await
}

/// One attempt with this request that gets this response.
pub(crate) async fn ask_as(api: Api, request: ModelRequest, answer: Answer) -> Outcome {
    let server = Server::start(vec![answer]).await;
    ask(&models(config(api, server.url())), request).await
}

/// The HTTP request that is sent for these entries.
pub(crate) async fn sent(api: Api, request: ModelRequest) -> Seen {
    let server = Server::start(vec![stream(&[last_event(api)])]).await;
    ask(&models(config(api, server.url())), request).await.reply();
    server.only()
}

/// The data that ends a stream.
pub(crate) fn last_event(api: Api) -> &'static str {
    match api.name() {
        "anthropic" => r#"{"type":"message_stop"}"#,
        "openai-responses" => r#"{"type":"response.completed","response":{}}"#,
        _ => "[DONE]",
    }
}

/// A stream of events with this data, each in a chunk of its own.
pub(crate) fn stream(events: &[&str]) -> Answer {
    Answer::Stream(events.iter().map(|data| data_event(data)).collect())
}

pub(crate) fn data_event(data: &str) -> Step {
    bytes(&format!("data: {data}\n\n"))
}

pub(crate) fn bytes(text: &str) -> Step {
    Step::Bytes(text.as_bytes().to_vec())
}

/// An OpenAI chunk with this delta.
pub(crate) fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

/// An OpenAI chunk that ends the reply.
pub(crate) fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future)
        .await
        .unwrap_or_else(|_| panic!("waited 30 s in vain for {what}"))
}
