//! Edits the file's text; comments, order and everything else stay.

use super::{Config, Problem};
use abide_protocol::{
    method::config::{ModelChoice, ProviderChange, UpdateConfigParams},
    provider::ProviderEntry,
};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// The text with a client's change applied.
///
/// # Errors
/// The text is invalid, before or after the change.
pub fn changed(text: &str, change: &UpdateConfigParams) -> Result<String, Problem> {
    Config::parse(text)?;
    let mut document: DocumentMut =
        text.parse().map_err(|e: toml_edit::TomlError| Problem::of_edit(text, &e))?;
    match &change.model {
        None => {}
        Some(ModelChoice::Named(model)) => set(&mut document, "model", "default", model.as_str().into()),
        Some(ModelChoice::Automatic) => {
            if let Some(model) = document.get_mut("model").and_then(Item::as_table_like_mut) {
                model.remove("default");
            }
        }
    }
    if let Some(enabled) = change.notifications {
        set(&mut document, "notify", "enabled", enabled.into());
    }
    if let Some(enabled) = change.memory {
        set(&mut document, "memory", "enabled", enabled.into());
    }
    match &change.provider {
        None => {}
        Some(ProviderChange::Set(entry)) => set_provider(&mut document, entry),
        Some(ProviderChange::Remove(name)) => {
            if let Some(providers) = document.get_mut("providers").and_then(Item::as_table_like_mut) {
                providers.remove(name);
            }
        }
    }
    for (key, limit) in [("max_tokens", change.max_tokens), ("max_cost_micros", change.max_cost_micros)] {
        if let Some(limit) = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)) {
            set(&mut document, "task", key, limit.into());
        }
    }
    let text = document.to_string();
    Config::parse(&text)?;
    Ok(text)
}

fn set(document: &mut DocumentMut, table: &str, key: &str, value: Value) {
    let table = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    // `Config::parse` accepts only a table here.
    if let Some(table) = table.as_table_like_mut() {
        put(table, key, value);
    }
}

/// Other keys of an entry that is there stay.
fn set_provider(document: &mut DocumentMut, entry: &ProviderEntry) {
    let ProviderEntry { name, api, base_url, api_key_env } = entry;
    // `[providers]` has no keys of its own, and so no header.
    let mut providers = Table::new();
    providers.set_implicit(true);
    let providers = document.entry("providers").or_insert(Item::Table(providers));
    let Some(providers) = providers.as_table_like_mut() else { return };
    let table = providers.entry(name).or_insert(Item::Table(Table::new()));
    let Some(table) = table.as_table_like_mut() else { return };
    let values = [("api", Some(api)), ("base_url", Some(base_url)), ("api_key_env", api_key_env.as_ref())];
    for (key, value) in values {
        if let Some(value) = value {
            put(table, key, value.as_str().into());
        }
    }
}

/// Comments around the old value stay around the new one.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    if let Some(before) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = before.decor().clone();
    }
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(value),
        None => drop(table.insert(key, Item::Value(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> UpdateConfigParams {
        UpdateConfigParams {
            model: Some(ModelChoice::Named(name.to_owned())),
            ..UpdateConfigParams::default()
        }
    }

    fn automatic() -> UpdateConfigParams {
        UpdateConfigParams { model: Some(ModelChoice::Automatic), ..UpdateConfigParams::default() }
    }

    fn quiet() -> UpdateConfigParams {
        UpdateConfigParams { notifications: Some(false), ..UpdateConfigParams::default() }
    }

    const FILE: &str = "\
# Mine.
[model]
# The big one is slow.
default = \"a/big\"   # for now

[task]
max_steps = 7
";

    #[test]
    fn only_the_value_is_changed() {
        assert_eq!(changed(FILE, &model("a/small")).unwrap(), FILE.replace("a/big", "a/small"));
        assert_eq!(changed(FILE, &model("a/big")).unwrap(), FILE);
        assert_eq!(changed(FILE, &UpdateConfigParams::default()).unwrap(), FILE);
        assert_eq!(changed(FILE, &quiet()).unwrap(), format!("{FILE}\n[notify]\nenabled = false\n"));
        let limits = UpdateConfigParams {
            max_tokens: Some(0),
            max_cost_micros: Some(5_000_000),
            ..UpdateConfigParams::default()
        };
        assert_eq!(
            changed(FILE, &limits).unwrap(),
            format!("{FILE}max_tokens = 0\nmax_cost_micros = 5000000\n")
        );
    }

    #[test]
    fn missing_entries_are_added_and_automatic_removes_the_default() {
        assert_eq!(changed("", &model("a/b")).unwrap(), "[model]\ndefault = \"a/b\"\n");
        assert_eq!(changed("[model]\ndefault = \"a/b\"\n", &automatic()).unwrap(), "[model]\n");
        assert_eq!(changed("", &automatic()).unwrap(), "");
    }

    #[test]
    fn every_table_syntax_can_be_edited() {
        for (before, after) in [
            ("model.default = \"a/b\"\n", "model.default = \"c/d\"\n"),
            ("model = { default = \"a/b\" }\n", "model = { default = \"c/d\" }\n"),
            ("[notify]\nenabled = true\n", "[notify]\nenabled = true\n\n[model]\ndefault = \"c/d\"\n"),
        ] {
            assert_eq!(changed(before, &model("c/d")).unwrap(), after);
        }
    }

    fn provider(change: ProviderChange) -> UpdateConfigParams {
        UpdateConfigParams { provider: Some(change), ..UpdateConfigParams::default() }
    }

    fn corp(api_key_env: Option<&str>) -> ProviderEntry {
        ProviderEntry {
            name: "corp".to_owned(),
            api: "openai-chat".to_owned(),
            base_url: "https://llm.example/v1".to_owned(),
            api_key_env: api_key_env.map(str::to_owned),
        }
    }

    #[test]
    fn a_provider_is_added_after_the_others_and_removed_alone() {
        const OTHER: &str = "[providers.other]  # mine\napi = \"anthropic\"\n";
        let added = provider(ProviderChange::Set(corp(Some("CORP_KEY"))));
        let entry = "[providers.corp]\napi = \"openai-chat\"\nbase_url = \"https://llm.example/v1\"\n\
                     api_key_env = \"CORP_KEY\"\n";
        assert_eq!(changed("", &added).unwrap(), entry);
        let with = changed(&format!("{OTHER}\n{FILE}"), &added).unwrap();
        assert_eq!(with, format!("{OTHER}\n{entry}\n{FILE}"));
        let removed = provider(ProviderChange::Remove("corp".to_owned()));
        assert_eq!(changed(&with, &removed).unwrap(), format!("{OTHER}\n{FILE}"));
        assert_eq!(changed(FILE, &removed).unwrap(), FILE);
    }

    #[test]
    fn a_changed_provider_keeps_its_other_keys_in_every_syntax() {
        let change = provider(ProviderChange::Set(corp(None)));
        for before in [
            "[providers.corp]\n# slow\napi = \"anthropic\" # old\nmax_parallel = 2\nbase_url = \"http://h\"\n\
             api_key_env = \"CORP_KEY\"\n",
            "providers.corp = { api = \"anthropic\", base_url = \"http://h\" }\n",
            "[providers]\ncorp.api = \"anthropic\"\ncorp.base_url = \"http://h\"\n",
        ] {
            let after = before.replace("\"anthropic\"", "\"openai-chat\"");
            let after = after.replace("http://h", "https://llm.example/v1");
            assert_eq!(changed(before, &change).unwrap(), after);
        }
        let inline = changed("providers = { a = { api = \"anthropic\" } }\n", &change).unwrap();
        assert_eq!(Config::parse(&inline).unwrap().providers.len(), 2, "{inline}");
    }

    #[test]
    fn an_invalid_text_is_not_changed() {
        let problem = changed("[task]\nmax_stepps = 3\n", &quiet()).unwrap_err();
        assert_eq!((problem.line, problem.key.as_deref()), (Some(2), Some("task.max_stepps")));
        let problem = changed("", &model("no slash")).unwrap_err();
        assert_eq!(problem.key.as_deref(), Some("model.default"));
        let entry = ProviderEntry { base_url: "llm.example".to_owned(), ..corp(None) };
        let problem = changed("", &provider(ProviderChange::Set(entry))).unwrap_err();
        assert_eq!(problem.key.as_deref(), Some("providers.corp.base_url"));
    }
}
