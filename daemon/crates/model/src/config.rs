//! Configuration of providers: addresses and keys.

use crate::api::Api;
use std::{fmt, path::PathBuf, time::Duration};

/// How long a reply may take to begin, where its model may be slow to read the prompt.
const PROMPT_TIMEOUT: Duration = Duration::from_mins(30);

/// A provider: an address or a script that serves models.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The part of `provider/model` before the first slash. Not empty, no slash in it.
    pub name: String,
    pub api: Api,
    /// `http://` or `https://`. Empty where the api's place is a file.
    pub base_url: String,
    /// Where this provider comes from, in words: `config`, `environment`, `found on loopback`, `built in`.
    pub source: String,
    /// How many calls may be under way at a time; more wait. 0 counts as 1.
    pub max_parallel: usize,
    /// Without a key it answers nothing, and is not asked for its models.
    pub wants_key: bool,
    /// The script of [`Api::Scripted`]; absent: the built-in demo.
    pub script: Option<PathBuf>,
    /// How long no content may arrive: before the reply begins, and between two of its pieces.
    pub stall_timeout: Duration,
    /// How long a reply may take to begin, if that is more than `stall_timeout`: where the address is of this
    /// machine or a private network, or the server shows signs of life. It reads a long prompt, and a second
    /// attempt would only begin again.
    pub prompt_timeout: Duration,
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
            prompt_timeout: PROMPT_TIMEOUT,
        }
    }

    /// With the limits of a model that runs on this machine: it may take minutes to read a long prompt before
    /// its first token.
    #[must_use]
    pub fn of_this_machine(self) -> Self {
        Self { stall_timeout: Duration::from_secs(600), max_parallel: 4, ..self }
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

    /// The address without its secret parts (user, password, query).
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
    /// The key of the provider with this name; `None`: no key is sent.
    fn key(&self, provider: &str) -> Option<Secret>;
}

/// The shortest key that can be a secret, in bytes.
const SHORTEST_SECRET: usize = 8;

/// A key. Only the header that needs it can read it; `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Spaces and newlines around it (from a file, say) are removed.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Removes this key from a provider's `text`, which may repeat it. A key shorter than any real one may be
    /// an ordinary word and is not searched for.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
