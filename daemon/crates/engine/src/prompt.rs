//! The system prompt, frozen in the task's first record.

use abide_protocol::task::Mode;

const AGENT: &str = include_str!("prompt/agent.md");
const DEFAULT_PERSONA: &str = "You are Abide, a careful and capable assistant on the user's own computer.";

/// The persona's prompt (or the default), then the mode's additions.
#[must_use]
pub fn system(mode: Mode, persona: Option<&str>, workspace: &str) -> String {
    let persona = persona.map(str::trim).filter(|p| !p.is_empty()).unwrap_or(DEFAULT_PERSONA);
    match mode {
        Mode::Chat => persona.to_owned(),
        Mode::Agent => format!("{persona}\n\n{}", AGENT.trim_end().replace("{workspace}", workspace)),
    }
}
