//! What a task can be started with: personas and tools.

use crate::output::{
    style::{BAD, FAINT, PLAIN, STRONG},
    table::{cell, table},
};
use abide_client::protocol::{
    method::catalog::PersonaInfo,
    transcript::{Tier, ToolSpec},
};

pub(crate) fn personas(personas: &[PersonaInfo], width: Option<usize>) -> String {
    let row = |persona: &PersonaInfo| {
        let about = match &persona.problem {
            Some(problem) => cell(BAD, problem),
            None => cell(PLAIN, &persona.description),
        };
        let mode = persona.mode.map_or("", |mode| mode.name());
        let tools = match persona.tools.as_deref() {
            None => "all".to_owned(),
            Some([]) => "none".to_owned(),
            Some(tools) => tools.join(","),
        };
        [cell(STRONG, &persona.name), cell(PLAIN, mode), cell(FAINT, &tools), about]
    };
    table(["PERSONA", "MODE", "TOOLS", "DESCRIPTION"], &personas.iter().map(row).collect::<Vec<_>>(), width)
}

pub(crate) fn tools(tools: &[ToolSpec], width: Option<usize>) -> String {
    let row = |tool: &ToolSpec| {
        let asks = if tool.tier == Tier::Ask { "asks" } else { "" };
        let about = tool.description.lines().next().unwrap_or_default();
        [cell(STRONG, &tool.name), cell(FAINT, asks), cell(PLAIN, about)]
    };
    table(["TOOL", "", "DESCRIPTION"], &tools.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::task::Mode;
    use insta::assert_snapshot;

    #[test]
    fn a_persona_that_cannot_be_used_shows_why() {
        let good = PersonaInfo {
            name: "reviewer".to_owned(),
            description: "Reviews".to_owned(),
            mode: Some(Mode::Plan),
            model: None,
            tools: Some(vec!["read".to_owned(), "list".to_owned()]),
            max_steps: None,
            source: "built in".to_owned(),
            problem: None,
        };
        let bad = PersonaInfo {
            problem: Some("no\u{1b}[2J".to_owned()),
            tools: Some(Vec::new()),
            mode: None,
            ..good.clone()
        };
        let shown = personas(&[good, bad], None);
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        PERSONA   MODE  TOOLS      DESCRIPTION
        reviewer  plan  read,list  Reviews
        reviewer        none       no\x1b[2J
        ");
    }
}
