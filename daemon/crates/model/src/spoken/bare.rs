//! Calls without the tags of a model: JSON or Python as a whole text.

use super::{
    Spoken,
    cursor::Cursor,
    object::{self, By, Object},
    python,
};
use abide_protocol::{spelling, transcript::ToolSpec};

/// So many bytes at the end of a text are looked at for calls.
const MAX_LOOK: usize = 8 * 1024;

/// JSON or Python calls as a whole text. JSON in the form of a call that names no tool of the request may be
/// an answer.
pub(super) fn read(text: &str, tools: &[ToolSpec]) -> Option<Vec<Spoken>> {
    let is_known = |call: &Spoken| spelling::tool(tools, &call.name).is_some();
    if let Some(objects) = objects(text) {
        let counts = |object: &Object| match object.by {
            By::Arguments => true,
            By::Parameters => is_known(&object.call),
            By::Nothing => false,
        };
        if objects.iter().all(counts) {
            return Some(objects.into_iter().map(|object| object.call).collect());
        }
    }
    let mut at = Cursor { rest: text };
    let calls = if at.eat("```tool_code") {
        code(&mut at)
    } else {
        at.rest = spelling::unfenced(text);
        python::list(&mut at)
    };
    calls.filter(|calls| at.is_over() && calls.iter().all(is_known))
}

/// The text as objects or lists of calls, in fences or not, and nothing else.
fn objects(text: &str) -> Option<Vec<Object>> {
    let (mut at, mut all) = (Cursor { rest: text }, Vec::new());
    while !at.is_over() {
        at.eat_any(&["```json", "```tool_call", "```"]);
        all.append(&mut object::all(&at.json()?)?);
        at.eat_any(&[",", ";", "```"]);
    }
    (!all.is_empty()).then_some(all)
}

/// Calls as lines of Python up to the end of a fence, which may print what they return.
fn code(at: &mut Cursor<'_>) -> Option<Vec<Spoken>> {
    let mut calls = Vec::new();
    while !at.eat("```") {
        let is_printed = at.eat("print(");
        calls.push(python::call(at)?);
        (!is_printed || at.eat(")")).then_some(())?;
    }
    (!calls.is_empty()).then_some(calls)
}

/// Whether words are followed by calls in a fence, or without tags: the model meant to call, and did not.
pub(super) fn ends_with_calls(text: &str, tools: &[ToolSpec]) -> bool {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_LOOK));
    let starts = text[from..].match_indices('\n').map(|(at, _)| text[from + at..].trim_start());
    let begin = |line: &&str| line.starts_with(['{', '[']) || line.starts_with("```");
    let is_known = |call: &Spoken| spelling::tool(tools, &call.name).is_some();
    let calls = |line: &str| read(line, tools).is_some_and(|calls| calls.iter().all(is_known));
    starts.filter(begin).any(calls)
}
