//! Colours in programs' output (SGR escape sequences, ECMA-48, and xterm's 256 and 16 million), mapped to the
//! theme's quiet ones. Other escape sequences are removed. The output is not trusted: other control
//! characters are made visible, and the number of styled parts is limited.

use crate::{
    output::{Piece, overwritten, pieces},
    syntax::mix,
    theme::{Tokens, radius, style},
    widget::passage::{self, Passage, Span},
};
use abide_host::text::visible;
use iced::{Background, Border, Color, border::rounded};

/// The most styled parts of one text; the rest has no style.
const MAX_PARTS: usize = 4000;
/// The least contrast of text with its background (WCAG AA).
const READABLE: f32 = 4.5;

/// A colour as the program named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    /// One of the sixteen named colours.
    Named(u8),
    Rgb(u8, u8, u8),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    ink: Option<Paint>,
    ground: Option<Paint>,
    is_strong: bool,
    is_faint: bool,
    is_underlined: bool,
    is_struck: bool,
    is_inverse: bool,
}

/// A program's output, coloured when it is first shown.
pub fn output<'a, Message>(text: &str, tokens: &'static Tokens) -> Passage<'a, Message> {
    let stamp = std::ptr::from_ref(tokens).addr() as u64;
    passage::drawn(text.to_owned(), stamp, move |text| spans(text, tokens)).style(style::muted)
}

/// The text in spans; of each line the last text that a terminal would show.
#[must_use]
pub fn spans(text: &str, tokens: &Tokens) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut style = Style::default();
    let mut words = String::new();
    for piece in pieces(&overwritten(text)) {
        match piece {
            Piece::Words(part) => words.push_str(&visible(part)),
            Piece::Escape(sequence) => {
                let next = style.after(sequence);
                if next != style && spans.len() < MAX_PARTS {
                    push(&mut spans, &mut words, style, tokens);
                    style = next;
                }
            }
        }
    }
    if spans.len() == MAX_PARTS {
        style = Style::default();
    }
    push(&mut spans, &mut words, style, tokens);
    spans
}

fn push(spans: &mut Vec<Span>, words: &mut String, style: Style, tokens: &Tokens) {
    if !words.is_empty() {
        spans.push(style.span(std::mem::take(words), tokens));
    }
}

impl Style {
    /// The style after this sequence.
    fn after(self, sequence: &str) -> Self {
        let codes = sequence.strip_prefix("\u{1b}[").and_then(|rest| rest.strip_suffix('m'));
        let Some(codes) =
            codes.filter(|codes| codes.bytes().all(|b| b.is_ascii_digit() || b";:".contains(&b)))
        else {
            return self;
        };
        let mut style = self;
        // The form `38:2::r:g:b` exists too; an empty code is 0.
        let codes = codes.replace("::", ":").replace(':', ";");
        let mut codes =
            codes.split(';').map(|code| code.parse().unwrap_or(if code.is_empty() { 0 } else { 1000 }));
        while let Some(code) = codes.next() {
            style = style.with(code, &mut codes);
        }
        style
    }

    fn with(self, code: u16, rest: &mut impl Iterator<Item = u16>) -> Self {
        let named = |from: u16| u8::try_from(code - from).ok().map(Paint::Named);
        match code {
            0 => Self::default(),
            1 => Self { is_strong: true, ..self },
            2 => Self { is_faint: true, ..self },
            4 | 21 => Self { is_underlined: true, ..self },
            7 => Self { is_inverse: true, ..self },
            9 => Self { is_struck: true, ..self },
            22 => Self { is_strong: false, is_faint: false, ..self },
            24 => Self { is_underlined: false, ..self },
            27 => Self { is_inverse: false, ..self },
            29 => Self { is_struck: false, ..self },
            30..=37 => Self { ink: named(30), ..self },
            38 => Self { ink: extended(rest).or(self.ink), ..self },
            39 => Self { ink: None, ..self },
            40..=47 => Self { ground: named(40), ..self },
            48 => Self { ground: extended(rest).or(self.ground), ..self },
            49 => Self { ground: None, ..self },
            90..=97 => Self { ink: named(82), ..self },
            100..=107 => Self { ground: named(92), ..self },
            _ => self,
        }
    }

    fn span(self, words: String, tokens: &Tokens) -> Span {
        let (ink, ground) =
            if self.is_inverse { (self.ground, Some(self.ink)) } else { (self.ink, self.ground.map(Some)) };
        let color = match ink {
            Some(paint) => Some(readable(paint.color(tokens), tokens)),
            None if self.is_strong || self.is_inverse => Some(tokens.text),
            None => None,
        };
        // Code has a font of one weight, so faint text gets a colour nearer to the background, as far as it
        // stays readable.
        let color = if self.is_faint { Some(tokens.muted) } else { color };
        let mut span = Span::new(words).underline(self.is_underlined).strikethrough(self.is_struck);
        span.color = color;
        if let Some(paint) = ground {
            let paint = paint.map_or(tokens.muted, |paint| paint.color(tokens));
            let ground = mix(tokens.code, paint, 0.22);
            let border: Border = rounded(radius::KEY / 2.0);
            span = span.background(Background::Color(ground)).border(border);
        }
        span
    }
}

/// `5;n` or `2;r;g;b`.
fn extended(rest: &mut impl Iterator<Item = u16>) -> Option<Paint> {
    let mut byte = || rest.next().and_then(|n| u8::try_from(n).ok());
    match byte()? {
        5 => byte().map(indexed),
        2 => Some(Paint::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

/// A colour of xterm's 256: sixteen named ones, a cube of six, and greys.
fn indexed(n: u8) -> Paint {
    let step = |n: u8| if n == 0 { 0 } else { 55 + n * 40 };
    match n {
        0..=15 => Paint::Named(n),
        16..=231 => {
            let n = n - 16;
            Paint::Rgb(step(n / 36), step(n / 6 % 6), step(n % 6))
        }
        232.. => {
            let grey = 8 + (n - 232) * 10;
            Paint::Rgb(grey, grey, grey)
        }
    }
}

impl Paint {
    /// Amber is the colour of what needs a person, so yellow is far from it.
    fn color(self, t: &Tokens) -> Color {
        match self {
            Self::Named(n) => match n % 8 {
                0 => t.muted,
                1 => t.bad,
                2 => t.ok,
                3 => mix(t.text, t.needs_you, 0.4),
                4 => t.accent,
                5 => mix(t.accent, t.bad, 0.5),
                6 => mix(t.accent, t.ok, 0.5),
                _ => t.text,
            },
            Self::Rgb(r, g, b) => mix(Color::from_rgb8(r, g, b), t.text, 0.4),
        }
    }
}

/// The colour, moved towards the text's colour until it is readable.
fn readable(color: Color, tokens: &Tokens) -> Color {
    let steps = [0.0, 0.2, 0.4, 0.6, 0.8];
    let mut nearer = steps.into_iter().map(|part| mix(color, tokens.text, part));
    nearer.find(|ink| contrast(*ink, tokens.code) >= READABLE).unwrap_or(tokens.text)
}

/// WCAG 2's contrast of two colours.
fn contrast(a: Color, b: Color) -> f32 {
    let (a, b) = (a.relative_luminance(), b.relative_luminance());
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{DARK, LIGHT};

    fn parts(text: &str) -> Vec<(String, Option<Color>)> {
        spans(text, &DARK).into_iter().map(|span| (span.text.to_string(), span.color)).collect()
    }

    #[test]
    fn colours_are_the_themes() {
        assert_eq!(
            parts("a \u{1b}[31mred\u{1b}[0m b"),
            [("a ".to_owned(), None), ("red".to_owned(), Some(DARK.bad)), (" b".to_owned(), None)]
        );
        assert_eq!(parts("\u{1b}[1;32mok\u{1b}[m"), [("ok".to_owned(), Some(DARK.ok))]);
        assert_eq!(
            parts("\u{1b}[94mblue\u{1b}[39m."),
            [("blue".to_owned(), Some(DARK.accent)), (".".to_owned(), None)]
        );
        assert_eq!(parts("\u{1b}[1mstrong"), [("strong".to_owned(), Some(DARK.text))]);
    }

    #[test]
    fn the_256_and_all_others_are_known_by_each_spelling() {
        let red = parts("\u{1b}[38;2;255;0;0mx");
        assert_eq!(red, parts("\u{1b}[38:2::255:0:0mx"));
        assert_eq!(red, parts("\u{1b}[38;5;196mx"));
        assert!(red[0].1.is_some());
        assert_eq!(parts("\u{1b}[38;5;1mx")[0].1, Some(DARK.bad));
        let ground = spans("\u{1b}[7mx", &DARK);
        assert!(ground[0].highlight.is_some());
        assert!(spans("\u{1b}[4;9mx", &DARK).iter().all(|span| span.underline && span.strikethrough));
    }

    #[test]
    fn every_colour_can_be_read() {
        for tokens in [DARK, LIGHT] {
            for n in 0..=255 {
                for span in spans(&format!("\u{1b}[38;5;{n}mx"), &tokens) {
                    let contrast = contrast(span.color.unwrap(), tokens.code);
                    assert!(contrast >= READABLE, "{n}: {contrast}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_colour_is_removed() {
        for (written, read) in [
            ("\u{1b}[2Jx\u{1b}[1;1Hy", "xy"),
            ("\u{1b}]0;title\u{7}a", "a"),
            ("\u{1b}[?25lz\u{1b}[38;5", "z"),
            ("\u{1b}[999999999999mx\u{1b}[38;2;1mx\u{1b}[48;5;999mx\u{1b}[38mx", "xxxx"),
        ] {
            let text: String = spans(written, &DARK).iter().map(|span| span.text.to_string()).collect();
            assert_eq!(text, read, "{written:?}");
        }
        assert!(spans("\u{202e}x", &DARK)[0].text.len() > 4, "what turns the line round is made visible");
    }

    #[test]
    fn endless_colours_are_cut() {
        let text = "\u{1b}[31ma\u{1b}[32mb".repeat(9000);
        let spans = spans(&text, &DARK);
        assert_eq!(spans.len(), MAX_PARTS + 1);
        assert_eq!(spans.iter().map(|span| span.text.len()).sum::<usize>(), 18_000);
    }
}
