//! Edits the file's text; comments, order and everything else stay.

use super::{Config, Problem};
use abide_protocol::method::config::ModelChoice;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// A client's change of the configuration. `None` leaves a setting as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// `[model] default`.
    pub model: Option<ModelChoice>,
    /// `[notify] enabled`.
    pub notifications: Option<bool>,
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
        let text = document.to_string();
        Config::parse(&text)?;
        Ok(text)
    }
}

/// Comments around the old value stay around the new one.
fn set(document: &mut DocumentMut, table: &str, key: &str, mut value: Value) {
    let table = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    // `Config::parse` accepts only a table here.
    let Some(table) = table.as_table_like_mut() else { return };
    if let Some(before) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = before.decor().clone();
    }
    put(table, key, value);
}

fn put(table: &mut dyn TableLike, key: &str, value: Value) {
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(value),
        None => drop(table.insert(key, Item::Value(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Change {
        Change { model: Some(ModelChoice::Named(name.to_owned())), notifications: None }
    }

    fn automatic() -> Change {
        Change { model: Some(ModelChoice::Automatic), notifications: None }
    }

    fn quiet() -> Change {
        Change { model: None, notifications: Some(false) }
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

    #[test]
    fn an_invalid_text_is_not_changed() {
        let problem = quiet().apply("[task]\nmax_stepps = 3\n").unwrap_err();
        assert_eq!((problem.line, problem.key.as_deref()), (Some(2), Some("task.max_stepps")));
        let problem = model("no slash").apply("").unwrap_err();
        assert_eq!(problem.key.as_deref(), Some("model.default"));
    }
}
