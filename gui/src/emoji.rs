//! Replaces emoji by words on a system without an emoji font: drawn as boxes, or as nothing, they would say
//! nothing.

use crate::font;
use iced::advanced::graphics::text::{
    cosmic_text::{Buffer, Metrics, Shaping, SwashCache},
    font_system, to_attributes,
};
use std::{borrow::Cow, sync::LazyLock};

/// How emoji can be shown where no font has them.
pub(crate) const ADVICE: &str = "Emoji are shown as words here, because no font on this computer has emoji that can be drawn. To see them, install the font \
     Noto Color Emoji (on Debian and Ubuntu the package fonts-noto-color-emoji), and open the window again.";

/// Emoji that agents use often, in words.
const NAMES: [(char, &str); 28] = [
    ('✅', "check"),
    ('❌', "cross"),
    ('✨', "sparkles"),
    ('⭐', "star"),
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

/// Makes a key of the digit before it.
const KEY: char = '\u{20e3}';

static HAS_FONT: LazyLock<bool> = LazyLock::new(has_font);

/// The text with such replacements.
#[must_use]
pub(crate) fn drawable(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || *HAS_FONT { text } else { in_words(text) }
}

/// Whether the text has emoji that no font has.
#[must_use]
pub(crate) fn lacks_font(text: &str) -> bool {
    !text.is_ascii() && !*HAS_FONT && text.chars().any(is_emoji)
}

/// Whether an emoji is seen. Those of fonts of some formats would be drawn as nothing.
fn has_font() -> bool {
    let Ok(mut system) = font_system().write() else { return true };
    let system = system.raw();
    let mut text = Buffer::new(system, Metrics::new(16.0, 16.0));
    text.set_text(system, "🎉", &to_attributes(font::PROSE), Shaping::Advanced, None);
    text.shape_until_scroll(system, false);
    let glyph = text.layout_runs().flat_map(|run| run.glyphs).next();
    // The first glyph of a font is its box.
    let Some(glyph) = glyph.filter(|glyph| glyph.glyph_id != 0) else { return false };
    let picture = SwashCache::new().get_image_uncached(system, glyph.physical((0.0, 0.0), 1.0).cache_key);
    picture.is_some_and(|picture| picture.data.iter().any(|level| *level > 0))
}

/// Symbols of before Unicode 6 are in many fonts; these are only in emoji fonts.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{1f1e6}'..='\u{1f1ff}')
        || matches!(c, '⏩'..='⏬' | '⏰' | '⏳' | '⛎' | '✅' | '✊' | '✋' | '✨' | '❌' | '❎' | '❓'..='❕' | '❗')
        || matches!(c, '➕'..='➗' | '➰' | '➿' | '⬛' | '⬜' | '⭐' | '⭕')
}

/// Characters that only modify the emoji before them: skin tone, joiner, style, and the key around a digit.
const fn changes_emoji(c: char) -> bool {
    matches!(c, KEY | '\u{1f3fb}'..='\u{1f3ff}' | '\u{200d}' | '\u{fe0f}' | '\u{fe0e}')
}

fn in_words(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.chars().any(|c| is_emoji(c) || c == KEY) {
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
        for (text, shown) in [
            ("done 🎉", "done (party)"),
            ("👍🏽 and 👩\u{200d}💻", "(yes) and (emoji)"),
            ("ä → ✓ ⚠️", "ä → ✓ ⚠️"),
            ("✅ a ❌ ⏳", "(check) a (cross) (emoji)"),
            ("1️⃣ first", "1 first"),
        ] {
            assert_eq!(in_words(text.into()), shown);
        }
    }
}
