//! The system prompt.

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
