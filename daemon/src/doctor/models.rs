//! Diagnoses of the providers and the default model, from the providers' answers.

use super::Diagnosis;
use abide_protocol::{
    method::daemon::ListModelsReply,
    provider::{KeyState, ProviderInfo},
};

pub(super) fn diagnoses(listed: &ListModelsReply) -> Vec<Diagnosis> {
    let default = listed.default.model.split('/').next().unwrap_or_default();
    let of_provider = |info: &ProviderInfo| provider(info, info.name == default);
    listed.providers.iter().map(of_provider).chain([default_model(listed)]).collect()
}

fn provider(info: &ProviderInfo, is_default: bool) -> Diagnosis {
    const ABOUT: &str = "provider";
    let name = &info.name;
    match (&info.problem, info.models.len()) {
        _ if info.key == KeyState::Missing => {
            Diagnosis::noted(ABOUT, format!("{name}: no key; `abide key set {name}` stores one"))
        }
        (Some(problem), _) if is_default => Diagnosis::bad(ABOUT, problem),
        (Some(problem), _) => Diagnosis::noted(ABOUT, problem),
        (None, 1) => Diagnosis::good(ABOUT, format!("{name}: 1 model")),
        (None, models) => Diagnosis::good(ABOUT, format!("{name}: {models} models")),
    }
}

/// Whether a task that names no model would get an answer.
fn default_model(listed: &ListModelsReply) -> Diagnosis {
    const ABOUT: &str = "default model";
    let default = &listed.default;
    let words = format!("{}: {}", default.model, default.why);
    let name = default.model.split('/').next().unwrap_or_default();
    let Some(provider) = listed.providers.iter().find(|provider| provider.name == name) else {
        let advice = "configure the provider, or choose a model that `abide models` lists";
        return Diagnosis::bad(ABOUT, format!("{words}; {advice}"));
    };
    if provider.key == KeyState::Missing {
        return Diagnosis::bad(ABOUT, format!("{words}; {name} has no key: `abide key set {name}`"));
    }
    if provider.problem.is_some() {
        return Diagnosis::bad(ABOUT, format!("{words}; it does not answer, see {name} above"));
    }
    if provider.api == "scripted" && provider.source == "config" {
        // It was chosen on purpose, and plays its script whatever the model is called.
        return Diagnosis::good(ABOUT, words);
    }
    if provider.api == "scripted" {
        let is_usable = |other: &ProviderInfo| other.source == "config" && other.key != KeyState::Missing;
        if listed.providers.iter().any(is_usable) {
            return Diagnosis::noted(ABOUT, words);
        }
        return Diagnosis::noted(ABOUT, format!("{words}; `abide provider add` sets up another one"));
    }
    if !provider.models.contains(&default.model) {
        return Diagnosis::noted(ABOUT, format!("{words}; {name} does not list it, and may not have it"));
    }
    Diagnosis::good(ABOUT, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;
    use abide_protocol::{
        provider::DefaultModel,
        task::{Limits, Mode},
    };

    fn of_default(model: &str, providers: Vec<ProviderInfo>) -> Diagnosis {
        let default = DefaultModel { model: model.to_owned(), why: "because".to_owned() };
        let diagnoses = diagnoses(&ListModelsReply {
            providers,
            default,
            limits: Limits::default(),
            mode: Mode::Auto,
            steps: Vec::new(),
        });
        let found = diagnoses.into_iter().find(|diagnosis| diagnosis.about == "default model").unwrap();
        assert!(found.words.starts_with(&format!("{model}: because")), "{}", found.words);
        found
    }

    fn configured() -> ProviderInfo {
        ProviderInfo {
            name: "corp".to_owned(),
            api: "openai-chat".to_owned(),
            base_url: "http://h".to_owned(),
            source: "config".to_owned(),
            key: KeyState::NotNeeded,
            models: vec!["corp/m".to_owned()],
            problem: None,
        }
    }

    #[test]
    fn another_provider_is_proposed_only_if_none_is_set_up() {
        let demo = ProviderInfo {
            name: "demo".to_owned(),
            api: "scripted".to_owned(),
            source: "built in".to_owned(),
            ..configured()
        };
        let keyless = ProviderInfo { key: KeyState::Missing, ..configured() };
        for (other, proposed) in [(configured(), false), (keyless, true)] {
            let found = of_default("demo/demo", vec![demo.clone(), other]);
            assert_eq!((found.health, found.words.contains("abide provider add")), (Health::Noted, proposed));
        }
    }

    #[test]
    fn a_default_model_is_well_only_if_its_provider_lists_it() {
        let provider = configured();
        let silent = ProviderInfo { problem: Some("no".to_owned()), models: vec![], ..provider.clone() };
        let keyless = ProviderInfo { key: KeyState::Missing, ..provider.clone() };
        let scripted = ProviderInfo { api: "scripted".to_owned(), ..provider.clone() };
        let fallback = ProviderInfo { source: "built in".to_owned(), ..scripted.clone() };
        for (model, provider, expected) in [
            ("corp/m", provider.clone(), Health::Good),
            ("corp/other", provider.clone(), Health::Noted),
            // Somebody wants that one; the other is there since nothing else is.
            ("corp/m", scripted.clone(), Health::Good),
            ("corp/any", scripted, Health::Good),
            ("corp/m", fallback, Health::Noted),
            ("corp/m", silent, Health::Bad),
            ("corp/m", keyless, Health::Bad),
            ("gone/m", provider, Health::Bad),
        ] {
            assert_eq!(of_default(model, vec![provider.clone()]).health, expected, "{model} of {provider:?}");
        }
    }
}
