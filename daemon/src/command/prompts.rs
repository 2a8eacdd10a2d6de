//! `abided prompts`: which file is in force for each note; `--write` writes the built-in templates to edit.

use crate::{failure, say, usage};
use abide_daemon::config::{Config, PromptsConfig, prompts};
use abide_engine::prompt::{self, Note};
use abide_host::{home::Home, text::visible_line};
use serde_json::{Value, json};
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let (mut as_json, mut write) = (false, false);
    for argument in arguments {
        match *argument {
            "--json" => as_json = true,
            "--write" => write = true,
            _ => return usage(),
        }
    }
    let done = if write { write_built_in(as_json) } else { list(as_json) };
    done.unwrap_or_else(|error| failure::failed(&error.to_string(), as_json))
}

/// Fails if a file cannot be used: a task of a mode with its note does not start.
fn list(as_json: bool) -> anyhow::Result<ExitCode> {
    let home = Home::from_env()?;
    let config = Config::load(&home.config_file())?;
    let notes = prompt::built_in_templates().into_keys();
    let rows: Vec<Value> = notes.map(|note| row(&home, &config.prompts, note)).collect();
    if as_json {
        say(&Value::from(rows.clone()).to_string());
    } else {
        for row in &rows {
            say(&visible_line(&line(row)));
        }
        say("`abide prompts --write` writes the built-in ones to edit.");
    }
    let is_well = rows.iter().all(|row| row["problem"].is_null());
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(home: &Home, config: &PromptsConfig, note: Note) -> Value {
    let placeholders = prompt::placeholders(note);
    match prompts::in_force(config, &home.prompts_dir(), note) {
        Ok(found) => json!({
            "prompt": note.name(),
            "file": found.file,
            "placeholders": placeholders,
            "unknownPlaceholders": prompt::unknown_placeholders(note, &found.text),
        }),
        Err(error) => {
            json!({ "prompt": note.name(), "placeholders": placeholders, "problem": error.to_string() })
        }
    }
}

fn line(row: &Value) -> String {
    let from = row["problem"].as_str().or_else(|| row["file"].as_str()).unwrap_or("built in");
    let names = |key: &str| {
        let names = row[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        names.map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(" ")
    };
    let mut line = format!("{:<9} {from}", row["prompt"].as_str().unwrap_or_default());
    let placeholders = names("placeholders");
    if !placeholders.is_empty() {
        line.push_str(&format!("; it may use {placeholders}"));
    }
    let unknown = names("unknownPlaceholders");
    if !unknown.is_empty() {
        line.push_str(&format!("; unknown: {unknown}"));
    }
    line
}

fn write_built_in(as_json: bool) -> anyhow::Result<ExitCode> {
    let folder = Home::from_env()?.prompts_dir();
    let written = prompts::write_built_in(&folder);
    Ok(say(&written_files(&folder, written, as_json)?))
}

/// The words about files that were written, or left as they are.
pub(crate) fn written_files(
    folder: &Path,
    written: io::Result<Vec<(PathBuf, bool)>>,
    as_json: bool,
) -> anyhow::Result<String> {
    let written =
        written.map_err(|error| anyhow::anyhow!("cannot write into {}: {error}", folder.display()))?;
    if as_json {
        let rows = written.iter().map(|(path, is_new)| json!({ "file": path, "written": is_new }));
        return Ok(rows.collect::<Value>().to_string());
    }
    let line = |(path, is_new): &(PathBuf, bool)| {
        let did = if *is_new { "written" } else { "exists already, left as it is" };
        visible_line(&format!("{}: {did}", path.display())).into_owned()
    };
    Ok(written.iter().map(line).collect::<Vec<_>>().join("\n"))
}
