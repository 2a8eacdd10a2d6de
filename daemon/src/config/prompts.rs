//! The templates of notes for the model: the user's files in the folder `prompts`, else the built-in ones.

use super::Config;
use crate::text_file::{self, Unusable};
use abide_engine::prompt::{self, Note};
use abide_protocol::task::{Mode, Phase};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// The largest file that is read, in bytes.
pub const MAX_BYTES: u64 = 16 * 1024;

/// Names of files in the folder `prompts` beside the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptsConfig {
    pub agent_reason_prompt_filename: Option<String>,
    pub agent_act_prompt_filename: Option<String>,
    pub agent_observe_prompt_filename: Option<String>,
    pub agent_plan_prompt_filename: Option<String>,
    pub agent_clarify_prompt_filename: Option<String>,
    pub agent_inquire_prompt_filename: Option<String>,
    pub agent_split_prompt_filename: Option<String>,
    pub agent_summarize_prompt_filename: Option<String>,
    pub agent_child_prompt_filename: Option<String>,
}

impl PromptsConfig {
    /// The file that the configuration names for this note.
    fn named(&self, note: Note) -> Option<&str> {
        match note {
            Note::Phase(Phase::Reason) => &self.agent_reason_prompt_filename,
            Note::Phase(Phase::Act) => &self.agent_act_prompt_filename,
            Note::Phase(Phase::Observe) => &self.agent_observe_prompt_filename,
            Note::Phase(Phase::Plan) => &self.agent_plan_prompt_filename,
            Note::Phase(Phase::Clarify) => &self.agent_clarify_prompt_filename,
            Note::Phase(Phase::Inquire) => &self.agent_inquire_prompt_filename,
            Note::Phase(Phase::Split) => &self.agent_split_prompt_filename,
            Note::Phase(Phase::Summarize) => &self.agent_summarize_prompt_filename,
            Note::Child => &self.agent_child_prompt_filename,
        }
        .as_deref()
    }
}

/// The name of a note's file, unless the configuration names another.
fn default_name(note: Note) -> String {
    format!("agent_{}_prompt.md", note.name())
}

/// A template and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub text: String,
    /// `None`: it is the built-in one.
    pub file: Option<PathBuf>,
}

/// A file with a template that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the prompt file {} {why}; correct it, or {}", path.display(), self.advice())]
pub struct PromptError {
    path: PathBuf,
    /// The key, if the configuration names the file.
    key: Option<String>,
    why: Unusable,
}

impl PromptError {
    fn advice(&self) -> String {
        match &self.key {
            Some(key) => format!("remove `{key}` from [prompts] for the default"),
            None => "move it away for the built-in prompt".to_owned(),
        }
    }
}

/// The template in force for a note. A file that the configuration names must be there; the one of the
/// default name need not be.
///
/// # Errors
/// The file cannot be used.
pub fn in_force(config: &PromptsConfig, folder: &Path, note: Note) -> Result<Template, PromptError> {
    let (named, default) = (config.named(note), default_name(note));
    let name = named.unwrap_or(&default);
    // `prompts` has no folders.
    let read = match Path::new(name).file_name() {
        Some(bare) if bare == name => text_file::read(folder, name, MAX_BYTES),
        _ => Err(Unusable::Outside(folder.to_owned())),
    };
    match read {
        Ok(text) => Ok(Template { text, file: Some(folder.join(name)) }),
        Err(Unusable::Missing) if named.is_none() => {
            let text = prompt::built_in_templates().get(&note).copied().unwrap_or_default();
            Ok(Template { text: text.to_owned(), file: None })
        }
        Err(why) => {
            let key = named.is_some().then(|| format!("agent_{}_prompt_filename", note.name()));
            Err(PromptError { path: folder.join(name), key, why })
        }
    }
}

/// The templates of a mode's notes, by name.
///
/// # Errors
/// A file cannot be used.
pub fn of_mode(config: &Config, folder: &Path, mode: Mode) -> Result<BTreeMap<String, String>, PromptError> {
    let template = |note: Note| {
        let found = in_force(&config.prompts, folder, note)?;
        Ok((note.name().to_owned(), found.text))
    };
    prompt::templates(mode).into_keys().map(template).collect()
}

/// Writes the built-in templates to their default names, beside files that exist. Returns the paths, and
/// whether each was written.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn write_built_in(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let built_in = prompt::built_in_templates();
    let files = built_in.into_iter().map(|(note, text)| (default_name(note), text));
    text_file::write_missing(folder, files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const REASON: Note = Note::Phase(Phase::Reason);

    fn config(lines: &str) -> PromptsConfig {
        Config::parse(&format!("[prompts]\n{lines}")).unwrap().prompts
    }

    #[test]
    fn the_named_file_else_the_default_name_else_the_built_in_one_is_in_force() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        let of = |config: &PromptsConfig| in_force(config, folder, REASON).map_err(|e| e.to_string());
        let none = PromptsConfig::default();
        let built_in = of(&none).unwrap();
        assert_eq!(built_in.file, None);
        assert!(built_in.text.contains("{last_observation}"));

        fs::write(folder.join("agent_reason_prompt.md"), "Mine: {user_question}").unwrap();
        let default = of(&none).unwrap();
        assert_eq!(default.text, "Mine: {user_question}");
        assert_eq!(default.file, Some(folder.join("agent_reason_prompt.md")));

        fs::write(folder.join("other.md"), "Other").unwrap();
        assert_eq!(of(&config("agent_reason_prompt_filename = \"other.md\"")).unwrap().text, "Other");
    }

    #[test]
    fn a_named_file_that_cannot_be_used_is_an_error_with_path_and_key() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("prompts");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("sub/x.md"), "x").unwrap();
        fs::write(dir.path().join("x.md"), "x").unwrap();
        for (name, says) in [
            ("none.md", "is not there"),
            ("agent_reason_prompt.md", "is not there"),
            ("../x.md", "is outside of"),
            ("sub/x.md", "is outside of"),
            ("..", "is outside of"),
            ("", "is outside of"),
        ] {
            let config = config(&format!("agent_reason_prompt_filename = {name:?}"));
            let words = in_force(&config, &folder, REASON).unwrap_err().to_string();
            assert!(words.contains(says), "{name}: {words}");
            assert!(words.contains("remove `agent_reason_prompt_filename`"), "{words}");
        }
    }

    #[test]
    fn a_file_of_the_default_name_that_cannot_be_used_is_an_error_too() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("agent_plan_prompt.md"), "x".repeat(16 * 1024 + 1)).unwrap();
        let config = Config::default();
        let words = of_mode(&config, dir.path(), Mode::Plan).unwrap_err().to_string();
        assert!(words.contains("over the limit of 16384; correct it, or move it away"), "{words}");
        let names = |mode| of_mode(&config, dir.path(), mode).unwrap().into_keys().collect::<Vec<_>>();
        assert_eq!(names(Mode::Chat), [""; 0], "it has no phases, and starts no sub-task");
        assert_eq!(names(Mode::Agent), ["child"]);
        assert_eq!(names(Mode::Roa), ["act", "child", "observe", "reason"]);
        assert_eq!(names(Mode::Tree), ["act", "child", "clarify", "inquire", "split", "summarize"]);
    }

    #[test]
    fn the_built_in_templates_are_written_once_and_overwrite_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("prompts");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("agent_act_prompt.md"), "Mine").unwrap();
        let written = write_built_in(&folder).unwrap();
        assert_eq!(written.iter().filter(|(_, is_new)| *is_new).count(), 8);
        assert_eq!(fs::read_to_string(folder.join("agent_act_prompt.md")).unwrap(), "Mine");
        let observe = fs::read_to_string(folder.join("agent_observe_prompt.md")).unwrap();
        assert_eq!(
            Some(observe.as_str()),
            prompt::built_in_templates().get(&Note::Phase(Phase::Observe)).copied()
        );
        assert!(write_built_in(&folder).unwrap().iter().all(|(_, is_new)| !is_new));
    }
}
