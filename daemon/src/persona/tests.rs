use super::*;
use std::fs;

struct Place {
    dir: tempfile::TempDir,
    home: Home,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        fs::create_dir_all(home.personas_dir()).unwrap();
        Self { dir, home }
    }

    /// Writes a file of the configuration's folder.
    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.home.config_dir.join(name), text).unwrap();
    }

    fn get(&self, config: &str, name: &str) -> Result<Persona, String> {
        let config = Config::parse(config).unwrap();
        Personas { config: &config, home: &self.home }.get(name).map_err(|e| e.to_string())
    }
}

#[test]
fn the_built_in_personas_can_be_used_and_written_to_edit() {
    let place = Place::new();
    for (name, _) in BUILT_IN {
        let persona = place.get("", name).unwrap();
        assert!(!persona.description.is_empty() && !persona.prompt.starts_with("---"), "{name}");
    }
    place.file("personas/reviewer.md", "Mine.");
    let written = write_built_in(&place.home.personas_dir()).unwrap();
    assert_eq!(written.iter().filter(|(_, is_new)| *is_new).count(), 2);
    let config = Config::default();
    let names = Personas { config: &config, home: &place.home }.names();
    assert!(names.len() == 3 && names.values().all(|source| matches!(source, Source::File(_))), "{names:?}");
    assert_eq!(place.get("", "reviewer").unwrap().prompt, "Mine.");
    assert_eq!(
        place.get("", "reviewer").unwrap().tools,
        None,
        "a file replaces the built-in persona as a whole"
    );
}

#[test]
fn a_table_overrides_a_file_key_by_key() {
    let place = Place::new();
    let text =
        "---\ndescription: Writes\ntools: [read]\nmode: plan\nmodel: a/b\nmax_steps: 7\n---\nYou write.\n";
    place.file("personas/poet.md", text);
    let file = place.get("", "poet").unwrap();
    assert_eq!((file.prompt.as_str(), file.mode, file.max_steps), ("You write.", Some(Mode::Plan), Some(7)));
    let poet = place.get("[personas.poet]\nmode = \"roa\"\ntools = []\n", "poet").unwrap();
    assert_eq!(poet, Persona { mode: Some(Mode::Roa), tools: Some(Vec::new()), ..file });
    place.file("rhyme.md", "You rhyme.");
    assert_eq!(
        place.get("[personas.poet]\nprompt_file = \"rhyme.md\"\n", "poet").unwrap().prompt,
        "You rhyme."
    );
}

#[test]
fn context_files_follow_the_prompt_once_each() {
    let place = Place::new();
    place.file("style.md", "Short.\n");
    let of =
        |context: &str| place.get(&format!("[personas.x]\nprompt = \"You.\"\ncontext = {context}\n"), "x");
    assert_eq!(of(r#"["style.md", "style.md"]"#).unwrap().prompt, "You.\n\n# style.md\n\nShort.");
    place.file("half.md", "x".repeat(16 * 1024));
    place.file("other.md", "x".repeat(16 * 1024));
    assert!(of(r#"["half.md", "other.md"]"#).is_ok());
    let words = of(r#"["half.md", "other.md", "style.md"]"#).unwrap_err();
    assert!(words.contains("has more than 32768 bytes"), "{words}");
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_used_are_named() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    fs::write(place.dir.path().join("outside.md"), "secret").unwrap();
    symlink("../../outside.md", place.home.personas_dir().join("out.md")).unwrap();
    symlink("../keys.toml", place.home.config_dir.join("personas").join("in.md")).unwrap();
    place.file("keys.toml", "openai = \"sk-secret\"\n");
    symlink("keys.toml", place.home.config_dir.join("alias.md")).unwrap();
    fs::File::create(place.home.personas_dir().join("huge.md")).unwrap().set_len(1 << 30).unwrap();
    place.file("personas/latin.md", b"\xff");
    place.file("personas/blank.md", "---\nmode: plan\n---\n \n");
    place.file("personas/mode.md", "---\nmode: fast\n---\nYou.");
    place.file("personas/twice.md", "---\nmode: plan\nmode: roa\n---\nYou.");
    place.file("personas/key.md", "---\ncolor: red\n---\nYou.");
    for (name, says) in [
        ("none", "there is no persona \"none\"; there are blank, coder,"),
        ("../outside", "there is no persona"),
        ("", "there is no persona"),
        ("out", "out.md is outside of"),
        ("in", "in.md is outside of"),
        ("huge", "huge.md has 1073741824 bytes, over the limit of 32768"),
        ("latin", "latin.md is not valid UTF-8"),
        ("blank", "has no prompt"),
        ("mode", "`mode`: \"fast\" is none of chat, agent"),
        ("twice", "line 3: `mode` is there twice"),
        ("key", "`color` is none of description"),
    ] {
        let words = place.get("", name).unwrap_err();
        assert!(words.contains(says), "{name}: {words}");
    }
    for file in ["keys.toml", "alias.md", "./keys.toml"] {
        for key in [format!("prompt_file = {file:?}"), format!("prompt = \"You.\"\ncontext = [{file:?}]")] {
            let words = place.get(&format!("[personas.x]\n{key}\n"), "x").unwrap_err();
            assert!(words.contains("holds keys"), "{words}");
        }
    }
    for file in ["../outside.md", "/etc/hostname"] {
        let words = place.get(&format!("[personas.x]\nprompt_file = {file:?}\n"), "x").unwrap_err();
        assert!(words.contains("is outside of"), "{words}");
    }
}
