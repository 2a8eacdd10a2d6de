//! QR codes.

use super::style::paint;
use anstyle::{AnsiColor, Color, Style};
use qrcode::{EcLevel, QrCode, render::unicode::Dense1x2};

/// Dark on light, as cameras expect it, whatever the terminal's own colours are.
const PAPER: Style = Style::new()
    .fg_color(Some(Color::Ansi(AnsiColor::Black)))
    .bg_color(Some(Color::Ansi(AnsiColor::BrightWhite)));

/// The code of a text, in lines; `None`: the text is too long for one.
pub(crate) fn code(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let lines = code.render::<Dense1x2>().build();
    Some(lines.lines().map(|line| format!("{}\n", paint(PAPER, line))).collect())
}

#[cfg(test)]
mod tests {
    use super::code;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn the_address_of_a_page_with_a_token_fits_a_terminal() {
        let url = format!("https://abide.tail1234.ts.net/#token={}", "5f".repeat(32));
        let drawn = anstream::adapter::strip_str(&code(&url).unwrap()).to_string();
        let widths: Vec<_> = drawn.lines().map(str::width).collect();
        assert_eq!(widths, [45; 23], "{drawn}");
        assert_eq!(code(&"x".repeat(3000)), None);
    }
}
