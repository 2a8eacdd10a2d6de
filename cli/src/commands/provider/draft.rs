//! A provider that is being set up.

use crate::{args::AddArgs, connection::Daemon, error::CommandError};
use abide_client::protocol::{
    method::{
        CheckProvider,
        daemon::{CheckProviderParams, CheckProviderReply},
    },
    provider::{KeyState, KnownProvider, ProviderEntry, ProviderInfo},
    record::ModelErrorKind,
};

/// What the command stores in the end.
pub(super) struct Draft {
    pub(super) entry: ProviderEntry,
    /// A key to store.
    pub(super) key: Option<String>,
    /// Its models, as far as it lists them.
    pub(super) models: Vec<String>,
    /// As `provider/model`.
    pub(super) model: Option<String>,
    /// That model becomes the default.
    pub(super) is_default: bool,
}

impl Draft {
    /// Asks the provider for its models, or that model for a few words.
    pub(super) async fn check(
        &self,
        daemon: &mut Daemon,
        model: Option<&str>,
    ) -> Result<CheckProviderReply, CommandError> {
        let params = CheckProviderParams {
            provider: self.entry.clone(),
            key: self.key.clone(),
            model: model.map(str::to_owned),
        };
        daemon.call::<CheckProvider>(params).await
    }
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

/// Whether the server at this address answers nothing without a key.
pub(super) fn wants_key(base_url: &str) -> bool {
    KnownProvider::at(base_url).is_some_and(|known| !known.is_local())
}

/// Whether the provider may work although it gives no list of its models.
pub(super) const fn may_have_no_list(kind: ModelErrorKind) -> bool {
    matches!(kind, ModelErrorKind::NotFound | ModelErrorKind::Malformed)
}

/// `provider/model` of what a person typed. The provider's own name of a model may begin like that, too.
pub(super) fn whole_name(provider: &str, typed: &str, listed: &[String]) -> String {
    let whole = format!("{provider}/{typed}");
    let is_whole = typed.strip_prefix(provider).is_some_and(|rest| rest.starts_with('/'));
    if is_whole && !listed.contains(&whole) { typed.to_owned() } else { whole }
}

/// The model that a person most likely wants, if that is clear.
pub(super) fn usual_model(provider: &str, listed: &[String]) -> Option<String> {
    let known = KnownProvider::named(provider).and_then(|known| known.model);
    let known = known.map(|model| format!("{provider}/{model}")).filter(|model| listed.contains(model));
    known.or_else(|| match listed {
        [only] => Some(only.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_model_is_named_with_or_without_its_provider() {
        let listed = names(&["openrouter/openrouter/auto", "openrouter/meta/llama"]);
        for (typed, whole) in [
            ("meta/llama", "openrouter/meta/llama"),
            ("openrouter/meta/llama", "openrouter/meta/llama"),
            ("openrouter/auto", "openrouter/openrouter/auto"),
            ("other", "openrouter/other"),
        ] {
            assert_eq!(whole_name("openrouter", typed, &listed), whole);
        }
    }

    #[test]
    fn the_usual_model_is_one_that_is_there() {
        let both = names(&["anthropic/claude-next", "anthropic/claude-sonnet-5"]);
        assert_eq!(usual_model("anthropic", &both).as_deref(), Some("anthropic/claude-sonnet-5"));
        assert_eq!(usual_model("anthropic", &both[..1]).as_deref(), Some("anthropic/claude-next"));
        assert_eq!(usual_model("corp", &both), None);
        assert_eq!(usual_model("corp", &[]), None);
    }

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
