//! A call that waits for its approval: what follows from it, and exactly what it is.

use super::Message;
use crate::{
    theme::{space, style},
    widget::{Element, code, secondary},
    words,
};
use abide_client::{
    is_made_by_daemon, is_quoted,
    protocol::{inbox::Approval, transcript::Risk},
};
use abide_host::text::{visible, visible_line};
use iced::{
    Fill,
    widget::{Column, row},
};

/// What it means that a call has no sandbox, in a sentence that has begun.
pub(super) const UNCONFINED: &str = "outside the sandbox, with all your rights";

/// From so many on, blanks in a row and empty lines are told by their number: they could push the rest out of
/// sight.
const BLANKS: usize = 40;
const EMPTY_LINES: usize = 3;

/// What follows if a call of high risk is allowed.
pub(super) fn consequence(approval: &Approval) -> Option<&'static str> {
    let is_free = approval.sandbox == "none" && !is_made_by_daemon(approval);
    (approval.risk == Risk::High && is_free).then_some("Runs outside the sandbox, with all your rights")
}

/// Each argument, with hidden characters made visible. Long texts of an edit are left to its diff, a reason
/// to the sentence that quotes it, and that it has no sandbox to the words that say so.
pub(super) fn exactly(approval: &Approval) -> Element<'_, Message> {
    let has_preview = approval.preview.is_some();
    let serde_json::Value::Object(fields) = approval.arguments.value() else {
        return folded(&visible(approval.arguments.as_str()));
    };
    let is_elsewhere = |name: &str, value: &serde_json::Value| match value {
        serde_json::Value::String(text) => {
            has_preview && text.contains('\n') || is_quoted(approval, name, text)
        }
        value => name == "outside" && approval.sandbox == "none" && value.is_boolean(),
    };
    let shown: Vec<_> = fields.iter().filter(|(name, value)| !is_elsewhere(name, value)).collect();
    if shown.is_empty() && !has_preview {
        return secondary("without arguments").into();
    }
    // A command alone needs no name.
    if let ([(_, value)], false) = (&shown[..], has_preview)
        && let Some(command) = value.as_str()
    {
        return folded(&visible(command));
    }
    let lines = shown.into_iter().map(|(name, value)| {
        let value = match value.as_str() {
            Some(said) => folded(&visible(said)),
            None => folded(&visible(&value.to_string())),
        };
        row![code(visible_line(name).into_owned()).style(style::muted), value].spacing(space::S).into()
    });
    Column::with_children(lines).into()
}

/// The text, with the number of blanks or empty lines in place of many.
fn folded<'a>(text: &str) -> Element<'a, Message> {
    let parts = parts(text).into_iter().map(|part| match part {
        Part::Text(text) => code(text.to_owned()).width(Fill).into(),
        Part::Blank(words) => secondary(words).into(),
    });
    Column::with_children(parts).width(Fill).into()
}

#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    /// In place of blanks.
    Blank(String),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = text[at..].find(is_blank).map(|n| at + n) {
        let end = text[start..].find(|c| !is_blank(c)).map_or(text.len(), |n| start + n);
        let run = &text[start..end];
        let lines = run.matches('\n').count();
        let spaces = run.chars().filter(|c| *c != '\n').count();
        let empty = lines.saturating_sub(usize::from(start > 0));
        let words = if empty >= EMPTY_LINES {
            words::counted(empty as u64, "empty line")
        } else if spaces >= BLANKS {
            let same = if lines == 0 { ", on the same line" } else { "" };
            format!("{}{same}", words::counted(spaces as u64, "space"))
        } else {
            at = end;
            continue;
        };
        if from < start {
            parts.push(Part::Text(&text[from..start]));
        }
        parts.push(Part::Blank(words));
        // How the next line is indented is a part of it.
        let indent = run.rfind('\n').map_or("", |n| &run[n + 1..]);
        from = if indent.chars().count() < BLANKS { end - indent.len() } else { end };
        at = end;
    }
    if from < text.len() {
        parts.push(Part::Text(&text[from..]));
    }
    parts
}

/// Whether nothing is drawn for it.
fn is_blank(c: char) -> bool {
    // A pattern of Braille without a dot, and a filler.
    c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_blanks_are_told_by_their_number() {
        let text = |text| Part::Text(text);
        let blank = |words: &str| Part::Blank(words.to_owned());
        let wide = " ".repeat(500);
        let rows: [(String, Vec<Part<'_>>); 9] = [
            ("echo ok".into(), vec![text("echo ok")]),
            ("a\n\n\nb".into(), vec![text("a\n\n\nb")]),
            ("a\n\n\n\nb".into(), vec![text("a"), blank("3 empty lines"), text("b")]),
            (format!("a{}  b", "\n".repeat(27)), vec![text("a"), blank("26 empty lines"), text("  b")]),
            ("a\n \n\t\n\u{2800}\n\nb".into(), vec![text("a"), blank("4 empty lines"), text("b")]),
            (format!("a{wide}b"), vec![text("a"), blank("500 spaces, on the same line"), text("b")]),
            (format!("a\n{wide}b"), vec![text("a"), blank("500 spaces"), text("b")]),
            (format!("a{}{wide}b", "\n".repeat(27)), vec![text("a"), blank("26 empty lines"), text("b")]),
            (format!("{}a\n", "\n".repeat(5)), vec![blank("5 empty lines"), text("a\n")]),
        ];
        for (given, expected) in &rows {
            assert_eq!(&parts(given), expected, "{given:?}");
        }
    }
}
