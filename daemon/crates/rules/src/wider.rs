//! The rules that an approval of a command offers.

use crate::{Effect, Plain, Rule, hazard, path::is_protected, rule::Matcher};

/// At most so many rules that match more than the very command.
const MOST: usize = 3;

/// A rule that an approval offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub text: String,
    /// What it would match, in words.
    pub matches: String,
}

/// The rules that match a command and others like it, the narrowest first: the command with any further
/// words, and its beginnings. None for a line that is not plain, and for programs that run what their words
/// say.
#[must_use]
pub fn wider(line: &str) -> Vec<Offer> {
    let Some(plain) = Plain::parse(line) else { return Vec::new() };
    let program = plain.program();
    // What `git` runs is named by the repository's configuration too, for example a file system monitor.
    let runs_others = matches!(program, "find" | "fd" | "git");
    if hazard::is_wrapper(program) || hazard::is_interpreter(program) || runs_others {
        return Vec::new();
    }
    let mut lengths: Vec<usize> = vec![plain.words.len(), 2, 1];
    lengths.dedup();
    // `cargo *` would allow all that cargo can do.
    let has_verb = plain.words.get(1).is_some_and(|word| is_verb(word));
    lengths.retain(|length| *length <= plain.words.len() && (*length > 1 || !has_verb));
    let mut offers: Vec<Offer> = Vec::new();
    for length in lengths {
        let words: Vec<String> = plain.words[..length].iter().map(|word| quoted(word)).collect();
        let text = format!("shell({} *)", words.join(" "));
        let Ok(rule) = Rule::parse(&text, Effect::Allow) else { continue };
        let does_allow = matches!(&rule.matcher, Matcher::Shell(pattern) if pattern.allows(&plain.words));
        if does_allow && offers.len() < MOST && offers.iter().all(|offer| offer.text != text) {
            offers.push(Offer { text, matches: rule.matches() });
        }
    }
    offers
}

/// The rules that match changes of a file, and of the files beneath its folder. None for a name with the
/// signs of a pattern.
#[must_use]
pub fn wider_edit(path: &str) -> Vec<Offer> {
    if is_protected(path) || path.contains(|c: char| "*?[]{}!\\()".contains(c) || c.is_control()) {
        return Vec::new();
    }
    let mut offers =
        vec![Offer { text: format!("edit({path})"), matches: "every change of this file".to_owned() }];
    if let Some((folder, _)) = path.rsplit_once('/') {
        let matches = format!("every change of a file beneath {folder}");
        offers.push(Offer { text: format!("edit({folder}/**)"), matches });
    }
    offers.retain(|offer| Rule::parse(&offer.text, Effect::Allow).is_ok());
    offers
}

/// Whether a word looks like the name of one of a program's commands, as `test` in `cargo test`.
fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | ':'))
}

/// A word as it is written in a rule.
fn quoted(word: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-^#".contains(c);
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    word.chars().flat_map(|c| if is_bare(c) { vec![c] } else { vec!['\\', c] }).collect()
}
