//! Where models are, and with what keys they are reached.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

/// The protocol that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI Chat Completions, and the many servers that imitate it.
    OpenAiChat,
    /// Anthropic Messages.
    Anthropic,
    /// A file of replies: demo, tests, replay.
    Scripted,
}

impl Api {
    /// Its name in configuration, replies and lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Scripted => "scripted",
        }
    }
}

/// A name in configuration that is no api we speak.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownApi {
    /// Known, but not built yet.
    #[error(
        "api `{0}` is not supported yet; most of its models also answer to `openai-chat` under the same base_url"
    )]
    NotYet(String),
    #[error("there is no api {0:?}; it is one of `openai-chat`, `anthropic`, `scripted`")]
    Unknown(String),
}

impl FromStr for Api {
    type Err = UnknownApi;

    fn from_str(name: &str) -> Result<Self, UnknownApi> {
        match name {
            "openai-chat" => Ok(Self::OpenAiChat),
            "anthropic" => Ok(Self::Anthropic),
            "scripted" => Ok(Self::Scripted),
            "openai-responses" => Err(UnknownApi::NotYet(name.to_owned())),
            other => Err(UnknownApi::Unknown(other.to_owned())),
        }
    }
}

/// A provider: an address (or a script) that answers for models.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The part of `provider/model` before the first slash. Not empty, no slash in it.
    pub name: String,
    pub api: Api,
    /// `http://` or `https://`. Empty for [`Api::Scripted`].
    pub base_url: String,
    /// Where this provider comes from, in words: `config`, `environment`, `found on loopback`, `built in`.
    pub source: String,
    /// Calls under way at a time; more wait. 0 counts as 1.
    pub max_parallel: usize,
    /// Without a key it has nothing to say, and is not asked what models it has.
    pub wants_key: bool,
    /// The script of [`Api::Scripted`]; absent: the built-in demo.
    pub script: Option<PathBuf>,
    /// How long nothing at all may come: before the answer begins, and between two of its parts.
    pub stall_timeout: Duration,
}

impl ProviderConfig {
    /// A provider over HTTP, with the usual limits.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        api: Api,
        base_url: impl Into<String>,
        source: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            api,
            base_url: base_url.into(),
            source: source.into(),
            max_parallel: 8,
            wants_key: false,
            script: None,
            stall_timeout: Duration::from_secs(180),
        }
    }

    /// A provider that plays a script; absent: the built-in demo.
    #[must_use]
    pub fn scripted(name: impl Into<String>, script: Option<PathBuf>, source: impl Into<String>) -> Self {
        Self { script, max_parallel: 256, ..Self::new(name, Api::Scripted, "", source) }
    }

    /// The built-in demo: `demo/demo` needs neither key nor network.
    #[must_use]
    pub fn demo() -> Self {
        Self::scripted("demo", None, "built in")
    }

    /// The address without what may be secret in it (user, password, query).
    #[must_use]
    pub fn shown_url(&self) -> String {
        match reqwest::Url::parse(&self.base_url) {
            Ok(url) => {
                let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
                let host = url.host_str().unwrap_or_default();
                format!("{}://{host}{port}{}", url.scheme(), url.path().trim_end_matches('/'))
            }
            Err(_) => String::new(),
        }
    }
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("name", &self.name)
            .field("api", &self.api)
            .field("base_url", &self.shown_url())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Where API keys come from.
pub trait Keys: Send + Sync {
    /// The key of the provider of that name; `None`: none is sent.
    fn key(&self, provider: &str) -> Option<Secret>;
}

/// The shortest key that can be a secret, in bytes.
const SHORTEST_SECRET: usize = 8;

/// A key. It shows itself to nobody but the header that it is made for.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Spaces and line ends around it (from a file, say) are no part of a key.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// A provider's `text` without this key in it, should it have echoed it. What is shorter than any real key may be a word like
    /// any other, and stays.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
