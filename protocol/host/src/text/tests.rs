use super::{visible, visible_line};
use std::borrow::Cow;

#[test]
fn plain_text_is_not_copied() {
    for text in ["", "two\n\tlines", "Grüße, 你好, שלום, 🦀", "👩‍👩‍👧", "می‌خواهم", "1️⃣"]
    {
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text:?}");
    }
}

#[test]
fn control_characters_are_escaped() {
    let table = [
        ("\u{1b}[2J\u{1b}]0;title\u{7}", r"\x1b[2J\x1b]0;title\x07"),
        ("a\u{9b}31mb", r"a\u{9b}31mb"),
        ("rm -rf /\rls", r"rm -rf /\rls"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\u{8}\u{8}b\u{7f}\0", r"a\x08\x08b\x7f\x00"),
        ("user\u{202e}gpj.exe", r"user\u{202e}gpj.exe"),
        ("\u{2066}x\u{2069}\u{200f}", r"\u{2066}x\u{2069}\u{200f}"),
        ("ab\u{200b}c\u{200d}d\u{feff}", r"ab\u{200b}c\u{200d}d\u{feff}"),
        ("line\u{2028}sep\u{85}next", r"line\u{2028}sep\u{85}next"),
        ("tag\u{e0041}\u{e0042}", r"tag\u{e0041}\u{e0042}"),
        ("\u{200d}🦀", r"\u{200d}🦀"),
        ("\u{3164}\u{ad}", r"\u{3164}\u{ad}"),
    ];
    for (text, expected) in table {
        assert_eq!(visible(text), expected, "{text:?}");
        assert_eq!(visible(expected), expected, "once is enough");
    }
}

#[test]
fn a_line_stays_one_line() {
    assert_eq!(visible_line("a\r\nb\tc\nd"), r"a\r\nb\tc\nd");
    assert!(matches!(visible_line("plain"), Cow::Borrowed("plain")));
}

#[test]
fn no_hostile_character_is_left() {
    for c in (0..=0x10_ffff).filter_map(char::from_u32) {
        let text = format!("a{c}b");
        let safe = visible(&text);
        let is_raw = safe == text;
        assert!(!is_raw || !c.is_control() || matches!(c, '\n' | '\t'), "{:x}", u32::from(c));
        assert_eq!(visible(&safe), safe, "{:x}", u32::from(c));
    }
}
