//! What a task can be started with: personas, templates and tools.

use crate::output::{
    style::{BAD, FAINT, PLAIN, STRONG, paint},
    table::{cell, table},
};
use abide_client::protocol::{
    method::catalog::{PersonaInfo, TemplateInfo},
    transcript::{Tier, ToolSpec},
};

pub(crate) fn personas(personas: &[PersonaInfo], width: Option<usize>) -> String {
    let row = |persona: &PersonaInfo| {
        let about = match &persona.problem {
            Some(problem) => cell(BAD, &format!("problem: {problem}")),
            None => cell(PLAIN, &persona.description),
        };
        let mode = persona.mode.map_or("", |mode| mode.name());
        let tools = chosen(persona.tools.as_deref()).unwrap_or_else(|| "all".to_owned());
        [cell(STRONG, &persona.name), cell(PLAIN, mode), cell(FAINT, &tools), about]
    };
    table(["PERSONA", "MODE", "TOOLS", "DESCRIPTION"], &personas.iter().map(row).collect::<Vec<_>>(), width)
}

pub(crate) fn templates(templates: &[TemplateInfo], width: Option<usize>) -> String {
    let row = |template: &TemplateInfo| {
        let mode = template.mode.map_or("", |mode| mode.name());
        let tools = chosen(template.tools.as_deref()).unwrap_or_default();
        let persona = template.persona.as_deref().unwrap_or_default();
        [
            cell(STRONG, &template.name),
            cell(PLAIN, mode),
            cell(PLAIN, persona),
            cell(FAINT, &tools),
            cell(PLAIN, &template.prompt),
        ]
    };
    let rows: Vec<_> = templates.iter().map(row).collect();
    table(["TEMPLATE", "MODE", "PERSONA", "TOOLS", "PROMPT"], &rows, width)
}

/// The names of the tools; `None` if none are named.
fn chosen(tools: Option<&[String]>) -> Option<String> {
    let tools = tools?;
    Some(if tools.is_empty() { "none".to_owned() } else { tools.join(",") })
}

pub(crate) fn tools(tools: &[ToolSpec], width: Option<usize>) -> String {
    let row = |tool: &ToolSpec| {
        let asks = if tool.tier == Tier::Ask { "asks" } else { "" };
        let about = tool.description.lines().next().unwrap_or_default();
        [cell(STRONG, &tool.name), cell(FAINT, asks), cell(PLAIN, about)]
    };
    let table = table(["TOOL", "APPROVAL", "DESCRIPTION"], &tools.iter().map(row).collect::<Vec<_>>(), width);
    let mut notes = Vec::new();
    if tools.iter().any(|tool| tool.tier == Tier::Ask) {
        let words =
            "asks: unless a rule allows the call, or the sandbox contains it and git can take it back";
        notes.push(words.to_owned());
    }
    let named: Vec<&str> =
        tools.iter().filter(|tool| tool.is_named_only()).map(|tool| tool.name.as_str()).collect();
    if !named.is_empty() {
        notes.push(format!("{}: only for a task whose --tools or persona names it", named.join(", ")));
    }
    if notes.is_empty() { table } else { format!("{table}\n{}\n", paint(FAINT, &notes.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::task::Mode;
    use insta::assert_snapshot;

    #[test]
    fn a_template_is_a_line_with_its_prompt() {
        let house = TemplateInfo {
            name: "house".to_owned(),
            prompt: "Paint:\n{input}\u{1b}[2J".to_owned(),
            persona: Some("coder".to_owned()),
            mode: Some(Mode::Roa),
            tools: Some(Vec::new()),
            max_steps: None,
        };
        let hut =
            TemplateInfo { name: "hut".to_owned(), persona: None, mode: None, tools: None, ..house.clone() };
        let shown = templates(&[house, hut], None);
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        TEMPLATE  MODE  PERSONA  TOOLS  PROMPT
        house     roa   coder    none   Paint: {input}\x1b[2J
        hut       -     -        -      Paint: {input}\x1b[2J
        ");
    }

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
        reviewer  -     none       problem: no\x1b[2J
        ");
    }
}
