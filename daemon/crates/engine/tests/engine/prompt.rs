//! The system prompt.

use crate::world::tool;
use abide_engine::prompt::system;
use abide_protocol::task::Mode;

#[test]
fn a_chats_prompt_is_the_persona_or_the_default() {
    assert_eq!(system(Mode::Chat, Some(" A poet.\n"), "/w", &[]), "A poet.");
    for none in [None, Some(" \n")] {
        let prompt = system(Mode::Chat, none, "/w", &[]);
        assert!(prompt.starts_with("You are Abide,") && !prompt.contains("/w"), "{prompt}");
    }
}

#[test]
fn an_agents_prompt_adds_the_workspace_and_how_to_end() {
    for (persona, begins) in [(Some("A poet."), "A poet.\n\n"), (None, "You are Abide,")] {
        let prompt = system(Mode::Agent, persona, "/home/me/it", &[]);
        assert!(prompt.starts_with(begins), "{prompt}");
        assert!(
            prompt.contains("in the folder `/home/me/it`") && prompt.contains("`task_complete`"),
            "{prompt}"
        );
        assert!(!prompt.contains("{workspace}"), "{prompt}");
    }
}

#[test]
fn a_plans_prompt_describes_its_tools_and_no_other_mode_does() {
    let line = r#"{"description":"Reads a file.","name":"read","parameters":{}}"#;
    for mode in Mode::ALL.iter().copied() {
        let prompt = system(mode, None, "/w", &[tool()]);
        assert_eq!(prompt.lines().any(|read| read == line), mode == Mode::Plan, "{prompt}");
    }
}
