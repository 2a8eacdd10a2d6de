//! The reference of `config.toml`, made of the tables in `reference.toml`.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A table of the file.
#[derive(Serialize, Deserialize)]
struct Table {
    /// The header in the file, with placeholders in capitals.
    #[serde(rename = "table")]
    header: String,
    meaning: String,
    /// When a change takes effect.
    applies: String,
    keys: Vec<Key>,
}

/// A key of a table.
#[derive(Serialize, Deserialize)]
struct Key {
    name: String,
    /// Type and unit.
    #[serde(rename = "type")]
    kind: String,
    /// In TOML, where it is a value.
    default: String,
    /// In TOML.
    example: String,
    meaning: String,
}

#[derive(Deserialize)]
struct Tables {
    tables: Vec<Table>,
}

fn tables() -> Result<Vec<Table>, toml::de::Error> {
    Ok(toml::from_str::<Tables>(include_str!("reference.toml"))?.tables)
}

const INTRODUCTION: &str = "\
# The configuration

`~/.config/abide/config.toml`, or `$ABIDE_HOME/config/config.toml`; `abide daemon status` shows which. It is
[TOML](https://toml.io/), every key is optional unless it says otherwise, and no file is the same as an empty one.

The daemon reads it again when it has changed: no restart is needed. An invalid file is refused with its line and key, and the
previous configuration stays in force, also when the daemon starts again; `abide daemon status`, `abide doctor`, `abide models` and
`abide run` report it.
`abide config check` checks it without a daemon, and `abide config edit` lets you edit a copy that takes its place only when it is valid.
API keys do not belong here: `abide key set PROVIDER` stores them.

This page is what `abide config reference` prints.
";

/// The reference page in Markdown.
///
/// # Errors
/// The built-in tables are not TOML.
pub fn reference() -> Result<String, toml::de::Error> {
    let tables = tables()?;
    let mut page = INTRODUCTION.to_owned();
    for table in &tables {
        let _ = write!(
            page,
            "\n## `[{}]`\n\n{}\nA change applies {}.\n\n",
            table.header, table.meaning, table.applies
        );
        page.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for Key { name, kind, default, meaning, .. } in &table.keys {
            let is_value = toml::from_str::<toml::Table>(&format!("v = {default}")).is_ok();
            let default = if is_value { format!("`{default}`") } else { default.clone() };
            let _ = writeln!(page, "| `{name}` | {kind} | {default} | {meaning} |");
        }
    }
    let _ = write!(page, "\n## All of it\n\n```toml\n{}```\n", example(&tables));
    Ok(page)
}

/// The tables and their keys, for programs.
///
/// # Errors
/// The built-in tables are not TOML.
pub fn reference_json() -> Result<String, toml::de::Error> {
    Ok(format!("{:#}", serde_json::json!(tables()?)))
}

/// An example file with every key.
fn example(tables: &[Table]) -> String {
    let mut file = String::new();
    for table in tables {
        // A provider has either an address or a script, so the example has one of each.
        for scripted in [false, true] {
            let is_script = |key: &&Key| key.name == "script";
            if scripted && !table.keys.iter().any(|key| is_script(&key)) {
                continue;
            }
            let name = if scripted { "tape" } else { "local" };
            let header = table.header.replace("PROVIDER/MODEL", "local/smollm2");
            let header = match header.split_once(".NAME") {
                Some((table @ ("personas" | "templates"), rest)) => format!("{table}.review{rest}"),
                Some((table, _)) => format!("{table}.{name}"),
                None => header,
            };
            let _ = writeln!(file, "{}[{header}]", if file.is_empty() { "" } else { "\n" });
            // A persona has either a prompt or a file with it.
            let is_here = |key: &&Key| is_script(key) == scripted || (scripted && key.name == "api");
            for key in table.keys.iter().filter(|key| is_here(key) && key.name != "prompt_file") {
                let value = if scripted && key.name == "api" { "\"scripted\"" } else { &key.example };
                let _ = writeln!(file, "{} = {value}", key.name);
            }
        }
    }
    file
}

#[cfg(test)]
mod tests;
