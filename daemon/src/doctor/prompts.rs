//! The diagnosis of the user's prompt files.

use super::Diagnosis;
use crate::config::{Config, prompts};
use abide_engine::prompt;
use abide_host::home::Home;

const ABOUT: &str = "prompts";

/// Whether each note's template can be used, and which names in braces it would keep.
pub(super) fn diagnosis(home: &Home, config: &Config) -> Diagnosis {
    let (mut files, mut noted, mut bad) = (Vec::new(), Vec::new(), Vec::new());
    for note in prompt::built_in_templates().into_keys() {
        match prompts::in_force(&config.prompts, &home.prompts_dir(), note) {
            Err(error) => bad.push(error.to_string()),
            Ok(template) => {
                let Some(path) = template.file else { continue };
                let path = path.display().to_string();
                for name in prompt::unknown_placeholders(note, &template.text) {
                    noted.push(format!("{path}: {{{name}}} is no placeholder there and stays as it is"));
                }
                files.push(path);
            }
        }
    }
    if !bad.is_empty() {
        let what = bad.join("; ");
        return Diagnosis::bad(ABOUT, format!("{what}; until then no task that needs it starts"));
    }
    if !noted.is_empty() {
        return Diagnosis::noted(
            ABOUT,
            format!("{}; `abide prompts` lists the placeholders", noted.join("; ")),
        );
    }
    Diagnosis::good(ABOUT, if files.is_empty() { "built in".to_owned() } else { files.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;
    use std::fs;

    #[test]
    fn unknown_placeholders_are_named_and_an_unusable_file_is_bad() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let of = |config: &str| {
            let found = diagnosis(&home, &Config::parse(config).unwrap());
            (found.health, found.words)
        };
        assert_eq!(of(""), (Health::Good, "built in".to_owned()));
        fs::create_dir_all(home.prompts_dir()).unwrap();
        let file = home.prompts_dir().join("agent_observe_prompt.md");
        fs::write(&file, "{step}: {tool_summaries}").unwrap();
        assert_eq!(of(""), (Health::Good, file.display().to_string()));
        fs::write(&file, "{step}: {tool_summary} {\"a\": 1}").unwrap();
        let (health, words) = of("");
        assert!(health == Health::Noted && words.contains("{tool_summary} is no placeholder"), "{words}");
        let (health, words) = of("[prompts]\nagent_act_prompt_filename = \"gone.md\"\n");
        assert!(health == Health::Bad && words.contains("gone.md is not there"), "{words}");
    }
}
