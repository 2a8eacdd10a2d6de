//! What a person gives as an API key: the key itself, and nothing that was copied with it.

use crate::invisible::is_invisible;

/// The longest key, in bytes; far above any provider's.
pub const MAX: usize = 16 * 1024;

/// Why a text is not an API key. The text itself is in no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {} KiB", MAX / 1024)]
    TooLong,
    #[error("it is in quotes: give it without them")]
    Quoted,
    #[error(
        "it begins with the word Bearer, which is of the header and not of the key: give what follows it"
    )]
    Bearer,
    #[error("there is a blank or a line end within it: give it as one word")]
    Blank,
    #[error("there is a control character or an invisible one within it: copy it again")]
    Invisible,
}

/// The key in this text. Blanks and line ends around it are left out.
///
/// # Errors
/// It is not a key, or more than that.
pub fn read(text: &str) -> Result<&str, KeyFault> {
    const QUOTES: [char; 9] = ['"', '\'', '`', '“', '”', '„', '‘', '’', '«'];
    let key = text.trim();
    let has_bearer = key.split_whitespace().next().is_some_and(|word| {
        let word = word.trim_start_matches(QUOTES).trim_end_matches(':');
        word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("authorization")
    });
    match key {
        "" => Err(KeyFault::Empty),
        _ if key.len() >= MAX => Err(KeyFault::TooLong),
        _ if has_bearer => Err(KeyFault::Bearer),
        _ if key.starts_with(QUOTES) || key.ends_with(QUOTES) => Err(KeyFault::Quoted),
        _ if key.contains(char::is_whitespace) => Err(KeyFault::Blank),
        _ if key.contains(|c: char| c.is_control() || is_invisible(c)) => Err(KeyFault::Invisible),
        _ => Ok(key),
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyFault, MAX, read};

    #[test]
    fn a_key_is_one_word_without_what_was_copied_with_it() {
        let long = "x".repeat(MAX);
        for (text, expected) in [
            ("sk-1234", Ok("sk-1234")),
            (" \n sk-1234\r\n", Ok("sk-1234")),
            ("sk-\"\\{}ä", Ok("sk-\"\\{}ä")),
            ("bearer-of-news", Ok("bearer-of-news")),
            ("", Err(KeyFault::Empty)),
            (" \n", Err(KeyFault::Empty)),
            (&long, Err(KeyFault::TooLong)),
            ("\"sk-1234\"", Err(KeyFault::Quoted)),
            ("'sk-1234'\n", Err(KeyFault::Quoted)),
            ("sk-1234\"", Err(KeyFault::Quoted)),
            ("“sk-1234”", Err(KeyFault::Quoted)),
            ("Bearer sk-1234", Err(KeyFault::Bearer)),
            ("\"bearer  sk-1234\"", Err(KeyFault::Bearer)),
            ("Authorization: Bearer sk-1234", Err(KeyFault::Bearer)),
            ("sk-12 34", Err(KeyFault::Blank)),
            ("sk-12\n34", Err(KeyFault::Blank)),
            ("sk-12\u{a0}34", Err(KeyFault::Blank)),
            ("sk-12\u{1b}34", Err(KeyFault::Invisible)),
            ("sk-12\u{200b}34", Err(KeyFault::Invisible)),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
