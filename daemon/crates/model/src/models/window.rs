//! How many tokens a model server really reads: often far fewer than the model could. Whoever runs a server
//! at home may not know, and some servers drop the beginning of a longer conversation without a word.

use super::Models;
use crate::{http::Peer, near};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// For all questions together.
const WITHIN: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// A number of tokens above this is no window.
const MOST: u64 = 100_000_000;

/// The context window that a server gives a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Prompt and reply together, in tokens.
    pub tokens: u64,
    /// How a person makes it larger, as a sentence. `None`: whoever serves the model decides.
    pub to_enlarge: Option<&'static str>,
}

/// A server that tells its windows.
#[derive(Debug, Clone, Copy)]
enum Software {
    Ollama,
    LmStudio,
    LlamaServer,
    Vllm,
}

impl Software {
    const fn to_enlarge(self) -> &'static str {
        match self {
            Self::Ollama => {
                "Start Ollama with a larger OLLAMA_CONTEXT_LENGTH (32768, say) in its environment, or set `PARAMETER num_ctx 32768` in a \
                 Modelfile of the model."
            }
            Self::LmStudio => "Load the model in LM Studio again with a larger context length.",
            Self::LlamaServer => {
                "Start llama-server with a larger context: `-c 32768`, say (it is divided among the slots of `--parallel`)."
            }
            Self::Vllm => "Start the server with a larger `--max-model-len` (SGLang: `--context-length`).",
        }
    }

    fn window(self, tokens: Option<u64>) -> Option<Window> {
        let tokens = tokens.filter(|tokens| (1..=MOST).contains(tokens))?;
        Some(Window { tokens, to_enlarge: Some(self.to_enlarge()) })
    }
}

impl Models {
    /// The window that the server of `provider/model` gives it now. `None` if the server does not tell, or
    /// not within two seconds. What only a person's own servers know is asked without a key, and only where
    /// one may run: on this machine or in a private network. Elsewhere only the list of models is asked, as
    /// [`Self::models_of`] does.
    pub async fn window(&self, model: &str) -> Option<Window> {
        let (provider, model) = self.find(model).ok()?;
        let peer = self.peer(provider, model);
        let listed = async {
            let listed = provider.server.models(&peer).await.ok()?;
            listed.into_iter().find(|listed| is_same(&listed.name, model))
        };
        let found = async {
            if !near::is_near(&provider.config.base_url) {
                let tokens = listed.await?.window.filter(|tokens| (1..=MOST).contains(tokens))?;
                return Some(Window { tokens, to_enlarge: None });
            }
            // Each has an answer that no other server gives.
            let (ollama, lm_studio, llama_server, listed) =
                tokio::join!(ollama(&peer), lm_studio(&peer), llama_server(&peer), listed);
            let vllm = || Software::Vllm.window(listed?.window);
            ollama.or(lm_studio).or(llama_server).or_else(vllm)
        };
        timeout(WITHIN, found).await.ok().flatten()
    }
}

/// The model that is loaded has its window in the list of processes. One that is not loaded has one only if
/// its Modelfile sets it: the server's default is not told.
async fn ollama(peer: &Peer<'_>) -> Option<Window> {
    let running = ask(peer, "/api/ps").await?;
    let models = running.get("models")?.as_array()?;
    let is_it = |model: &&Value| {
        ["model", "name"]
            .iter()
            .any(|key| model.get(key).and_then(Value::as_str).is_some_and(|n| is_same(n, peer.model)))
    };
    if let Some(loaded) = models.iter().find(is_it) {
        return Software::Ollama.window(loaded.get("context_length").and_then(Value::as_u64));
    }
    let url = peer.url("/v1", "/api/show").ok()?;
    // Without the key.
    let question = json!({ "model": peer.model });
    let body = peer.ask(url, HeaderMap::new(), &question, MAX_ANSWER, WITHIN).await.ok()?;
    let shown: Value = serde_json::from_slice(&body).ok()?;
    let parameters = shown.get("parameters")?.as_str()?;
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    Software::Ollama.window(set)
}

async fn lm_studio(peer: &Peer<'_>) -> Option<Window> {
    let list = ask(peer, "/api/v0/models").await?;
    let is_it = |model: &&Value| model.get("id").and_then(Value::as_str) == Some(peer.model);
    let model = list.get("data")?.as_array()?.iter().find(is_it)?;
    Software::LmStudio.window(model.get("loaded_context_length").and_then(Value::as_u64))
}

/// It serves one model, under any name.
async fn llama_server(peer: &Peer<'_>) -> Option<Window> {
    let props = ask(peer, "/props").await?;
    Software::LlamaServer.window(props.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64))
}

/// Without the key: these paths are no part of the API that it is for.
async fn ask(peer: &Peer<'_>, path: &str) -> Option<Value> {
    let url = peer.url("/v1", path).ok()?;
    let body = peer.get(url, HeaderMap::new(), MAX_ANSWER, WITHIN).await.ok()?;
    serde_json::from_slice(&body).ok()
}

/// Ollama adds `:latest` to a name without a tag.
fn is_same(listed: &str, model: &str) -> bool {
    let plain = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_owned();
    plain(listed) == plain(model)
}
