//! Colours of code: comments, strings, numbers and keywords, found by a small lexer.
//!
//! It distinguishes languages at this level only and knows no grammar: whatever it does not know stays plain.
//! There are no tables to load, and a screen of code costs some microseconds.

mod languages;
mod lexer;

pub use languages::{Language, named, of_path};
pub use lexer::{Kind, Part, parts};

use crate::{theme::Tokens, widget::passage::Span};
use iced::Color;
use std::ops::Range;

/// Longer code stays plain, in bytes.
pub const MAX: usize = 32 * 1024;

/// Changes with the language and the theme: both are statics, so their addresses identify them.
#[must_use]
pub fn stamp(language: Option<&'static Language>, tokens: &'static Tokens) -> u64 {
    let language = language.map_or(0, |language| std::ptr::from_ref(language).addr());
    (language ^ std::ptr::from_ref(tokens).addr()) as u64
}

/// The code in spans, coloured.
#[must_use]
pub fn spans(source: &str, language: &'static Language, tokens: &Tokens) -> Vec<Span> {
    spans_within(source, 0..source.len(), language, tokens)
}

/// These bytes of the code, coloured as part of the whole.
#[must_use]
pub fn spans_within(
    source: &str,
    range: Range<usize>,
    language: &'static Language,
    tokens: &Tokens,
) -> Vec<Span> {
    let within = |range: Range<usize>| Span::new(source.get(range).unwrap_or_default().to_owned());
    if source.len() > MAX {
        return vec![within(range)];
    }
    let mut spans = Vec::new();
    let mut at = 0;
    for part in parts(source, language) {
        let (from, to) = (at.max(range.start), (at + part.text.len()).min(range.end));
        at += part.text.len();
        if from < to {
            let span = within(from..to);
            spans.push(match part.kind {
                None => span,
                Some(kind) => span.color(ink(kind, tokens)),
            });
        }
        if at >= range.end {
            break;
        }
    }
    spans
}

/// Near to the text's own colour, so that code reads as text.
#[must_use]
pub fn ink(kind: Kind, tokens: &Tokens) -> Color {
    match kind {
        Kind::Comment => tokens.muted,
        Kind::String => mix(tokens.text, tokens.ok, 0.65),
        Kind::Number => mix(tokens.text, tokens.accent, 0.45),
        Kind::Keyword => mix(tokens.text, tokens.accent, 0.75),
        Kind::Added => tokens.ok,
        Kind::Removed => tokens.bad,
    }
}

/// Mixes `part` of the second colour into the first.
#[must_use]
pub fn mix(a: Color, b: Color, part: f32) -> Color {
    let of = |a: f32, b: f32| a + (b - a) * part;
    Color { r: of(a.r, b.r), g: of(a.g, b.g), b: of(a.b, b.b), a: of(a.a, b.a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{DARK, LIGHT};

    #[test]
    fn whatever_is_coloured_can_be_read() {
        for tokens in [DARK, LIGHT] {
            for kind in [Kind::Comment, Kind::String, Kind::Number, Kind::Keyword, Kind::Added, Kind::Removed]
            {
                let (ink, ground) = (ink(kind, &tokens), tokens.code);
                let (a, b) = (ink.relative_luminance(), ground.relative_luminance());
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{kind:?} {contrast}");
            }
        }
    }

    #[test]
    fn a_part_is_coloured_as_part_of_the_whole() {
        let rust = named("rust").unwrap();
        let source = "/* one\ntwo */ let a = 1;";
        let part = spans_within(source, 7..source.len(), rust, &DARK);
        assert_eq!(part[0].text, "two */");
        assert_eq!(part[0].color, Some(ink(Kind::Comment, &DARK)));
        let texts: String = part.iter().map(|span| &*span.text).collect();
        assert_eq!(texts, "two */ let a = 1;");
    }

    #[test]
    fn code_that_is_too_long_stays_plain() {
        let rust = named("rust").unwrap();
        assert_eq!(spans(&"let a = 1;\n".repeat(9000), rust, &DARK).len(), 1);
        assert!(spans("let a = 1;\n", rust, &DARK).len() > 2);
    }
}
