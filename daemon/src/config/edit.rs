//! Edits the file's text; comments, order and everything else stay.

use super::{Config, Problem};
use abide_protocol::{
    method::config::{ModelChoice, ProviderChange},
    provider::ProviderEntry,
};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// A client's change of the configuration. `None` leaves a setting as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// `[model] default`.
    pub model: Option<ModelChoice>,
    /// `[notify] enabled`.
    pub notifications: Option<bool>,
    /// An entry of `[providers]`. The one to remove is there.
    pub provider: Option<ProviderChange>,
}

impl Change {
    /// The text with this change applied.
    ///
    /// # Errors
    /// The text is invalid, before or after the change.
    pub fn apply(&self, text: &str) -> Result<String, Problem> {
        Config::parse(text)?;
        let mut document: DocumentMut =
            text.parse().map_err(|e: toml_edit::TomlError| Problem::of_edit(text, &e))?;
        match &self.model {
            None => {}
            Some(ModelChoice::Named(model)) => set(&mut document, "model", "default", model.as_str().into()),
            Some(ModelChoice::Automatic) => {
                if let Some(model) = document.get_mut("model").and_then(Item::as_table_like_mut) {
                    model.remove("default");
                }
            }
        }
        if let Some(enabled) = self.notifications {
            set(&mut document, "notify", "enabled", enabled.into());
        }
        match &self.provider {
            None => {}
            Some(ProviderChange::Set(entry)) => set_provider(&mut document, entry),
            Some(ProviderChange::Remove(name)) => {
                if let Some(providers) = document.get_mut("providers").and_then(Item::as_table_like_mut) {
                    providers.remove(name);
                }
            }
        }
        let text = document.to_string();
        Config::parse(&text)?;
        Ok(text)
    }
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

    fn model(name: &str) -> Change {
        Change { model: Some(ModelChoice::Named(name.to_owned())), ..Change::default() }
    }

    fn automatic() -> Change {
        Change { model: Some(ModelChoice::Automatic), ..Change::default() }
    }

    fn quiet() -> Change {
        Change { notifications: Some(false), ..Change::default() }
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
        assert_eq!(model("a/small").apply(FILE).unwrap(), FILE.replace("a/big", "a/small"));
        assert_eq!(model("a/big").apply(FILE).unwrap(), FILE);
        assert_eq!(Change::default().apply(FILE).unwrap(), FILE);
        assert_eq!(quiet().apply(FILE).unwrap(), format!("{FILE}\n[notify]\nenabled = false\n"));
    }

    #[test]
    fn missing_entries_are_added_and_automatic_removes_the_default() {
        assert_eq!(model("a/b").apply("").unwrap(), "[model]\ndefault = \"a/b\"\n");
        assert_eq!(automatic().apply("[model]\ndefault = \"a/b\"\n").unwrap(), "[model]\n");
        assert_eq!(automatic().apply("").unwrap(), "");
    }

    #[test]
    fn every_table_syntax_can_be_edited() {
        for (before, after) in [
            ("model.default = \"a/b\"\n", "model.default = \"c/d\"\n"),
            ("model = { default = \"a/b\" }\n", "model = { default = \"c/d\" }\n"),
            ("[notify]\nenabled = true\n", "[notify]\nenabled = true\n\n[model]\ndefault = \"c/d\"\n"),
        ] {
            assert_eq!(model("c/d").apply(before).unwrap(), after);
        }
    }

    fn provider(change: ProviderChange) -> Change {
        Change { provider: Some(change), ..Change::default() }
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
        assert_eq!(added.apply("").unwrap(), entry);
        let with = added.apply(&format!("{OTHER}\n{FILE}")).unwrap();
        assert_eq!(with, format!("{OTHER}\n{entry}\n{FILE}"));
        let removed = provider(ProviderChange::Remove("corp".to_owned()));
        assert_eq!(removed.apply(&with).unwrap(), format!("{OTHER}\n{FILE}"));
        assert_eq!(removed.apply(FILE).unwrap(), FILE);
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
            assert_eq!(change.apply(before).unwrap(), after);
        }
        let inline = change.apply("providers = { a = { api = \"anthropic\" } }\n").unwrap();
        assert_eq!(Config::parse(&inline).unwrap().providers.len(), 2, "{inline}");
    }

    #[test]
    fn an_invalid_text_is_not_changed() {
        let problem = quiet().apply("[task]\nmax_stepps = 3\n").unwrap_err();
        assert_eq!((problem.line, problem.key.as_deref()), (Some(2), Some("task.max_stepps")));
        let problem = model("no slash").apply("").unwrap_err();
        assert_eq!(problem.key.as_deref(), Some("model.default"));
        let entry = ProviderEntry { base_url: "llm.example".to_owned(), ..corp(None) };
        let problem = provider(ProviderChange::Set(entry)).apply("").unwrap_err();
        assert_eq!(problem.key.as_deref(), Some("providers.corp.base_url"));
    }
}
