//! Whether a program of awk may run others: by `system`, by a pipe, or by a function whose name is in a variable.

use crate::{Word, shell::is_stream};

pub(crate) fn may_run(words: &[Word]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return true };
        match text.strip_prefix('-') {
            None => return may_program(text),
            Some("f" | "-file") => return words.next().is_none_or(is_stream),
            Some("F" | "v") => drop(words.next()),
            Some(option) if option.starts_with(['F', 'v']) => {}
            Some("-version" | "-" | "V") => {}
            // Options of gawk's own name code, too.
            Some(_) => return true,
        }
    }
    false
}

/// A `|` in a regular expression or in a string runs nothing. One slash is a division, and a regular expression begins with it where no
/// value can end.
fn may_program(text: &str) -> bool {
    if text.contains("system") || text.contains("@") {
        return true;
    }
    let mut chars = text.chars().peekable();
    let mut before = ';';
    while let Some(c) = chars.next() {
        match c {
            '"' | '/' if c == '"' || "(,{};!~&|".contains(before) => {
                let mut is_in_brackets = false;
                loop {
                    match chars.next() {
                        Some('\\') => drop(chars.next()),
                        Some('/') if is_in_brackets => return true,
                        Some(end) if end == c => break,
                        Some('[') if c == '/' => is_in_brackets = true,
                        Some(']') => is_in_brackets = false,
                        None | Some('\n') => return true,
                        Some(_) => {}
                    }
                }
            }
            '|' if chars.next_if_eq(&'|').is_none() => return true,
            _ => {}
        }
        if c != ' ' {
            before = c;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_pipe_and_without_system_runs_nothing() {
        let may =
            |line: &[&str]| may_run(&line.iter().map(|w| Word::Literal((*w).to_owned())).collect::<Vec<_>>());
        for line in [
            &["{print $1}", "x"][..],
            &["-F:", "-v", "a=b", "/a|b/ && $1 ~ /(c|d)/ {print \"|\"}", "x"],
            &["a || b", "x"],
            &["-f", "x.awk", "system"],
        ] {
            assert!(!may(line), "{line:?}");
        }
        for line in [
            "BEGIN{system(\"rm x\")}",
            "{print|\"rm x\"}",
            "{\"rm x\"|getline}",
            "{x = a / \"rm\" | getline / 2}",
            "{f=\"x\"; @f(1)}",
            "/[/](/ , \"rm x\" | getline, /x/",
            "# (/\n{\"rm x\" | getline} #/",
        ] {
            assert!(may(&[line]), "{line:?}");
        }
    }
}
