//! Whether a script of sed may run programs: by its command `e`, or by the flag `e` of `s`.

use crate::{Word, shell::is_stream_name};
use std::{iter::Peekable, slice, str::Chars};

pub(crate) fn may_run(words: &[Word]) -> bool {
    let (mut scripts, mut first, mut has_file) = (Vec::new(), None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let option =
            word.literal().and_then(|text| text.strip_prefix('-')).filter(|option| !option.is_empty());
        let Some(option) = option else {
            first = first.or(Some(word.literal()));
            continue;
        };
        match option_of(option, &mut words) {
            ('e', script) => scripts.push(script),
            ('f', Some(file)) if !is_stream_name(file) => has_file = true,
            ('f', _) => return true,
            _ => {}
        }
    }
    if scripts.is_empty() && !has_file {
        scripts.extend(first);
    }
    let scripts: Option<Vec<&str>> = scripts.into_iter().collect();
    scripts.is_none_or(|scripts| runs_none(&mut scripts.join("\n").chars().peekable()).is_none())
}

/// The letter of an option with a value, and the value: of a script, a file or a length.
fn option_of<'a>(option: &'a str, further: &mut slice::Iter<'a, Word>) -> (char, Option<&'a str>) {
    let (letter, value) = match option.strip_prefix('-') {
        Some(long) => {
            let (name, value) = long.split_once('=').unwrap_or((long, ""));
            (name.chars().next().filter(|_| !name.starts_with("fo")), value)
        }
        None => match option.find(['e', 'f', 'l', 'i']) {
            Some(at) => (option[at..].chars().next(), &option[at + 1..]),
            None => (None, ""),
        },
    };
    match letter {
        Some(letter @ ('e' | 'f' | 'l')) if value.is_empty() => {
            (letter, further.next().and_then(Word::literal))
        }
        letter => (letter.unwrap_or(' '), Some(value)),
    }
}

/// `None` if it may run one, or is not understood.
fn runs_none(script: &mut Peekable<Chars<'_>>) -> Option<()> {
    loop {
        skip(script, |c| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
        address(script)?;
        if script.next_if_eq(&',').is_some() {
            skip(script, |c| matches!(c, ' ' | '+' | '~'));
            address(script)?;
        }
        skip(script, |c| matches!(c, ' ' | '!'));
        let Some(command) = script.next() else { return Some(()) };
        match command {
            '{' => continue,
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'z' | 'F' | '=' => {}
            'q' | 'Q' | 'l' => skip(script, |c| c == ' ' || c.is_ascii_digit()),
            's' | 'y' => {
                let end = script.next()?;
                part(script, end)?;
                part(script, end)?;
                skip(script, |c| c.is_ascii_digit() || "gpiImM".contains(c));
                if script.next_if_eq(&'w').is_some() {
                    skip(script, |c| c != '\n');
                }
            }
            ':' | 'b' | 't' | 'T' => skip(script, |c| !matches!(c, ';' | '\n' | '}')),
            '#' | 'r' | 'R' | 'w' | 'W' => skip(script, |c| c != '\n'),
            'a' | 'i' | 'c' => {
                while script.next_if(|c| *c != '\n').is_some_and(|c| c != '\\' || script.next().is_some()) {}
            }
            _ => return None,
        }
        skip(script, |c| c == ' ');
        if script.peek().is_some_and(|c| !matches!(c, ';' | '\n' | '}' | '#')) {
            return None;
        }
    }
}

fn address(script: &mut Peekable<Chars<'_>>) -> Option<()> {
    let end = match script.peek() {
        Some('/') => script.next(),
        Some('\\') => {
            script.next();
            script.next()
        }
        _ => None,
    };
    if let Some(end) = end {
        part(script, end)?;
        skip(script, |c| matches!(c, 'I' | 'M'));
    } else {
        skip(script, |c| c.is_ascii_digit() || matches!(c, '$' | '~'));
    }
    skip(script, |c| c == ' ');
    Some(())
}

/// Text up to this character.
fn part(script: &mut Peekable<Chars<'_>>, end: char) -> Option<()> {
    loop {
        match script.next()? {
            '\\' => drop(script.next()),
            '\n' => return None,
            c if c == end => return Some(()),
            _ => {}
        }
    }
}

fn skip(script: &mut Peekable<Chars<'_>>, is_skipped: impl Fn(char) -> bool) {
    while script.next_if(|c| is_skipped(*c)).is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_a_program_only_by_e() {
        let may =
            |line: &[&str]| may_run(&line.iter().map(|w| Word::Literal((*w).to_owned())).collect::<Vec<_>>());
        for line in [
            &["-n", "1,50p", "x"][..],
            &["-i.before", "s/the e /e/g; s|/|e|I;y/e/f/", "e"],
            &["-ne", "/e/,/^}$/{/x/!p;q}", "-e", "s,\\\\,,w e"],
            &[":a;N;$!ba;s/\\n/ e/g"],
            &["1i\\\ne rm x", "x"],
            &["$a e rm x", "x"],
            &["-E", "/a/I,+3d", "x"],
            &["--expression=p", "x"],
            &["-f", "x.sed", "e"],
        ] {
            assert!(!may(line), "{line:?}");
        }
        for line in [
            &["1e rm x", "y"][..],
            &["s/a/b/e", "y"],
            &["s/a/b/ge;p", "y"],
            &["sxaxbxe", "y"],
            &["-n", "/a/{p;e rm x\n}", "y"],
            &["-e", "p", "--expr", "erm x", "y"],
            &["-ie", "e rm x", "y"],
            &["p\ne rm x", "y"],
            &["-f", "/dev/stdin", "y"],
            &["s/a/b", "y"],
        ] {
            assert!(may(line), "{line:?}");
        }
    }
}
