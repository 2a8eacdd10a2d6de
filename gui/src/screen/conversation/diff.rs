//! A unified diff in two colours.

use crate::{
    theme::style,
    widget::{Element, code, secondary},
    words,
};
use abide_client::{protocol::inbox::Preview, text::visible_line};
use iced::{
    Fill,
    widget::{Column, text},
};

/// Lines of a diff in a card that decides.
pub const ALL: usize = 400;
/// Lines of one in a timeline, until it is opened.
pub const SHORT: usize = 16;

/// Lines that were added and removed.
#[must_use]
pub fn counts(preview: &Preview) -> (usize, usize) {
    let is = |line: &&str, sign: &str, head: &str| line.starts_with(sign) && !line.starts_with(head);
    let added = preview.diff.lines().filter(|line| is(line, "+", "+++")).count();
    let removed = preview.diff.lines().filter(|line| is(line, "-", "---")).count();
    (added, removed)
}

/// The diff, of at most `max` lines. Its head is left out: the card says which file.
pub fn view<'a, Message: 'a>(preview: &Preview, max: usize) -> Element<'a, Message> {
    let body = preview.diff.lines().filter(|line| !line.starts_with("+++") && !line.starts_with("---"));
    let mut lines: Vec<&str> = body.collect();
    let more = lines.len().saturating_sub(max);
    lines.truncate(max);
    let lines = lines.into_iter().map(|line| {
        let style: fn(&iced::Theme) -> text::Style = match line.as_bytes().first() {
            Some(b'+') => style::ok,
            Some(b'-') => style::bad,
            _ => style::muted,
        };
        code(visible_line(line).replace("\\t", "    ")).style(style).width(Fill).into()
    });
    let mut content = Column::with_children(lines);
    if more > 0 {
        content = content.push(secondary(format!("… {}", words::counted(more as u64, "more line"))));
    }
    content.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_not_counted() {
        let diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+y\n+z\n w".to_owned();
        assert_eq!(counts(&Preview { path: "a".into(), diff }), (2, 1));
    }
}
