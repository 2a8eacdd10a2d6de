//! The forms in which models write calls as text.

use super::{
    Spoken, bare,
    cursor::Cursor,
    marker::{self, Found},
    object, python,
};
use abide_protocol::{spelling, transcript::ToolSpec};

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form<'t> {
    Answer,
    /// Markup of calls, in a form that does not count.
    Markup,
    /// It ends with calls, and is nothing else from where they begin.
    Calls {
        before: &'t str,
        calls: Vec<Spoken>,
    },
}

/// What may stand at the end of a text that is over.
const ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|user|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "</s>",
];

/// Tags around calls.
const WRAPPERS: &[(&str, &str)] = &[
    ("<tool_calls>", "</tool_calls>"),
    ("<tool_call>", "</tool_call>"),
    ("<toolcall>", "</toolcall>"),
    ("<TOOLCALL>", "</TOOLCALL>"),
    ("<function_calls>", "</function_calls>"),
    ("<function_call>", "</function_call>"),
    ("<functioncall>", "</functioncall>"),
    (concat!("<antml", ":function_calls>"), concat!("</antml", ":function_calls>")),
    ("<minimax:tool_call>", "</minimax:tool_call>"),
    ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    ("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    ("<|DSML|function_calls>", "</|DSML|function_calls>"),
    ("<|DSML|tool_calls>", "</|DSML|tool_calls>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|START_ACTION|>", "<|END_ACTION|>"),
    ("<seed:tool_call>", "</seed:tool_call>"),
    ("<|action_start|><|plugin|>", "<|action_end|>"),
    ("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
    // These have no end of their own.
    ("functools", ""),
    ("[TOOL_CALLS]", ""),
    ("<|python_tag|>", ""),
];

/// Tags of an invocation: before its name, before its fields.
const INVOCATIONS: &[(&str, &str, &str, &str)] = &[
    ("<invoke name=", "</invoke>", "<parameter name=", "</parameter>"),
    (
        concat!("<antml", ":invoke name="),
        concat!("</antml", ":invoke>"),
        concat!("<antml", ":parameter name="),
        concat!("</antml", ":parameter>"),
    ),
    ("<｜DSML｜invoke name=", "</｜DSML｜invoke>", "<｜DSML｜parameter name=", "</｜DSML｜parameter>"),
    ("<|DSML|invoke name=", "</|DSML|invoke>", "<|DSML|parameter name=", "</|DSML|parameter>"),
];

/// Around a list of calls, each between tokens of its own.
const SECTION_BEGINS: &[&str] =
    &["<｜tool▁calls▁begin｜>", "<|tool_calls_section_begin|>", "<|tool_calls_begin|>"];
const SECTION_ENDS: &[&str] = &["<｜tool▁calls▁end｜>", "<|tool_calls_section_end|>", "<|tool_calls_end|>"];
const CALL_BEGINS: &[&str] = &["<｜tool▁call▁begin｜>", "<|tool_call_begin|>"];
const CALL_SEPARATES: &[&str] = &["<｜tool▁sep｜>", "<|tool_call_argument_begin|>", "<|tool_sep|>"];
const CALL_ENDS: &[&str] = &["<｜tool▁call▁end｜>", "<|tool_call_end|>"];

/// Reads the text of a reply to a request with these tools.
pub(super) fn read<'t>(text: &'t str, tools: &[ToolSpec]) -> Form<'t> {
    let unfenced = spelling::unfenced(text);
    let is_fenced = unfenced != text.trim();
    let tags = if is_fenced { unfenced } else { text };
    for Found { start, is_meant } in marker::all(tags) {
        let before = if is_fenced { "" } else { &text[..start] };
        match tagged(&tags[start..]) {
            Some(calls) => return Form::Calls { before, calls },
            // What comes behind it may be calls. But then these would be lost.
            None if is_meant && !is_quoted(&tags[..start], &tags[start..]) => return Form::Markup,
            None => {}
        }
    }
    match bare::read(without_ends(text), tools) {
        Some(calls) => Form::Calls { before: "", calls },
        None if bare::ends_with_calls(without_ends(text), tools) => Form::Markup,
        None => Form::Answer,
    }
}

/// Whether a call begins here in the middle of a line, and the line goes on behind it: it is a part of a
/// sentence.
fn is_quoted(before: &str, from: &str) -> bool {
    let has_words = |line: Option<&str>| line.is_some_and(|line| !line.trim().is_empty());
    let mut at = Cursor { rest: from };
    has_words(before.rsplit('\n').next()) && unit(&mut at).is_some() && has_words(at.rest.split('\n').next())
}

fn without_ends(mut text: &str) -> &str {
    loop {
        text = text.trim();
        let Some(shorter) = ENDS.iter().find_map(|end| text.strip_suffix(end)) else { return text };
        text = shorter;
    }
}

/// The calls that the text consists of, each with the tags of a model.
fn tagged(text: &str) -> Option<Vec<Spoken>> {
    let (mut at, mut all) = (Cursor { rest: without_ends(text) }, Vec::new());
    while !at.is_over() {
        all.append(&mut unit(&mut at)?);
        // The first of a pair of tags is forgotten sometimes.
        WRAPPERS.iter().any(|(_, close)| !close.is_empty() && at.eat(close));
    }
    (!all.is_empty()).then_some(all)
}

/// What comes next, up to the end of its tags.
fn unit(at: &mut Cursor<'_>) -> Option<Vec<Spoken>> {
    if let Some((open, close)) = WRAPPERS.iter().find(|(open, _)| at.eat(open)) {
        let calls = inside(at)?;
        // The end of the text may have taken the place of the last tag. Some models write the next tag in its
        // place.
        let is_closed = at.eat(close) || at.is_over() || at.rest.trim_start().starts_with(open);
        return (is_closed && !calls.is_empty()).then_some(calls);
    }
    if at.eat_any(SECTION_BEGINS) {
        let mut calls = Vec::new();
        while !at.eat_any(SECTION_ENDS) && !at.is_over() {
            calls.push(between_tokens(at)?);
        }
        return (!calls.is_empty()).then_some(calls);
    }
    let one =
        function(at).or_else(|| invocation(at)).or_else(|| between_tokens(at)).or_else(|| channel(at))?;
    Some(vec![one])
}

/// The calls within the tags of a wrapper.
fn inside(at: &mut Cursor<'_>) -> Option<Vec<Spoken>> {
    let mut calls = Vec::new();
    loop {
        at.eat_any(&[",", ";"]);
        at.blank();
        if let Some(json) = at.json().or_else(|| at.attempt(python::dictionary)) {
            calls.extend(object::all(&json)?.into_iter().map(|object| object.call));
        } else if let Some(mut list) = at.attempt(python::list) {
            calls.append(&mut list);
        } else if let Some(call) = function(at).or_else(|| invocation(at)).or_else(|| at.attempt(named)) {
            calls.push(call);
        } else {
            return Some(calls);
        }
    }
}

/// A name with what follows it: `name[ARGS]{…}`, `name{…}`, `name(a=1)`, or the keys and values of its
/// arguments between tags.
fn named(at: &mut Cursor<'_>) -> Option<Spoken> {
    let start = *at;
    let name = at.word()?.to_owned();
    if at.eat("[CALL_ID]") {
        at.word()?;
    }
    let has_sign = at.eat("[ARGS]");
    at.blank();
    if at.rest.starts_with('{') {
        return Some(Spoken { name, arguments: at.json()? });
    }
    if has_sign {
        return None;
    }
    if at.rest.starts_with('(') {
        *at = start;
        return python::call(at);
    }
    let mut fields = serde_json::Map::new();
    while at.eat("<arg_key>") {
        let key = at.until(&["</arg_key>"])?.trim().to_owned();
        at.eat("<arg_value>").then_some(())?;
        let value = at.value("</arg_value>", &["<arg_key>", "</tool_call>"])?;
        fields.insert(key, value.into());
    }
    // A name alone is the call of a tool without arguments, if its tag ends here.
    (!fields.is_empty() || at.rest.starts_with("</tool_call>")).then(|| with_fields(name, fields))
}

/// `<function=name>`, and its arguments as JSON or as parameters between tags.
fn function(at: &mut Cursor<'_>) -> Option<Spoken> {
    let mut next = *at;
    next.eat_any(&["<function=", "<function name="]).then_some(())?;
    let name = next.until(&[">"])?.trim().trim_matches('"').to_owned();
    next.blank();
    let call = if next.rest.starts_with('{') {
        let arguments = next.json()?;
        (next.eat("</function>") || next.is_over()).then_some(())?;
        Spoken { name, arguments }
    } else {
        let mut fields = serde_json::Map::new();
        while next.eat_any(&["<parameter=", "<parameter name="]) {
            let key = next.until(&[">"])?.trim().trim_matches('"').to_owned();
            let value = next.value("</parameter>", &["<parameter", "</function>"])?;
            fields.insert(key, value.into());
        }
        next.eat("</function>").then_some(())?;
        with_fields(name, fields)
    };
    *at = next;
    Some(call)
}

/// `<invoke name="…">` and its parameters between tags. A parameter that says that it is no string is JSON.
fn invocation(at: &mut Cursor<'_>) -> Option<Spoken> {
    let mut next = *at;
    let (_, end, open, close) = INVOCATIONS.iter().find(|(begin, ..)| next.eat(begin))?;
    let name = next.until(&[">"])?.trim().trim_matches('"').to_owned();
    let mut fields = serde_json::Map::new();
    while next.eat(open) {
        let tag = next.until(&[">"])?.trim();
        let key = tag.strip_prefix('"').and_then(|tag| tag.split('"').next()).unwrap_or(tag).to_owned();
        let value = next.value(close, &[open, end])?;
        let parsed = tag.contains("string=\"false\"").then(|| serde_json::from_str(value).ok()).flatten();
        fields.insert(key, parsed.unwrap_or_else(|| value.into()));
    }
    next.eat(end).then_some(())?;
    *at = next;
    Some(with_fields(name, fields))
}

fn with_fields(name: String, fields: serde_json::Map<String, serde_json::Value>) -> Spoken {
    Spoken { name, arguments: serde_json::Value::from(fields).to_string() }
}

/// A call between the tokens of its model: `begin kind sep name`, then JSON in a fence; or
/// `begin name sep JSON`.
fn between_tokens(at: &mut Cursor<'_>) -> Option<Spoken> {
    at.eat_any(CALL_BEGINS).then_some(())?;
    let first = at.until(CALL_SEPARATES)?.trim();
    at.blank();
    let (name, arguments) = if at.rest.starts_with('{') {
        (first, at.json()?)
    } else {
        let name = at.until(&["\n"])?.trim();
        let is_fenced = at.eat_any(&["```json", "```"]);
        at.blank();
        let arguments = at.json()?;
        (!is_fenced || at.eat("```")).then_some(())?;
        (name, arguments)
    };
    (at.eat_any(CALL_ENDS) || at.is_over()).then_some(())?;
    // `functions.name:0`: the number counts the calls.
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => name,
    };
    Some(Spoken { name: name.to_owned(), arguments })
}

/// A message to a tool in a channel:
/// `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`.
fn channel(at: &mut Cursor<'_>) -> Option<Spoken> {
    at.blank();
    (at.rest.starts_with("<|start|>assistant") || at.rest.starts_with("<|channel|>")).then_some(())?;
    let header = at.until(&["<|message|>"])?;
    let (_, to) = header.split_once("to=")?;
    let end = to.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(to.len());
    at.blank();
    let arguments = at.json()?;
    (at.eat_any(&["<|call|>", "<|end|>"]) || at.is_over()).then_some(())?;
    Some(Spoken { name: to[..end].to_owned(), arguments })
}
