//! Checks that the types do not express.

use super::{Config, EmbedderConfig, Problem, Provider};
use crate::persona::{PersonaConfig, is_name};
use abide_model::ServerLocation;
use abide_protocol::provider::is_provider_name;

pub(super) fn check(config: &Config) -> Result<(), Problem> {
    if let Some(model) = &config.model.default {
        model_name("model.default", model)?;
    }
    if let EmbedderConfig::Model(model) = &config.memory.embedder {
        let what = format!("{model:?} is neither \"auto\", \"off\" nor \"builtin\", and not PROVIDER/MODEL");
        let problem = |_| Problem::new("memory.embedder", what, "use one of these");
        model_name("memory.embedder", model).map_err(problem)?;
    }
    for (name, provider) in &config.providers {
        provider_name(name)?;
        check_provider(name, provider)?;
    }
    for model in config.prices.keys() {
        model_name(&format!("prices.\"{model}\""), model)?;
    }
    config.sandbox.check()?;
    config.tools.check()?;
    config.worktree.check()?;
    config.http.check()?;
    for (name, persona) in &config.personas {
        task_name("personas", name)?;
        check_persona(name, persona)?;
    }
    for (name, template) in &config.templates {
        task_name("templates", name)?;
        if !template.takes_input() {
            let key = format!("templates.{name}.prompt");
            return Err(Problem::new(key, "has no {input}", "put {input} where the message goes"));
        }
    }
    Ok(())
}

/// A persona's or a template's name.
fn task_name(table: &str, name: &str) -> Result<(), Problem> {
    if is_name(name) {
        return Ok(());
    }
    Err(Problem::new(
        format!("{table}.{name:?}"),
        "a name has 1 to 64 of the characters a-z A-Z 0-9 - _ . and does not begin with a dot",
        "rename it",
    ))
}

fn check_persona(name: &str, persona: &PersonaConfig) -> Result<(), Problem> {
    let key = |field: &str| format!("personas.{name}.{field}");
    if persona.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
        return Err(Problem::new(key("prompt"), "is empty", "say who the persona is, or remove it"));
    }
    if persona.prompt.is_some() && persona.prompt_file.is_some() {
        return Err(Problem::new(key("prompt_file"), "is there beside `prompt`", "remove one of them"));
    }
    if let Some(model) = &persona.model {
        model_name(&key("model"), model)?;
    }
    Ok(())
}

fn model_name(key: &str, model: &str) -> Result<(), Problem> {
    match model.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(()),
        _ => Err(Problem::new(
            key,
            format!("{model:?} is not PROVIDER/MODEL"),
            "name both, as `abide models` lists them",
        )),
    }
}

fn provider_name(name: &str) -> Result<(), Problem> {
    if is_provider_name(name) {
        return Ok(());
    }
    Err(Problem::new(
        format!("providers.{name:?}"),
        "a provider's name has 1 to 64 of the characters a-z A-Z 0-9 - _ .",
        "rename it",
    ))
}

fn check_provider(name: &str, provider: &Provider) -> Result<(), Problem> {
    let key = |field: &str| format!("providers.{name}.{field}");
    let is_vendor = matches!(name, "openai" | "anthropic");
    match provider.api.location() {
        ServerLocation::File if provider.base_url.is_some() => {
            return Err(Problem::new(
                key("base_url"),
                "a provider that plays a file has no address",
                "remove it",
            ));
        }
        ServerLocation::File if provider.script.is_none() => {
            return Err(Problem::new(key("script"), "is missing", "name the file of replies"));
        }
        ServerLocation::Address { .. } if provider.script.is_some() => {
            let problem =
                format!("is not for `api = {:?}`, whose providers have an address", provider.api.name());
            return Err(Problem::new(key("script"), problem, "remove it"));
        }
        ServerLocation::Address { is_imitated: true, base_url, .. }
            if provider.base_url.is_none() && !is_vendor =>
        {
            let advice = format!("give its address. {base_url}");
            return Err(Problem::new(key("base_url"), "is missing", advice));
        }
        ServerLocation::File | ServerLocation::Address { .. } => {}
    }
    if let Some(url) = &provider.base_url {
        web_address(&key("base_url"), url)?;
    }
    if provider.max_parallel == Some(0) {
        let advice = "give at least 1, or remove it for the default";
        return Err(Problem::new(key("max_parallel"), "0 would never ask the model", advice));
    }
    if provider.stall_timeout_secs == Some(0) {
        let advice = "give at least 1, or remove it for the default";
        return Err(Problem::new(key("stall_timeout_secs"), "0 would give up at once", advice));
    }
    if provider.api_key_env.as_ref().is_some_and(|env| !variable_name(env)) {
        // The value is not shown: it may be a key that was put here by mistake.
        let advice =
            "give the variable's name, as in \"LOCAL_API_KEY\"; a key itself is kept by `abide key set`";
        return Err(Problem::new(key("api_key_env"), "is not the name of an environment variable", advice));
    }
    Ok(())
}

pub(super) fn variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `http` or `https`, without a user name and password, which would appear in logs.
fn web_address(key: &str, url: &str) -> Result<(), Problem> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let Some(authority) = rest.map(|r| r.split(['/', '?', '#']).next().unwrap_or_default()) else {
        return Err(Problem::new(key, "is not an http:// or https:// address", "correct it"));
    };
    if authority.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Problem::new(key, "is not an http:// or https:// address", "correct it"));
    }
    if authority.contains('@') {
        let advice = "remove the part before `@`; a key is kept by `abide key set`";
        return Err(Problem::new(key, "holds a name or password", advice));
    }
    Ok(())
}
