//! The providers that have a name here: nobody needs to look up their addresses.

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProvider {
    /// The part of `provider/model` before the slash.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// As in [`ProviderEntry::api`](super::ProviderEntry::api).
    pub api: &'static str,
    /// What the API's paths are appended to.
    pub base_url: &'static str,
    /// The variable that usually holds its key. `None`: it runs on this machine, and needs no key.
    pub key_variable: Option<&'static str>,
    /// The page on which a person makes a key, without its scheme. Empty if none is needed.
    pub keys_at: &'static str,
    /// A model of it that is good for most tasks. `None`: which ones it has depends on time or on the
    /// machine.
    pub model: Option<&'static str>,
}

const CHAT: &str = "openai-chat";

pub const ANTHROPIC: KnownProvider = KnownProvider {
    name: "anthropic",
    title: "Anthropic",
    api: "anthropic",
    base_url: "https://api.anthropic.com",
    key_variable: Some("ANTHROPIC_API_KEY"),
    keys_at: "console.anthropic.com/settings/keys",
    model: Some("claude-sonnet-5"),
};

pub const OPENAI: KnownProvider = KnownProvider {
    name: "openai",
    title: "OpenAI",
    api: CHAT,
    base_url: "https://api.openai.com/v1",
    key_variable: Some("OPENAI_API_KEY"),
    keys_at: "platform.openai.com/api-keys",
    model: Some("gpt-5.5"),
};

/// All of them, the vendors before those of this machine.
pub const KNOWN: &[KnownProvider] = &[
    ANTHROPIC,
    OPENAI,
    vendor(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY", "openrouter.ai/settings/keys"),
    ),
    vendor(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "aistudio.google.com/apikey"),
    ),
    vendor(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY", "console.mistral.ai/api-keys"),
    ),
    vendor("groq", "Groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY", "console.groq.com/keys")),
    vendor(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY", "platform.deepseek.com/api_keys"),
    ),
    local("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    local("llama-server", "llama-server of llama.cpp", "http://127.0.0.1:8080/v1"),
    local("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"),
];

const fn vendor(
    name: &'static str,
    title: &'static str,
    base_url: &'static str,
    (key_variable, keys_at): (&'static str, &'static str),
) -> KnownProvider {
    KnownProvider { name, title, api: CHAT, base_url, key_variable: Some(key_variable), keys_at, model: None }
}

const fn local(name: &'static str, title: &'static str, base_url: &'static str) -> KnownProvider {
    KnownProvider { name, title, api: CHAT, base_url, key_variable: None, keys_at: "", model: None }
}

impl KnownProvider {
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.name == name)
    }

    /// The one at this address, with or without `/v1` at its end.
    #[must_use]
    pub fn at(base_url: &str) -> Option<&'static Self> {
        let root = |url: &str| url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        KNOWN.iter().find(|known| root(known.base_url) == root(base_url))
    }

    /// It runs on this machine.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        self.key_variable.is_none()
    }
}

/// Whether a provider may have this name.
#[must_use]
pub fn is_provider_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_and_its_address() {
        for known in KNOWN {
            assert!(is_provider_name(known.name), "{known:?}");
            assert_eq!(KnownProvider::named(known.name), Some(known));
            assert_eq!(KnownProvider::at(known.base_url), Some(known));
            assert_eq!(known.base_url.starts_with("http://127.0.0.1:"), known.is_local(), "{known:?}");
            assert_eq!(known.keys_at.is_empty(), known.is_local(), "{known:?}");
        }
        assert_eq!(KnownProvider::at("https://api.anthropic.com/v1/"), Some(&ANTHROPIC));
        assert_eq!((KnownProvider::named("corp"), KnownProvider::at("https://llm.example/v1")), (None, None));
    }
}
