//! Text from outside, made safe for Abide's own messages.

use abide_protocol::invisible::is_invisible;

/// The longest quotation, in characters.
const LONGEST: usize = 300;

/// `text` on one line, without control characters, shortened.
pub(crate) fn quote(text: &str) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()) {
        if count > 0 {
            shown.push(' ');
        }
        for c in word.chars().filter(|c| !is_invisible(*c)) {
            shown.push(c);
            count += 1;
            if count >= LONGEST {
                shown.push('…');
                return shown;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_line_ends_become_spaces() {
        assert_eq!(quote("a\u{1b}[31m\nb\r\n\tc\u{202e}d"), "a [31m b cd");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cut = quote(&"ä".repeat(1000));
        assert_eq!(cut.chars().count(), LONGEST + 1);
        assert!(cut.ends_with('…'));
    }
}
