//! Takes out of a text what looks like a key. It is a net for the usual shapes, not a promise: what is
//! recalled stays on this machine, in the conversations that already have it.

/// What stands for a key.
const REDACTED: &str = "[redacted]";
/// How keys of well-known services begin.
const PREFIXES: &[&str] = &[
    "sk-",
    "pk_live_",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
];
/// The names of settings whose value is a key.
const NAMES: &[&str] = &["key", "apikey", "token", "secret", "password", "passwd", "credential"];
/// A shorter word is no key.
const SHORTEST_KEY: usize = 16;
/// A shorter value of such a setting is no secret.
const SHORTEST_VALUE: usize = 6;

/// The text with [`REDACTED`] in the place of each key.
pub(super) fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    // The value of a setting with such a name follows.
    let mut is_value = false;
    let mut in_private_key = false;
    for line in text.split_inclusive('\n') {
        if in_private_key || line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
            if !in_private_key {
                redacted.push_str(REDACTED);
            }
            in_private_key = !line.contains("-----END ");
            continue;
        }
        let mut rest = line;
        while !rest.is_empty() {
            let is_word = rest.starts_with(is_of_word);
            let end = rest.find(|c| is_of_word(c) != is_word).unwrap_or(rest.len());
            let (piece, more) = rest.split_at(end);
            rest = more;
            if !is_word {
                is_value &= piece.chars().all(|c| "=:\"' \t,>".contains(c));
                redacted.push_str(piece);
                continue;
            }
            let hides = is_key(piece) || is_value && piece.len() >= SHORTEST_VALUE;
            redacted.push_str(if hides { REDACTED } else { piece });
            is_value = is_name(piece) && more.trim_start_matches(['"', '\'', ' ']).starts_with(['=', ':'])
                || piece.eq_ignore_ascii_case("bearer");
        }
        is_value = false;
    }
    redacted
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_-./+".contains(c)
}

fn is_key(word: &str) -> bool {
    word.len() >= SHORTEST_KEY && PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

fn is_name(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        let Some(before) = lower.strip_suffix(name) else { return false };
        // `API_KEY` and `apiKey`, but not `monkey`.
        !before.ends_with(char::is_alphabetic) || word[before.len()..].starts_with(char::is_uppercase)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_out_and_the_rest_stays() {
        let cases = [
            ("export OPENAI_API_KEY=sk-abcdefghijklmnop0123", "export OPENAI_API_KEY=[redacted]"),
            ("OPENAI_API_KEY=hunter22 and more words", "OPENAI_API_KEY=[redacted] and more words"),
            (r#"{"password": "correct-horse", "user": "me"}"#, r#"{"password": "[redacted]", "user": "me"}"#),
            ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer [redacted]"),
            ("it is ghp_0123456789abcdefghij, they say", "it is [redacted], they say"),
            ("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted]b"),
            ("the token bucket holds 100 tokens", "the token bucket holds 100 tokens"),
            ("monkey: bananas\nkey:\nnothing here", "monkey: bananas\nkey:\nnothing here"),
            ("apiKey: 'abcdefgh'", "apiKey: '[redacted]'"),
            ("src/sk-learn.rs is fine", "src/sk-learn.rs is fine"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(text), expected, "{text}");
        }
    }
}
