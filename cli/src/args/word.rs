//! Parses names and ids; refuses those that cannot name anything.

use abide_host::text::visible;

/// The longest id, title or model name accepted, in bytes: far above any in use.
const MAX: usize = 4096;

/// A value parser: not empty, one line, no control characters. Surrounding white space is removed.
pub(super) fn word(typed: &str) -> Result<String, String> {
    let word = typed.trim();
    if word.is_empty() {
        return Err("it is empty".to_owned());
    }
    if word.len() > MAX {
        return Err(format!("it has {} bytes, over the limit of {MAX}", word.len()));
    }
    if word.chars().any(char::is_control) {
        return Err(format!(
            "it has a line end or another control character: {}",
            visible(&word.escape_debug().to_string())
        ));
    }
    Ok(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn words_that_cannot_be_names_are_refused() {
        assert_eq!(word(" 5f2c81d0 ").as_deref(), Ok("5f2c81d0"));
        assert_eq!(word("ein Titel: größer").as_deref(), Ok("ein Titel: größer"));
        for bad in ["", "  \t", "a\nb", "a\u{1b}[2Jb", "a\u{0}", &"x".repeat(4097)] {
            let why = word(bad).expect_err(bad);
            assert!(why.starts_with("it ") && !why.contains(['\u{1b}', '\n']), "{why:?}");
        }
    }
}
