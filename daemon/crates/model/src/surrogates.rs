//! Characters that a server has cut in two. A tokenizer may split an emoji into tokens, and a server may then
//! write the first half of its escape, `\ud83d`, at the end of one JSON string, and the second half,
//! `\ude00`, at the beginning of a string of a later event.

/// Joins the halves over the events of a stream.
#[derive(Default)]
pub(crate) struct Surrogates {
    /// The first half that the last such event ended with, as an escape.
    first: Option<String>,
}

impl Surrogates {
    /// The event's data with whole characters only: a first half waits for the second, and a half without the
    /// other one becomes the replacement character.
    pub(crate) fn mend(&mut self, data: String) -> String {
        if !data.contains(r"\ud") && !data.contains(r"\uD") {
            return data;
        }
        let mut mended = String::with_capacity(data.len() + 6);
        let mut rest = data.as_str();
        while let Some(at) = rest.find('\\') {
            let (before, escape) = rest.split_at(at);
            mended.push_str(before);
            let begins_string = before.ends_with('"') || (before.is_empty() && mended.ends_with('"'));
            // The escapes that are no surrogate are passed over whole, so that an escaped backslash begins
            // none.
            let length = match half(escape) {
                None => escape.chars().take(2).map(char::len_utf8).sum(),
                Some(Half::First) if half(&escape[6..]) == Some(Half::Second) => 12,
                Some(Half::First) if escape[6..].starts_with('"') => {
                    self.first = Some(escape[..6].to_owned());
                    rest = &escape[6..];
                    continue;
                }
                Some(Half::Second) if begins_string && self.first.is_some() => {
                    mended.extend(self.first.take());
                    6
                }
                Some(Half::First | Half::Second) => {
                    mended.push(char::REPLACEMENT_CHARACTER);
                    rest = &escape[6..];
                    continue;
                }
            };
            let (escape, after) = escape.split_at(length);
            mended.push_str(escape);
            rest = after;
        }
        mended.push_str(rest);
        mended
    }
}

#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// The half of a character whose escape `text` begins with.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_joined_over_events_and_whole_characters_are_left_alone() {
        for (events, expected) in [
            (&[r#""a\ud83d""#, r#""\ude00b""#][..], &["a", "😀b"][..]),
            (&[r#""\uD83D""#, r#""""#, r#""\uDE00""#], &["", "", "😀"]),
            (&[r#""\ud83d\ude00""#], &["😀"]),
            (&[r#""\ud83d\ude00\ud83d""#, r#""\ude00\ud83d\ude00""#], &["😀", "😀😀"]),
            (&[r#""\\ud83d""#, r#""\\\\ude00 \"""#], &[r"\ud83d", "\\\\ude00 \""]),
            (&[r#""\ud83d x""#, r#""\ude00""#], &["\u{fffd} x", "\u{fffd}"]),
            (&[r#""x\ude00""#], &["x\u{fffd}"]),
            (&[r#""\u00fc\udead""#], &["ü\u{fffd}"]),
        ] {
            let mut surrogates = Surrogates::default();
            let said: Vec<String> = events
                .iter()
                .map(|event| serde_json::from_str(&surrogates.mend((*event).to_owned())).unwrap())
                .collect();
            assert_eq!(said, expected, "{events:?}");
        }
        // What is no JSON comes out as it is, or at least without harm.
        for odd in [r"\ud", r"\ud83", r"\ud83d", r"\udé00", "\\"] {
            Surrogates::default().mend(odd.to_owned());
        }
    }
}
