//! The fonts that are part of the program. Their families have names of their own: a family of the system
//! with the same name would be drawn in their place, and may have ligatures, or no box for a missing
//! character.

use iced::{
    Font,
    advanced::text::Span,
    font::{Family, Style, Weight},
};
use std::sync::Arc;

/// For prose.
pub const PROSE: Font = Font::with_name("Abide Inter");
/// For titles and buttons.
pub const MEDIUM: Font = Font { weight: Weight::Medium, ..PROSE };
/// For headings.
pub const STRONG: Font = Font { weight: Weight::Semibold, ..PROSE };
/// For code, commands and paths.
pub const CODE: Font = Font { family: Family::Name("Abide JetBrains Mono"), ..PROSE };

/// Files to load.
pub const FILES: [&[u8]; 5] = [
    include_bytes!("../fonts/Inter-Regular.otf"),
    include_bytes!("../fonts/Inter-Medium.otf"),
    include_bytes!("../fonts/Inter-SemiBold.otf"),
    include_bytes!("../fonts/Inter-Italic.otf"),
    include_bytes!("../fonts/JetBrainsMono-Regular.ttf"),
];

/// The same spans with only embedded faces. iced's Markdown uses weight 700, which the embedded font lacks; a
/// system font of exactly that weight would be preferred to it.
pub fn embedded_only<Link: Clone>(spans: Arc<[Span<'static, Link>]>) -> Arc<[Span<'static, Link>]> {
    let is_bold = |span: &Span<'static, Link>| span.font.is_some_and(|font| font.weight == Weight::Bold);
    if !spans.iter().any(is_bold) {
        return spans;
    }
    let embedded = |mut span: Span<'static, Link>| {
        span.font = span.font.map(nearest);
        span
    };
    spans.iter().cloned().map(embedded).collect()
}

/// The embedded face that replaces this one.
fn nearest(font: Font) -> Font {
    match (font.weight, font.style) {
        (Weight::Bold, Style::Normal) => Font { weight: Weight::Semibold, ..font },
        // There is only one italic.
        (Weight::Bold, Style::Italic | Style::Oblique) => Font { weight: Weight::Normal, ..font },
        _ => font,
    }
}

/// A character put between two faces within a word: it has no width, and no line breaks at it.
pub const JOINER: char = '\u{2060}';

/// The same spans, each shaped in its own face. cosmic-text 0.15 shapes a whole ASCII word in the face of its
/// beginning; a character that is not ASCII prevents that.
pub fn each_in_its_face<Link: Clone>(spans: Arc<[Span<'static, Link>]>) -> Arc<[Span<'static, Link>]> {
    let is_within_word =
        |a: &Span<'static, Link>, b: &Span<'static, Link>| a.font != b.font && are_one_word(&a.text, &b.text);
    if !spans.windows(2).any(|pair| is_within_word(&pair[0], &pair[1])) {
        return spans;
    }
    let mut joined = spans.to_vec();
    for n in 1..spans.len() {
        if is_within_word(&spans[n - 1], &spans[n]) {
            // Outside of a highlighted span.
            if spans[n].highlight.is_some() {
                joined[n - 1].text.to_mut().push(JOINER);
            } else {
                joined[n].text.to_mut().insert(0, JOINER);
            }
        }
    }
    joined.into()
}

/// Whether two texts meet within what is shaped as one word: no line may break there (UAX #14, LB13 and
/// LB14), with spaces too.
fn are_one_word(before: &str, after: &str) -> bool {
    let (last, first) = (before.trim_end_matches(' '), after.trim_start_matches(' '));
    let (Some(end), Some(start)) = (last.chars().next_back(), first.chars().next()) else { return false };
    let is_spaced = last.len() < before.len() || first.len() < after.len();
    let is_closing = matches!(start, '.' | ',' | ':' | ';' | '!' | '?' | '/' | ')' | ']' | '}');
    let is_opening = matches!(end, '(' | '[' | '{');
    let is_in_word = |c: char| c.is_ascii() && !c.is_ascii_whitespace();
    is_in_word(end) && is_in_word(start) && (!is_spaced || is_closing || is_opening)
}
