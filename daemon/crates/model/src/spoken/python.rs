//! Calls as Python: `[name(a=1, b="x"), other()]`.

use super::{Spoken, cursor::Cursor};
use serde_json::{Map, Value};

/// How deeply values may be nested.
const MAX_DEPTH: usize = 32;

/// A list of calls.
pub(super) fn list(at: &mut Cursor<'_>) -> Option<Vec<Spoken>> {
    let mut calls = Vec::new();
    at.eat("[").then_some(())?;
    loop {
        if at.eat("]") {
            return (!calls.is_empty()).then_some(calls);
        }
        calls.push(call(at)?);
        if !at.eat(",") {
            return at.eat("]").then_some(calls);
        }
    }
}

/// One call; its arguments have names.
pub(super) fn call(at: &mut Cursor<'_>) -> Option<Spoken> {
    let name = at.word()?.to_owned();
    at.rest.starts_with('(').then_some(())?;
    at.eat("(");
    let mut arguments = Map::new();
    while !at.eat(")") {
        let key = at.word()?.to_owned();
        at.eat("=").then_some(())?;
        arguments.insert(key, value(at, 0)?);
        if !at.eat(",") {
            at.eat(")").then_some(())?;
            break;
        }
    }
    Some(Spoken { name, arguments: Value::from(arguments).to_string() })
}

/// A dictionary, as JSON.
pub(super) fn dictionary(at: &mut Cursor<'_>) -> Option<String> {
    at.blank();
    at.rest.starts_with('{').then(|| value(at, 0))?.map(|fields| fields.to_string())
}

fn value(at: &mut Cursor<'_>, depth: usize) -> Option<Value> {
    (depth < MAX_DEPTH).then_some(())?;
    at.blank();
    match at.rest.chars().next()? {
        '"' | '\'' => string(at).map(Value::from),
        '[' => {
            let mut items = Vec::new();
            at.eat("[");
            while !at.eat("]") {
                items.push(value(at, depth + 1)?);
                if !at.eat(",") {
                    at.eat("]").then_some(())?;
                    break;
                }
            }
            Some(Value::from(items))
        }
        '{' => {
            let mut fields = Map::new();
            at.eat("{");
            while !at.eat("}") {
                at.blank();
                let key = string(at)?;
                at.eat(":").then_some(())?;
                fields.insert(key, value(at, depth + 1)?);
                if !at.eat(",") {
                    at.eat("}").then_some(())?;
                    break;
                }
            }
            Some(Value::from(fields))
        }
        _ => {
            let end = at.rest.find([',', ')', ']', '}', ':'])?;
            let word = at.rest[..end].trim();
            let value = match word {
                "True" | "true" => Value::from(true),
                "False" | "false" => Value::from(false),
                "None" | "null" => Value::Null,
                number => serde_json::from_str(number).ok().filter(Value::is_number)?,
            };
            at.rest = &at.rest[end..];
            Some(value)
        }
    }
}

fn string(at: &mut Cursor<'_>) -> Option<String> {
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| at.rest.starts_with(quotes))?;
    let inside = &at.rest[quotes.len()..];
    let (mut text, mut chars) = (String::new(), inside.char_indices());
    while let Some((place, c)) = chars.next() {
        if inside[place..].starts_with(quotes) {
            at.rest = &inside[place + quotes.len()..];
            return Some(text);
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next()?.1 {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            c @ ('\\' | '\'' | '"') => text.push(c),
            // Others mean something else in Python, or nothing.
            _ => return None,
        }
    }
    None
}
