//! A block of code, in parts with separate layouts: while a long one streams, only its last part is laid out
//! again, and parts that have not been in view are not laid out.

use crate::{
    syntax::{self, Language},
    theme::Tokens,
    widget::{
        Element,
        passage::{self, Passage},
    },
};
use iced::widget::{Column, text::Wrapping};
use std::ops::Range;

/// The least lines of a part.
const LINES: usize = 24;

pub(super) fn view<'a, Message: 'a>(
    source: &'a str,
    language: Option<&'static Language>,
    tokens: &'static Tokens,
) -> Element<'a, Message> {
    let part = |range: Range<usize>, is_deferred: bool| {
        let text = source.get(range.clone()).unwrap_or_default();
        let part: Passage<'a, Message> = match language {
            None => passage::code(text),
            Some(language) => passage::drawn(text, syntax::stamp(Some(language), tokens), move |_| {
                syntax::spans_within(source, range.clone(), language, tokens)
            }),
        };
        part.wrapping(Wrapping::None).deferred(is_deferred).into()
    };
    let is_long = parts(source).nth(1).is_some();
    Column::with_children(parts(source).map(|range| part(range, is_long))).into()
}

/// The parts, without the line breaks between them. None ends with an empty line, which would have no height.
fn parts(source: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let begin = from?;
        let mut end = begin;
        for (n, line) in source[begin..].split('\n').enumerate() {
            end += line.len();
            if n + 1 >= LINES && !line.is_empty() && end < source.len() {
                from = Some(end + 1);
                return Some(begin..end);
            }
            end += 1;
        }
        from = None;
        Some(begin..source.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_where_a_line_does() {
        let lines = |count: usize| vec!["line"; count].join("\n");
        for (source, count) in [
            (String::new(), 1),
            (lines(LINES), 1),
            (lines(LINES + 1), 2),
            (lines(5 * LINES), 5),
            (format!("{}\n\n\n\nend", lines(LINES - 1)), 1),
            (format!("{}\nü", "ä\n".repeat(LINES - 1) + "ö"), 2),
        ] {
            let parts: Vec<&str> = parts(&source).map(|part| &source[part]).collect();
            assert_eq!(parts.len(), count, "{source:?}");
            assert_eq!(parts.join("\n"), source);
            assert!(parts.len() < 2 || parts.iter().all(|part| !part.ends_with('\n')), "{parts:?}");
        }
    }
}
