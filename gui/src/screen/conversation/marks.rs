//! The words that were searched for, marked in the message in which they were found.

use crate::{
    theme::{Tokens, radius},
    widget::passage::Span,
};
use iced::{Border, Color, advanced::text::Highlight};
use std::{ops::Range, sync::Arc};

/// The same text, with these words standing out.
#[must_use]
pub(super) fn marked(spans: Arc<[Span]>, words: &[String], tokens: &Tokens) -> Arc<[Span]> {
    if words.is_empty() || spans.iter().all(|span| found(&span.text, words).is_empty()) {
        return spans;
    }
    let highlight = Highlight {
        background: Color { a: 0.3, ..tokens.accent }.into(),
        border: Border { radius: radius::KEY.into(), ..Border::default() },
    };
    let mut all = Vec::new();
    for span in &*spans {
        let mut at = 0;
        let mut part = |range: Range<usize>, highlight: Option<Highlight>| {
            let text = span.text.get(range).unwrap_or_default().to_owned();
            if !text.is_empty() {
                all.push(Span { text: text.into(), highlight: highlight.or(span.highlight), ..span.clone() });
            }
        };
        for range in found(&span.text, words) {
            part(at..range.start, None);
            at = range.end;
            part(range, Some(highlight));
        }
        part(at..span.text.len(), None);
    }
    all.into()
}

/// Where one of the words stands, whatever its case; none within another.
fn found(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.char_indices() {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let longest = words.iter().filter_map(|word| begins(&text[at..], word)).max();
        found.extend(longest.map(|length| at..at + length));
    }
    found
}

/// How many bytes of the text are this word, which is in lower case.
fn begins(text: &str, word: &str) -> Option<usize> {
    let mut wanted = word.chars().peekable();
    wanted.peek()?;
    for (at, c) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        for lower in c.to_lowercase() {
            if wanted.next() != Some(lower) {
                return None;
            }
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::DARK;

    #[test]
    fn words_are_found_whatever_their_case() {
        let words = ["flaky".to_owned(), "ä".to_owned()];
        assert_eq!(found("Flaky, flakyflaky Ä", &words), [0..5, 7..12, 12..17, 18..20]);
        assert!(found("flak", &words).is_empty());
        assert!(found("anything", &[String::new()]).is_empty());
    }

    #[test]
    fn the_text_stays_the_same() {
        let spans: Arc<[Span]> = [Span::new("a flaky "), Span::new("test")].into();
        let shown = marked(spans, &["flaky".to_owned()], &DARK);
        let texts: Vec<(&str, bool)> =
            shown.iter().map(|span| (&*span.text, span.highlight.is_some())).collect();
        assert_eq!(texts, [("a ", false), ("flaky", true), (" ", false), ("test", false)]);
    }
}
