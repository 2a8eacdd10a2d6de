//! Replaces emoji by words on a system without an emoji font: drawn as nothing, they would leave a gap in a sentence.

use std::{borrow::Cow, sync::LazyLock};

/// Emoji that agents use often, in words.
const NAMES: [(char, &str); 24] = [
    ('🎉', "party"),
    ('🚀', "rocket"),
    ('🔥', "fire"),
    ('💡', "idea"),
    ('📝', "note"),
    ('📁', "folder"),
    ('📂', "folder"),
    ('📄', "file"),
    ('📦', "package"),
    ('📊', "chart"),
    ('📌', "pin"),
    ('🔍', "search"),
    ('🔎', "search"),
    ('🔧', "wrench"),
    ('🔒', "lock"),
    ('🔗', "link"),
    ('🐛', "bug"),
    ('🧪', "test"),
    ('👍', "yes"),
    ('👎', "no"),
    ('🙂', "smile"),
    ('😀', "smile"),
    ('🟢', "green"),
    ('🔴', "red"),
];

/// The text with such replacements.
#[must_use]
pub(crate) fn drawable(text: Cow<'_, str>) -> Cow<'_, str> {
    static HAS_FONT: LazyLock<bool> = LazyLock::new(has_font);
    if text.is_ascii() || *HAS_FONT { text } else { in_words(text) }
}

fn has_font() -> bool {
    let Ok(mut system) = iced::advanced::graphics::text::font_system().write() else { return true };
    let mut faces = system.raw().db().faces();
    faces.any(|face| face.families.iter().any(|(name, _)| name.to_lowercase().contains("emoji")))
}

/// Older symbols are in many fonts; these are only in emoji fonts.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{1f1e6}'..='\u{1f1ff}')
}

/// Characters that only modify the emoji before them: skin tone, joiner, style.
const fn changes_emoji(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{200d}' | '\u{fe0f}' | '\u{fe0e}')
}

fn in_words(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.chars().any(is_emoji) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    let mut is_joined = false;
    for c in text.chars() {
        if changes_emoji(c) {
            is_joined = c == '\u{200d}';
        } else if is_emoji(c) {
            if !is_joined {
                let name = NAMES.iter().find(|(emoji, _)| *emoji == c).map_or("emoji", |(_, name)| name);
                shown.push('(');
                shown.push_str(name);
                shown.push(')');
            }
            is_joined = false;
        } else {
            shown.push(c);
            is_joined = false;
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_that_cannot_be_drawn_is_said() {
        for (text, shown) in
            [("done 🎉", "done (party)"), ("👍🏽 and 👩\u{200d}💻", "(yes) and (emoji)"), ("ä → ✓", "ä → ✓")]
        {
            assert_eq!(in_words(text.into()), shown);
        }
    }
}
