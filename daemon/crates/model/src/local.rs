//! Model servers on this machine: found by asking their ports, and accepted only if the answer is
//! characteristic.

use crate::{
    api::Api,
    config::ProviderConfig,
    error::ModelError,
    http::{Http, Peer},
};
use abide_protocol::record::ModelErrorKind;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_millis(700);
const MAX_ANSWER: usize = 1024 * 1024;

/// The ports that are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalPorts {
    pub ollama: u16,
    pub llama_server: u16,
}

impl Default for LocalPorts {
    /// The servers' own defaults.
    fn default() -> Self {
        Self { ollama: 11_434, llama_server: 8_080 }
    }
}

/// The servers that run on their usual ports of 127.0.0.1.
pub async fn find_local() -> Vec<ProviderConfig> {
    find_local_on(LocalPorts::default()).await
}

/// The servers that run on these ports of 127.0.0.1.
pub async fn find_local_on(ports: LocalPorts) -> Vec<ProviderConfig> {
    // A client of its own, dropped at the end.
    let http = Http::default();
    let (ollama, llama) = tokio::join!(ollama(&http, ports.ollama), llama_server(&http, ports.llama_server));
    ollama.into_iter().chain(llama).collect()
}

async fn ollama(http: &Http, port: u16) -> Option<ProviderConfig> {
    let answer = ask(http, port, "/api/version").await.ok()?;
    answer.get("version")?.as_str()?;
    Some(found("ollama", port))
}

/// Only llama-server has `/props`. If that is disabled, its list of models names it; while it loads a model,
/// only the error does.
async fn llama_server(http: &Http, port: u16) -> Option<ProviderConfig> {
    let is_props = |props: &Value| props.get("default_generation_settings").is_some();
    let is_list = |list: &Value| list.pointer("/data/0/owned_by").and_then(Value::as_str) == Some("llamacpp");
    let is_loading = |error: &ModelError| {
        error.kind == ModelErrorKind::Overloaded && error.message.contains("Loading model")
    };
    let (props, list) = tokio::join!(ask(http, port, "/props"), ask(http, port, "/v1/models"));
    let is_it = props.as_ref().is_ok_and(is_props)
        || list.as_ref().is_ok_and(is_list)
        || props.as_ref().is_err_and(is_loading);
    is_it.then(|| found("llama-server", port))
}

async fn ask(http: &Http, port: u16, path: &str) -> Result<Value, ModelError> {
    let config = ProviderConfig::new("local", Api::OpenaiChat, format!("http://127.0.0.1:{port}"), "");
    let peer = Peer { config: &config, key: None, http, model: "" };
    let body = peer.get(peer.url("", path)?, HeaderMap::new(), MAX_ANSWER, TIMEOUT).await?;
    serde_json::from_slice(&body).map_err(|_| peer.error(ModelErrorKind::Malformed, "its answer is not JSON"))
}

fn found(name: &str, port: u16) -> ProviderConfig {
    ProviderConfig::new(name, Api::OpenaiChat, format!("http://127.0.0.1:{port}/v1"), "found on loopback")
        .of_this_machine()
}
