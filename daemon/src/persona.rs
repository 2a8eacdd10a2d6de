//! Personas: a system prompt under a name, with the tools, mode, model and step limit that go with it.
//!
//! A persona is a file `personas/NAME.md` beside the configuration, else a built-in one of that name. What
//! the table `[personas.NAME]` says overrides it.

mod front_matter;

use crate::{
    config::Config,
    text_file::{self, Unusable},
};
use abide_host::home::Home;
use abide_protocol::task::Mode;
use front_matter::Value;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

/// The largest file of a persona or of its prompt, in bytes.
const MAX_FILE: u64 = 32 * 1024;
/// The context files of a persona together, in bytes.
const MAX_CONTEXT: u64 = 32 * 1024;

/// The personas that need no file, each as its file would be.
const BUILT_IN: [(&str, &str); 3] = [
    ("coder", include_str!("persona/built_in/coder.md")),
    ("researcher", include_str!("persona/built_in/researcher.md")),
    ("reviewer", include_str!("persona/built_in/reviewer.md")),
];

/// The settings of a persona in its file or in its table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersonaConfig {
    pub description: Option<String>,
    pub prompt: Option<String>,
    /// A file in the configuration's folder.
    pub prompt_file: Option<String>,
    /// Files in the configuration's folder whose texts follow the prompt.
    pub context: Option<Vec<String>>,
    /// `None`: all tools.
    pub tools: Option<Vec<String>>,
    pub mode: Option<Mode>,
    /// `provider/model`.
    pub model: Option<String>,
    pub max_steps: Option<u32>,
}

/// A persona with its files' texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    pub name: String,
    pub description: String,
    /// With the context after it.
    pub prompt: String,
    pub tools: Option<Vec<String>>,
    pub mode: Option<Mode>,
    pub model: Option<String>,
    pub max_steps: Option<u32>,
}

/// Why a persona cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PersonaError {
    #[error("there is no persona {name:?}; there are {}", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("the persona file {}, {what}; correct it", path.display())]
    Wrong { path: PathBuf, what: String },
    #[error("the persona {name:?} has no prompt; give `prompt` or `prompt_file` under [personas.{name}], or write {}", path.display())]
    NoPrompt { name: String, path: PathBuf },
    #[error("the context of the persona {name:?} has more than {MAX_CONTEXT} bytes; shorten it")]
    LongContext { name: String },
}

/// A file that a persona needs and that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the persona {name:?} cannot be used: {} {why}", path.display())]
pub struct FileError {
    name: String,
    path: PathBuf,
    why: Unusable,
}

/// Where a persona is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    File(PathBuf),
    /// Only in the configuration.
    Config,
}

/// A name that a persona may have; it is also a file's name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.chars().all(fits)
}

/// The personas under a configuration. Reads files.
#[derive(Debug, Clone, Copy)]
pub struct Personas<'a> {
    pub config: &'a Config,
    pub home: &'a Home,
}

impl Personas<'_> {
    /// All names, with where each is defined.
    #[must_use]
    pub fn names(&self) -> BTreeMap<String, Source> {
        let mut names: BTreeMap<String, Source> =
            self.config.personas.keys().map(|name| (name.clone(), Source::Config)).collect();
        names.extend(BUILT_IN.map(|(name, _)| (name.to_owned(), Source::BuiltIn)));
        // A folder that cannot be read has no personas; one that is asked for by its name says why.
        for entry in std::fs::read_dir(self.home.personas_dir()).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_persona = path.extension().is_some_and(|extension| extension == "md");
            if let Some(name) =
                path.file_stem().and_then(|stem| stem.to_str()).filter(|name| is_persona && is_name(name))
            {
                names.insert(name.to_owned(), Source::File(path));
            }
        }
        names
    }

    /// The persona of this name.
    ///
    /// # Errors
    /// There is none, or one of its files cannot be used.
    pub fn get(&self, name: &str) -> Result<Persona, PersonaError> {
        let unknown =
            || PersonaError::Unknown { name: name.to_owned(), known: self.names().into_keys().collect() };
        if !is_name(name) {
            return Err(unknown());
        }
        let table = self.config.personas.get(name);
        let file = self.file(name)?;
        if table.is_none() && file.is_none() {
            return Err(unknown());
        }
        let (table, file) = (table.cloned().unwrap_or_default(), file.unwrap_or_default());
        let prompt = match (table.prompt, table.prompt_file) {
            (Some(prompt), _) => Some(prompt),
            (None, Some(of)) => Some(self.read(name, &of, MAX_FILE)?),
            (None, None) => file.prompt,
        };
        let mut prompt =
            prompt.filter(|prompt| !prompt.trim().is_empty()).ok_or_else(|| PersonaError::NoPrompt {
                name: name.to_owned(),
                path: self.home.personas_dir().join(format!("{name}.md")),
            })?;
        prompt.push_str(&self.context(name, &table.context.or(file.context).unwrap_or_default())?);
        Ok(Persona {
            name: name.to_owned(),
            description: table.description.or(file.description).unwrap_or_default(),
            prompt,
            tools: table.tools.or(file.tools),
            mode: table.mode.or(file.mode),
            model: table.model.or(file.model),
            max_steps: table.max_steps.or(file.max_steps),
        })
    }

    /// Where the persona's tools are named: its table, else its file.
    #[must_use]
    pub fn place_of_tools(&self, name: &str) -> String {
        if self.config.personas.get(name).is_some_and(|table| table.tools.is_some()) {
            return format!("`tools` under [personas.{name}] in config.toml");
        }
        let path = self.home.personas_dir().join(format!("{name}.md"));
        if path.exists() { format!("`tools` in {}", path.display()) } else { "it is built in".to_owned() }
    }

    /// The settings in the persona's file. Without a file: those of the built-in persona.
    fn file(&self, name: &str) -> Result<Option<PersonaConfig>, PersonaError> {
        let folder = self.home.personas_dir();
        let path = folder.join(format!("{name}.md"));
        let text = match text_file::read(&folder, &format!("{name}.md"), MAX_FILE) {
            Ok(text) => text,
            Err(Unusable::Missing) => match BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
                Some((_, text)) => (*text).to_owned(),
                None => return Ok(None),
            },
            Err(why) => return Err(FileError { name: name.to_owned(), path, why }.into()),
        };
        parse(&text).map(Some).map_err(|what| PersonaError::Wrong { path, what })
    }

    /// A file in the configuration's folder that the persona names. The file of keys is none.
    fn read(&self, name: &str, file: &str, max: u64) -> Result<String, FileError> {
        let folder = &self.home.config_dir;
        let keys = self.home.key_file().canonicalize().ok();
        let read = if keys.is_some() && folder.join(file).canonicalize().ok() == keys {
            Err(Unusable::Secret)
        } else {
            text_file::read(folder, file, max)
        };
        read.map_err(|why| FileError { name: name.to_owned(), path: folder.join(file), why })
    }

    /// The texts of the context files, each under its name; a file that is named twice is there once.
    fn context(&self, name: &str, files: &[String]) -> Result<String, PersonaError> {
        let (mut context, mut room, mut seen) = (String::new(), MAX_CONTEXT, BTreeSet::new());
        for file in files.iter().filter(|file| seen.insert(file.as_str())) {
            let text = match self.read(name, file, room) {
                Err(FileError { why: Unusable::TooLarge { .. }, .. }) => {
                    return Err(PersonaError::LongContext { name: name.to_owned() });
                }
                read => read?,
            };
            room -= text.len() as u64;
            context.push_str(&format!("\n\n# {file}\n\n{}", text.trim()));
        }
        Ok(context)
    }
}

/// Writes the built-in personas as files, beside those that exist. Returns the paths, and whether each was
/// written.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn write_built_in(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    text_file::write_missing(folder, BUILT_IN.map(|(name, text)| (format!("{name}.md"), text)))
}

/// Reads a persona's file.
fn parse(text: &str) -> Result<PersonaConfig, String> {
    let (values, body) = front_matter::split(text)?;
    let mut persona = PersonaConfig { prompt: Some(body.trim().to_owned()), ..PersonaConfig::default() };
    for (key, value) in values {
        match (key.as_str(), value) {
            ("description" | "context" | "tools" | "mode" | "model" | "max_steps", Value::Blank) => {}
            ("description", Value::Text(text)) => persona.description = Some(text),
            ("context", Value::List(files)) => persona.context = Some(files),
            ("tools", Value::List(tools)) => persona.tools = Some(tools),
            ("mode", Value::Text(mode)) => {
                let known = Mode::ALL.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(", ");
                persona.mode =
                    Some(mode.parse().map_err(|_| format!("`mode`: {mode:?} is none of {known}"))?);
            }
            ("model", Value::Text(model)) => persona.model = Some(model),
            ("max_steps", Value::Text(steps)) => {
                let number =
                    steps.parse().map_err(|_| format!("`max_steps`: {steps:?} is not a whole number"))?;
                persona.max_steps = Some(number);
            }
            ("context" | "tools", Value::Text(_)) => {
                return Err(format!("`{key}` is not a list, as in [a, b]"));
            }
            ("description" | "mode" | "model" | "max_steps", Value::List(_)) => {
                return Err(format!("`{key}` is a list"));
            }
            _ => {
                return Err(format!(
                    "`{key}` is none of description, context, tools, mode, model, max_steps"
                ));
            }
        }
    }
    Ok(persona)
}

#[cfg(test)]
mod tests;
