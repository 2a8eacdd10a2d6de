//! The fonts that are part of the program.

use iced::{
    Font,
    advanced::text::Span,
    font::{Family, Style, Weight},
};
use std::sync::Arc;

/// Prose.
pub const PROSE: Font = Font::with_name("Inter");
/// Titles, and what is pressed.
pub const MEDIUM: Font = Font { weight: Weight::Medium, ..PROSE };
/// Headings.
pub const STRONG: Font = Font { weight: Weight::Semibold, ..PROSE };
/// Code, commands, paths.
pub const CODE: Font = Font { family: Family::Name("JetBrains Mono"), ..PROSE };

/// Files to load.
pub const FILES: [&[u8]; 5] = [
    include_bytes!("../fonts/Inter-Regular.otf"),
    include_bytes!("../fonts/Inter-Medium.otf"),
    include_bytes!("../fonts/Inter-SemiBold.otf"),
    include_bytes!("../fonts/Inter-Italic.otf"),
    include_bytes!("../fonts/JetBrainsMono-Regular.ttf"),
];

/// The same spans in faces that are part of the program. iced's Markdown asks for weight 700, which the program has not: a system font
/// of exactly that weight would be preferred to the program's own family.
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

/// The face that stands in for this one.
fn nearest(font: Font) -> Font {
    match (font.weight, font.style) {
        (Weight::Bold, Style::Normal) => Font { weight: Weight::Semibold, ..font },
        // There is one italic.
        (Weight::Bold, Style::Italic | Style::Oblique) => Font { weight: Weight::Normal, ..font },
        _ => font,
    }
}

/// What stands between two faces within a word. It has no width, and no line breaks at it.
pub const JOINER: char = '\u{2060}';

/// The same spans, shaped in the faces that they ask for. cosmic-text 0.15 shapes a word of ASCII in the face of its beginning, whatever
/// the spans in it say; a character that is not ASCII keeps it from that.
pub fn each_in_its_face<Link: Clone>(spans: Arc<[Span<'static, Link>]>) -> Arc<[Span<'static, Link>]> {
    let is_within_word = |a: &Span<'static, Link>, b: &Span<'static, Link>| {
        let (last, first) = (a.text.chars().next_back(), b.text.chars().next());
        let is_in_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii() && !c.is_ascii_whitespace());
        a.font != b.font && is_in_word(last) && is_in_word(first)
    };
    if !spans.windows(2).any(|pair| is_within_word(&pair[0], &pair[1])) {
        return spans;
    }
    let mut joined = spans.to_vec();
    for n in 1..spans.len() {
        if is_within_word(&spans[n - 1], &spans[n]) {
            // Outside of what has a ground.
            if spans[n].highlight.is_some() {
                joined[n - 1].text.to_mut().push(JOINER);
            } else {
                joined[n].text.to_mut().insert(0, JOINER);
            }
        }
    }
    joined.into()
}
