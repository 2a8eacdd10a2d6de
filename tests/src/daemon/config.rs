use crate::model_server::{MODEL, ModelServer};
use std::fmt::Write as _;

/// The APIs of the scripted server, each with a model that [`Config::with`] makes available over it.
pub const WIRES: [(&str, &str); 3] = [
    ("openai-chat", "test/scripted-1"),
    ("openai-responses", "responses/scripted-1"),
    ("anthropic", "claude/scripted-1"),
];

/// A `config.toml`.
#[derive(Debug, Clone, Default)]
pub struct Config {
    default_model: Option<String>,
    providers: String,
    task: String,
    daemon: String,
    policy: String,
    worktree: String,
    http: String,
    notify: bool,
    memory: bool,
    embedder: Option<String>,
}

/// Commands and edits ask.
const ASKS: &str = "shell = \"ask\"\nedits = \"ask\"";

impl Config {
    /// No provider, no notifications, no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The scripted server as `test` (OpenAI Chat Completions, the default), `responses` (OpenAI Responses)
    /// and `claude` (Anthropic). Commands and edits ask, on every machine and in every folder.
    #[must_use]
    pub fn with(model: &ModelServer) -> Self {
        Self { default_model: Some(format!("test/{MODEL}")), policy: ASKS.to_owned(), ..Self::default() }
            .provider("test", "openai-chat", &model.openai_url(), "")
            .provider("responses", "openai-responses", &model.openai_url(), "")
            .provider("claude", "anthropic", &model.anthropic_url(), "")
    }

    /// Adds a provider; `more` is further lines of its section.
    #[must_use]
    pub fn provider(mut self, name: &str, api: &str, base_url: &str, more: &str) -> Self {
        let _ = writeln!(
            self.providers,
            "[providers.{name}]\napi = \"{api}\"\nbase_url = \"{base_url}\"\n{more}"
        );
        self
    }

    /// `provider/model`.
    #[must_use]
    pub fn default_model(mut self, model: &str) -> Self {
        self.default_model = Some(model.to_owned());
        self
    }

    /// A line of `[task]`.
    #[must_use]
    pub fn task(mut self, line: &str) -> Self {
        let _ = writeln!(self.task, "{line}");
        self
    }

    /// A line of `[daemon]`.
    #[must_use]
    pub fn daemon(mut self, line: &str) -> Self {
        let _ = writeln!(self.daemon, "{line}");
        self
    }

    /// The lines of `[policy]`, in place of those by which commands and edits ask.
    #[must_use]
    pub fn policy(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.policy);
        self
    }

    /// A line of `[worktree]`.
    #[must_use]
    pub fn worktree(mut self, line: &str) -> Self {
        let _ = writeln!(self.worktree, "{line}");
        self
    }

    /// A line of `[http]`.
    #[must_use]
    pub fn http(mut self, line: &str) -> Self {
        let _ = writeln!(self.http, "{line}");
        self
    }

    /// Desktop notifications are on.
    #[must_use]
    pub fn notify(mut self) -> Self {
        self.notify = true;
        self
    }

    /// Tasks recall. (Otherwise what one test says would reach the model of another.)
    #[must_use]
    pub fn memory(mut self) -> Self {
        self.memory = true;
        self
    }

    /// `[memory] embedder`.
    #[must_use]
    pub fn embedder(mut self, embedder: &str) -> Self {
        self.embedder = Some(embedder.to_owned());
        self
    }

    pub(super) fn to_toml(&self) -> String {
        let model =
            self.default_model.as_ref().map(|m| format!("[model]\ndefault = \"{m}\"\n")).unwrap_or_default();
        let Self { providers, task, daemon, policy, worktree, http, notify, memory, embedder, .. } = self;
        let embedder = embedder.as_ref().map(|named| format!("embedder = \"{named}\"\n")).unwrap_or_default();
        format!(
            "{model}{providers}\n[task]\n{task}\n[daemon]\n{daemon}\n[worktree]\n{worktree}\n[http]\n{http}\n[policy]\n{policy}\n[notify]\nenabled = {notify}\n[memory]\nenabled = {memory}\n{embedder}"
        )
    }
}
