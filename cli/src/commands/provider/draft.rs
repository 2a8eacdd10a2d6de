//! What is known of a provider that is being set up.

use crate::{args::AddArgs, error::CommandError};
use abide_client::protocol::provider::{KeyState, KnownProvider, ProviderInfo, is_provider_name};

/// The name, if a provider may have it.
pub(super) fn checked_name(name: String) -> Result<String, CommandError> {
    if is_provider_name(&name) {
        return Ok(name);
    }
    Err(CommandError::usage("a provider's name has 1 to 64 of the characters a-z A-Z 0-9 - _ ."))
}

/// What is known of a provider before anybody is asked.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) api: Option<String>,
    pub(super) base_url: Option<String>,
    /// The daemon has a key for this name.
    pub(super) has_key: bool,
}

impl Facts {
    /// What the command line says comes first, then the configuration, then what is known by name.
    pub(super) fn of(name: &str, args: &AddArgs, providers: &[ProviderInfo]) -> Self {
        let there = providers.iter().find(|info| info.name == name);
        let set_up = there.filter(|info| info.source == "config" && !info.base_url.is_empty());
        let known = KnownProvider::named(name);
        let api = args.api.clone().or_else(|| set_up.map(|info| info.api.clone()));
        let base_url = args.base_url.clone().or_else(|| set_up.map(|info| info.base_url.clone()));
        Self {
            api: api.or_else(|| known.map(|known| known.api.to_owned())),
            base_url: base_url.or_else(|| known.map(|known| known.base_url.to_owned())),
            has_key: there.is_some_and(|info| info.key == KeyState::Present),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_comes_before_the_configuration_and_that_before_what_is_known() {
        let info = ProviderInfo {
            name: "ollama".into(),
            api: "openai-responses".into(),
            base_url: "http://10.0.0.7/v1".into(),
            source: "config".into(),
            key: KeyState::Present,
            models: vec![],
            problem: None,
        };
        let none = AddArgs::default();
        let facts = Facts::of("ollama", &none, &[]);
        assert_eq!(facts.base_url.as_deref(), Some("http://127.0.0.1:11434/v1"));
        let facts = Facts::of("ollama", &none, std::slice::from_ref(&info));
        assert_eq!((facts.base_url.as_deref(), facts.has_key), (Some("http://10.0.0.7/v1"), true));
        assert_eq!(facts.api.as_deref(), Some("openai-responses"));
        let given = AddArgs { base_url: Some("http://h/v1".into()), ..AddArgs::default() };
        assert_eq!(Facts::of("ollama", &given, &[info]).base_url.as_deref(), Some("http://h/v1"));
        let unknown = Facts::of("corp", &none, &[]);
        assert_eq!((unknown.api, unknown.base_url), (None, None));
    }
}
