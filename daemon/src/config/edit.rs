//! Changes of the file's text that leave comments, order and everything else as they are.

use super::{Config, Problem};
use abide_protocol::method::config::ModelChoice;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// What a client changes. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// `[model] default`.
    pub model: Option<ModelChoice>,
    /// `[notify] enabled`.
    pub notifications: Option<bool>,
}

impl Change {
    /// The text with this change in it.
    ///
    /// # Errors
    /// The text is not understood, before or after.
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

/// What stands around the old value (a comment, say) stands around the new one.
fn set(document: &mut DocumentMut, table: &str, key: &str, mut value: Value) {
    let table = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    // `Config::parse` takes nothing but a table here.
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
    fn a_value_is_changed_and_all_around_it_stays() {
        assert_eq!(model("a/small").apply(FILE).unwrap(), FILE.replace("a/big", "a/small"));
        assert_eq!(model("a/big").apply(FILE).unwrap(), FILE);
        assert_eq!(Change::default().apply(FILE).unwrap(), FILE);
        assert_eq!(quiet().apply(FILE).unwrap(), format!("{FILE}\n[notify]\nenabled = false\n"));
    }

    #[test]
    fn what_is_not_there_is_added_and_what_is_taken_away_goes() {
        assert_eq!(model("a/b").apply("").unwrap(), "[model]\ndefault = \"a/b\"\n");
        assert_eq!(automatic().apply("[model]\ndefault = \"a/b\"\n").unwrap(), "[model]\n");
        assert_eq!(automatic().apply("").unwrap(), "");
    }

    #[test]
    fn every_way_to_write_a_table_is_understood() {
        for (before, after) in [
            ("model.default = \"a/b\"\n", "model.default = \"c/d\"\n"),
            ("model = { default = \"a/b\" }\n", "model = { default = \"c/d\" }\n"),
            ("[notify]\nenabled = true\n", "[notify]\nenabled = true\n\n[model]\ndefault = \"c/d\"\n"),
        ] {
            assert_eq!(model("c/d").apply(before).unwrap(), after);
        }
    }

    #[test]
    fn a_text_that_is_not_understood_is_not_changed() {
        let problem = quiet().apply("[task]\nmax_stepps = 3\n").unwrap_err();
        assert_eq!((problem.line, problem.key.as_deref()), (Some(2), Some("task.max_stepps")));
        let problem = model("no slash").apply("").unwrap_err();
        assert_eq!(problem.key.as_deref(), Some("model.default"));
    }
}
