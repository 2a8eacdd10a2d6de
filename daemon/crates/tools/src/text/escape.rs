use abide_protocol::invisible::is_invisible;
use std::fmt::Write as _;

/// The text with escapes in place of control characters and of characters that reorder or hide text.
pub(crate) fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// The text on one line of at most `max` characters, with the same escapes.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    // The rest cannot be shown, so it is not escaped.
    let mut shown: String = escape(&text.trim().chars().take(max + 1).collect::<String>());
    if shown.chars().count() > max {
        shown = shown.chars().take(max.saturating_sub(1)).collect();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(escape("a\x1b]0;x\x07\n\u{202e}b\u{200b}é"), "a\\u{1b}]0;x\\u{7}\\n\\u{202e}b\\u{200b}é");
    }

    #[test]
    fn a_line_is_cut_at_its_limit() {
        assert_eq!(one_line("  ab\ncd ", 10), "ab\\ncd");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("\n\n\u{7}\u{7}x", 6), "\\u{7}…");
        assert_eq!(one_line(&"é".repeat(1000), 120).chars().count(), 120);
    }
}
