//! Characters in the form in which the model has learned them, as in the published tokenizer. The tables of
//! Unicode are newer here: an accent that came to Unicode after 2016 is an accent, and not an unknown word.

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory as Category, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// The text in lower case, without accents and control characters, with each Chinese character as a word.
pub(super) fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|&c| matches!(c, '\t' | '\n' | '\r') || !is_control(c))
        .flat_map(|c| {
            let blank = is_chinese(c).then_some(' ');
            [blank, Some(c), blank].into_iter().flatten()
        })
        .nfd()
        .filter(|c| c.general_category() != Category::NonspacingMark)
        .flat_map(char::to_lowercase)
}

pub(super) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_control(c: char) -> bool {
    c == char::REPLACEMENT_CHARACTER
        || matches!(c.general_category(), Category::Control | Category::Format | Category::PrivateUse)
}

/// The blocks of the published tokenizer. (They leave out a part of what Unicode calls Chinese.)
fn is_chinese(c: char) -> bool {
    matches!(
        c,
        '\u{4E00}'..='\u{9FFF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B73F}'
            | '\u{2B740}'..='\u{2B81F}'
            | '\u{2B920}'..='\u{2CEAF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{2F800}'..='\u{2FA1F}'
    )
}
