//! The command lines that the rules are tested with.

use abide_rules::{Book, Effect, Rule, Source, Standing, Verdict};
use std::sync::Arc;

/// What `{safe}` stands for.
const SAFE: [&str; 3] = ["ls -la", "git log --oneline", "cargo test --lib"];

pub(crate) fn seeds() -> Book {
    book(
        &texts(include_str!("corpus/seeds.txt"))
            .iter()
            .map(|text| (text.as_str(), Effect::Allow))
            .collect::<Vec<_>>(),
    )
}

pub(crate) fn bypasses() -> Vec<String> {
    let mut lines = Vec::new();
    for line in texts(include_str!("corpus/bypasses.txt")) {
        let line = line.replace("{fifty}", &vec!["ls"; 51].join("; "));
        if line.contains("{safe}") {
            lines.extend(SAFE.iter().map(|safe| line.replace("{safe}", safe)));
        } else {
            lines.push(line);
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

pub(crate) fn evasions() -> Vec<String> {
    texts(include_str!("corpus/evasions.txt"))
}

pub(crate) fn benign() -> Vec<String> {
    texts(include_str!("corpus/benign.txt"))
}

pub(crate) fn daily() -> Vec<String> {
    texts(include_str!("corpus/daily.txt"))
}

pub(crate) fn book(rules: &[(&str, Effect)]) -> Book {
    let standing = |(text, effect): &(&str, Effect)| Standing {
        rule: Arc::new(Rule::parse(text, *effect).unwrap_or_else(|error| panic!("{text} {error}"))),
        effect: *effect,
        source: Source::Policy,
    };
    Book::new(rules.iter().map(standing).collect())
}

pub(crate) fn is_allowed(verdict: &Verdict<'_>) -> bool {
    matches!(verdict, Verdict::Allow(..))
}

/// Lines without comments, headings and escapes. A heading is `# ` and has no escape.
fn texts(file: &str) -> Vec<String> {
    let is_text = |line: &&str| !line.is_empty() && (!line.starts_with("# ") || line.contains("\\n"));
    file.lines().filter(is_text).map(unescape).collect()
}

fn unescape(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut chars = after.chars();
        match chars.next().unwrap() {
            'r' => text.push('\r'),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            '0' => text.push('\0'),
            'e' => text.push('\u{1b}'),
            '\\' => text.push('\\'),
            'u' => {
                let (digits, after) = chars.as_str().strip_prefix('{').unwrap().split_once('}').unwrap();
                text.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
                chars = after.chars();
            }
            other => panic!("no escape: \\{other} in {line:?}"),
        }
        rest = chars.as_str();
    }
    text + rest
}
