//! Checks requests as the strictest provider would.

use super::{
    script::Turn,
    view::{Item, ItemKind, Part, Sent, View},
};
use serde_json::Value;

/// What is wrong with a request, compared with earlier replies and requests.
///
/// `imported` are the replies with which it must begin; `sent` has every attempt of every reply after them so
/// far, by the reply's number; `before` is the last accepted request.
pub(super) fn check(
    view: &View,
    imported: &[Turn],
    sent: &[Vec<Sent>],
    before: Option<&View>,
) -> Result<(), String> {
    order(&view.items)?;
    let is_of_tools = |item: &Item| match &item.kind {
        ItemKind::Result { .. } => true,
        ItemKind::Reply(parts) => parts.iter().any(|part| matches!(part, Part::Call { .. })),
        ItemKind::User(_) => false,
    };
    if !view.has_tools && view.items.iter().any(is_of_tools) {
        return Err("there are calls or results, and no tool is declared".to_owned());
    }
    if let Some(before) = before {
        prefix(view, before)?;
    }
    let mut replies = view
        .items
        .iter()
        .filter_map(|i| if let ItemKind::Reply(parts) = &i.kind { Some(parts) } else { None });
    for (number, turn) in imported.iter().enumerate() {
        let parts = replies.next().ok_or_else(|| format!("imported reply {number} is missing"))?;
        if !is_imported(parts, turn) {
            return Err(format!("imported reply {number} is not this one: {parts:?}; it is {turn:?}"));
        }
    }
    for (number, parts) in replies.enumerate() {
        let attempts = sent.get(number).map_or(&[][..], Vec::as_slice);
        if !attempts.iter().any(|attempt| is_same(parts, attempt)) {
            return Err(format!(
                "reply {number} was never given like this: {parts:?}; given was {attempts:?}"
            ));
        }
    }
    Ok(())
}

/// Every call has exactly one result, in call order, right after its reply. The first and last message are
/// the user's, or results.
fn order(items: &[Item]) -> Result<(), String> {
    if !matches!(items.first().map(|i| &i.kind), Some(ItemKind::User(_))) {
        return Err("the first message is not the user's".to_owned());
    }
    let mut owed: Vec<&str> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match &item.kind {
            ItemKind::Result { id } => match owed.first() {
                Some(first) if first == id => {
                    owed.remove(0);
                }
                Some(first) => {
                    return Err(format!("item {at} is the result of {id}, but it is the turn of {first}'s"));
                }
                None => return Err(format!("item {at} is a result of {id}, which waits for none")),
            },
            _ if !owed.is_empty() => return Err(format!("item {at} comes before the results of {owed:?}")),
            ItemKind::Reply(parts) => owed.extend(parts.iter().filter_map(|p| match p {
                Part::Call { id, .. } => Some(id.as_str()),
                _ => None,
            })),
            ItemKind::User(_) => {}
        }
    }
    if !owed.is_empty() {
        return Err(format!("the calls {owed:?} have no result"));
    }
    match items.last().map(|i| &i.kind) {
        Some(ItemKind::Reply(_)) => Err("the last message is the model's own".to_owned()),
        _ => Ok(()),
    }
}

/// Everything of the earlier request is repeated byte for byte; otherwise the provider's cache is lost.
fn prefix(view: &View, before: &View) -> Result<(), String> {
    if view.head != before.head {
        let (was, is) = difference(&before.head, &view.head);
        return Err(format!("system prompt, tools or parameters changed: was …{was}…, is …{is}…"));
    }
    for (at, old) in before.items.iter().enumerate() {
        match view.items.get(at) {
            Some(new) if new.raw == old.raw => {}
            Some(new) if at + 1 == before.items.len() && has_grown(new, old) => {}
            Some(new) if is_elided(new, old) => {}
            Some(new) => {
                let (was, is) = difference(&old.raw, &new.raw);
                return Err(format!("item {at} changed: was …{was}…, is …{is}…"));
            }
            None => return Err(format!("item {at} is gone: {}", old.raw)),
        }
    }
    Ok(())
}

/// The user's last message may be extended: it must still begin with the same bytes.
fn has_grown(new: &Item, old: &Item) -> bool {
    let is_text = |item: &Item| matches!(item.kind, ItemKind::User(_));
    let open = old.raw.trim_end_matches('}').trim_end_matches('"');
    let blank_line = r"\n\n";
    is_text(new)
        && is_text(old)
        && new.raw.strip_prefix(open).is_some_and(|more| more.starts_with(blank_line))
}

/// An output was left out, because the context grew long: the provider reads the request anew from there on.
fn is_elided(new: &Item, old: &Item) -> bool {
    let are_results = matches!((&new.kind, &old.kind), (ItemKind::Result { id }, ItemKind::Result { id: was }) if id == was);
    are_results && new.raw.contains("[This output was left out to fit the model's context.]")
}

/// The texts from the place where they differ.
fn difference<'a>(was: &'a str, is: &'a str) -> (String, String) {
    let same = was.chars().zip(is.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(20);
    let shown = |text: &str| text.chars().skip(from).take(120).collect();
    (shown(was), shown(is))
}

fn is_same(parts: &[Part], sent: &Sent) -> bool {
    if let Some(turn) = &sent.read_as {
        return sent.is_complete && is_imported(parts, turn);
    }
    let is_whole = sent.is_complete
        && parts.len() == sent.parts.len()
        && parts.iter().zip(&sent.parts).all(|(part, sent)| is_same_part(part, sent));
    is_whole || is_beginning(parts, sent)
}

/// The part of a stopped reply that was shown comes back as text.
fn is_beginning(parts: &[Part], sent: &Sent) -> bool {
    match parts {
        [Part::Text(text)] => !text.is_empty() && sent.text().starts_with(text.as_str()),
        _ => false,
    }
}

/// Its text and its calls come as they are; the calls have ids of their own.
fn is_imported(parts: &[Part], turn: &Turn) -> bool {
    let text = |part: &Part| if let Part::Text(text) = part { text.clone() } else { String::new() };
    let call = |part: &Part| match part {
        Part::Call { tool, arguments, .. } => {
            Some((tool.clone(), serde_json::from_str::<Value>(arguments).ok()))
        }
        _ => None,
    };
    let has_opaque = parts.iter().any(|part| matches!(part, Part::Opaque(_) | Part::Whole { .. }));
    let calls: Vec<_> = turn
        .calls()
        .map(|(tool, arguments)| (tool.to_owned(), serde_json::from_str(arguments).ok()))
        .collect();
    !has_opaque
        && parts.iter().map(text).collect::<String>() == turn.said()
        && parts.iter().filter_map(call).collect::<Vec<_>>() == calls
}

fn is_same_part(part: &Part, sent: &Part) -> bool {
    let (
        Part::Call { id, tool, arguments, extra },
        Part::Call { id: sent_id, tool: sent_tool, arguments: sent_arguments, extra: sent_extra },
    ) = (part, sent)
    else {
        return part == sent;
    };
    id == sent_id
        && tool == sent_tool
        && extra == sent_extra
        && is_same_arguments(arguments, sent_arguments, extra.is_some())
}

/// Arguments that are no JSON object come back as `{}`. Where the API sends them as a string, they come back
/// byte for byte.
fn is_same_arguments(arguments: &str, sent: &str, are_text: bool) -> bool {
    let expected = match serde_json::from_str::<Value>(sent) {
        Ok(Value::Object(_)) => sent,
        _ => "{}",
    };
    if are_text {
        return arguments == expected;
    }
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    value(arguments) == value(expected)
}

#[cfg(test)]
mod tests;
