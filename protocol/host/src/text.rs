//! Makes text of models, tools and peers safe for a terminal: it cannot move the cursor, and cannot hide or
//! reorder text.

use abide_protocol::invisible::is_invisible;
use std::{borrow::Cow, fmt::Write as _};

/// Escapes what a terminal would act on or a person would not see, as `\x1b` or `\u{202e}`: control
/// characters, line and paragraph separators, bidi controls, zero-width and other invisible characters.
/// Newlines and tabs stay; `\r ` becomes ` `.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// [`visible`], for one line: newlines and tabs are escaped too (`\n`, `\t`).
#[must_use]
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let mut safe = String::new();
    // Everything before this offset is in `safe` already.
    let mut copied = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next();
        if !keep(c) && is_hostile(c, before, after) {
            safe.push_str(&text[copied..at]);
            copied = at + c.len_utf8();
            push_escaped(&mut safe, c, after, &keep);
        }
        before = Some(c);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    safe.push_str(&text[copied..]);
    Cow::Owned(safe)
}

fn push_escaped(safe: &mut String, c: char, after: Option<char>, keep: &impl Fn(char) -> bool) {
    match c {
        // Dropped: the newline follows.
        '\r' if after == Some('\n') && keep('\n') => {}
        '\n' => safe.push_str("\\n"),
        '\r' => safe.push_str("\\r"),
        '\t' => safe.push_str("\\t"),
        _ if c.is_ascii() => {
            let _ = write!(safe, "\\x{:02x}", u32::from(c));
        }
        _ => {
            let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

fn is_hostile(c: char, before: Option<char>, after: Option<char>) -> bool {
    match c {
        // Persian, Indic scripts and emoji need the joiners; between ASCII they only hide.
        '\u{200c}' | '\u{200d}' => before.is_none_or(|b| b.is_ascii()) || after.is_none_or(|a| a.is_ascii()),
        _ => c.is_control() || is_invisible(c),
    }
}

#[cfg(test)]
mod tests;
