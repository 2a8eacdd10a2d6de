//! A provider of models that a person sets up. Nothing is stored before it is tested, or before the person
//! wants it so.

use abide_protocol::{
    method::{
        config::{ModelChoice, ProviderChange, UpdateConfigParams},
        daemon::{CheckProviderParams, SetKeyParams},
    },
    provider::{KnownProvider, ProviderEntry},
    record::ModelErrorKind,
};
use std::fmt;

/// What is stored in the end.
#[derive(Clone, PartialEq, Eq)]
pub struct Draft {
    pub entry: ProviderEntry,
    /// A key to store; absent: the daemon has it, or none is needed.
    pub key: Option<String>,
    /// Its models, as far as it lists them.
    pub models: Vec<String>,
    /// As `provider/model`.
    pub model: Option<String>,
    /// That model becomes the default.
    pub is_default: bool,
}

/// Does not show the key.
impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("entry", &self.entry)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl Draft {
    /// Asks the provider for its models, or that model for a few words.
    #[must_use]
    pub fn check(&self, model: Option<&str>) -> CheckProviderParams {
        CheckProviderParams {
            provider: self.entry.clone(),
            key: self.key.clone(),
            model: model.map(str::to_owned),
        }
    }

    /// Stores the key. This comes before [`Self::change`], and is taken back (unless there was a key before)
    /// if that is refused.
    #[must_use]
    pub fn set_key(&self) -> Option<SetKeyParams> {
        let key = self.key.clone()?;
        Some(SetKeyParams { provider: self.entry.name.clone(), key: Some(key) })
    }

    /// Changes the configuration, in one update.
    #[must_use]
    pub fn change(&self) -> UpdateConfigParams {
        UpdateConfigParams {
            model: self.model.clone().filter(|_| self.is_default).map(ModelChoice::Named),
            provider: Some(ProviderChange::Set(self.entry.clone())),
            ..UpdateConfigParams::default()
        }
    }
}

/// Removes the entry of that name, whose model may be the default one `now`. Its key is removed after that: a
/// key without its provider is sent to nobody.
#[must_use]
pub fn removal(name: &str, now: &ModelChoice) -> UpdateConfigParams {
    let is_default =
        matches!(now, ModelChoice::Named(model) if model.split_once('/').is_some_and(|(of, _)| of == name));
    UpdateConfigParams {
        model: is_default.then_some(ModelChoice::Automatic),
        provider: Some(ProviderChange::Remove(name.to_owned())),
        ..UpdateConfigParams::default()
    }
}

/// Whether the server at this address answers nothing without a key.
#[must_use]
pub fn wants_key(base_url: &str) -> bool {
    KnownProvider::at(base_url).is_some_and(|known| !known.is_local())
}

/// Whether the provider may work although it gives no list of its models.
#[must_use]
pub const fn may_have_no_list(kind: ModelErrorKind) -> bool {
    matches!(kind, ModelErrorKind::NotFound | ModelErrorKind::Malformed)
}

/// `provider/model` of what a person typed. The provider's own name of a model may begin like that, too.
#[must_use]
pub fn whole_name(provider: &str, typed: &str, listed: &[String]) -> String {
    let whole = format!("{provider}/{typed}");
    let is_whole = typed.strip_prefix(provider).is_some_and(|rest| rest.starts_with('/'));
    if is_whole && !listed.contains(&whole) { typed.to_owned() } else { whole }
}

/// The provider's own name of a model.
#[must_use]
pub fn own_name<'a>(provider: &str, model: &'a str) -> &'a str {
    model.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(model)
}

/// The model that a person most likely wants, if that is clear.
#[must_use]
pub fn usual_model(provider: &str, listed: &[String]) -> Option<String> {
    let known = KnownProvider::named(provider).and_then(|known| known.model);
    let known = known.map(|model| format!("{provider}/{model}")).filter(|model| listed.contains(model));
    known.or_else(|| match listed {
        [only] => Some(only.clone()),
        _ => None,
    })
}

/// A name for the provider at this address: that by which it is known, else its host. Empty if there is none.
#[must_use]
pub fn name_at(base_url: &str) -> String {
    if let Some(known) = KnownProvider::at(base_url) {
        return known.name.to_owned();
    }
    let host = base_url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let name: String = host.chars().map(|c| if fits(c) { c } else { '-' }).take(64).collect();
    name.trim_matches(['-', '.']).to_ascii_lowercase()
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
    fn a_provider_has_the_name_by_which_its_address_is_known_or_that_of_its_host() {
        for (address, name) in [
            ("https://openrouter.ai/api/v1/", "openrouter"),
            ("https://LLM.example/v1", "llm.example"),
            ("http://10.0.0.7:8000", "10.0.0.7-8000"),
            ("http://[::1]:8000/v1", "1--8000"),
            ("http://me:secret@llm.example/v1", "llm.example"),
            ("llm.example", ""),
            ("", ""),
        ] {
            assert_eq!(name_at(address), name, "{address}");
        }
    }

    #[test]
    fn a_default_model_goes_with_its_provider() {
        for (now, expected) in [
            (ModelChoice::Named("corp/some".to_owned()), Some(ModelChoice::Automatic)),
            (ModelChoice::Named("corporate/some".to_owned()), None),
            (ModelChoice::Automatic, None),
        ] {
            assert_eq!(removal("corp", &now).model, expected, "{now:?}");
        }
    }
}
