//! What a shell is started with: `bash -eo pipefail -c 'ls'`.

use crate::Word;

const SHELLS: &[&str] = &[
    "ash", "bash", "csh", "dash", "elvish", "es", "fish", "ksh", "mksh", "nu", "osh", "posh", "rbash", "rc",
    "rksh", "sash", "sh", "tcsh", "xonsh", "yash", "ysh", "zsh",
];

/// Names that end as a shell's.
const NOT_SHELLS: &[&str] = &[
    "autossh", "chsh", "finish", "flush", "hash", "mosh", "publish", "push", "pwsh", "refresh", "rsh", "ssh",
    "stash", "tclsh", "trash", "wish",
];

/// Long options that take the next word. They name a file that an interactive shell runs first, or a way to
/// behave.
const VALUED: [&str; 3] = ["rcfile", "init-file", "emulate"];

/// Those of bash without a value. It takes them with one `-`, too.
const LONG: [&str; 13] = [
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "protected",
    "restricted",
    "verbose",
];

/// What it runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Runs<'a> {
    /// This text; `None` if it is not known.
    Text(Option<&'a str>),
    /// What it reads from its input, or from what is no file.
    Input,
    /// A file, or nothing.
    File,
}

/// Whether this program is known to be a shell.
pub(crate) fn is_known(program: &str) -> bool {
    SHELLS.contains(&base(program))
}

/// Whether it is one by its name's end.
pub(crate) fn is_likely(program: &str) -> bool {
    let name = base(program);
    name.ends_with("sh") && name.chars().all(|c| c.is_ascii_alphanumeric()) && !NOT_SHELLS.contains(&name)
}

/// `zsh-5.9`, `ksh93` and `bash-static` without their ends.
fn base(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    name.strip_suffix("-static").unwrap_or(name)
}

/// What a shell with these words runs. Shells differ in where the value of `-o` is, so there may be two
/// readings.
pub(crate) fn runs(words: &[Word]) -> Vec<Runs<'_>> {
    let mut readings = vec![read(words, false), read(words, true)];
    readings.dedup();
    readings
}

fn read(words: &[Word], is_glued: bool) -> Runs<'_> {
    let (mut at, mut takes_text, mut takes_input, mut is_long) = (0, false, false, true);
    while let Some(word) = words.get(at) {
        let Some(option) = word.literal() else { return Runs::Text(None) };
        at += 1;
        match option {
            "-" | "--" => break,
            "--version" | "--help" => return Runs::File,
            _ => {}
        }
        let name = option.strip_prefix("--").or_else(|| option.strip_prefix('-').filter(|_| is_long));
        if name.is_some_and(|name| VALUED.contains(&name)) {
            if words.get(at).is_some_and(is_stream) {
                return Runs::Input;
            }
            at += 1;
        } else if name.is_some_and(|name| LONG.contains(&name)) || option.starts_with("--") {
        } else if let Some(letters) = option.strip_prefix(['-', '+']) {
            is_long = false;
            let is_value = |letter: char| matches!(letter, 'o' | 'O');
            let end = letters.find(is_value).filter(|end| is_glued && end + 1 < letters.len());
            let letters = &letters[..end.unwrap_or(letters.len())];
            takes_text |= option.starts_with('-') && letters.contains('c');
            takes_input |= letters.contains('s');
            at += letters.matches(is_value).count();
        } else {
            at -= 1;
            break;
        }
    }
    match words.get(at) {
        text if takes_text => Runs::Text(text.and_then(Word::literal)),
        Some(file) if !takes_input && !is_stream(file) => Runs::File,
        _ => Runs::Input,
    }
}

/// Whether this file is not known to be one on a disk.
pub(crate) fn is_stream(file: &Word) -> bool {
    file.literal().is_none_or(is_stream_name)
}

pub(crate) fn is_stream_name(file: &str) -> bool {
    file == "-" || file.starts_with("/dev/") || file.starts_with("/proc/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_first_word_after_the_options_and_their_values() {
        for (line, expected) in [
            ("-c ls x", Runs::Text(Some("ls"))),
            ("-ceu ls x", Runs::Text(Some("ls"))),
            ("-c -o posix ls", Runs::Text(Some("ls"))),
            ("-co posix ls", Runs::Text(Some("ls"))),
            ("-o posix +O extglob -xc ls", Runs::Text(Some("ls"))),
            ("-oo posix errexit -c ls", Runs::Text(Some("ls"))),
            ("--rcfile f -norc --posix -c -- ls", Runs::Text(Some("ls"))),
            ("-x -norc posix ls", Runs::Text(Some("ls"))),
            ("-c", Runs::Text(None)),
            ("f -c ls", Runs::File),
            ("+c f", Runs::File),
            ("--version", Runs::File),
            ("-s f", Runs::Input),
            ("-x", Runs::Input),
            ("/dev/stdin", Runs::Input),
        ] {
            let words: Vec<Word> = line.split(' ').map(|word| Word::Literal(word.to_owned())).collect();
            assert!(runs(&words).contains(&expected), "{line:?} {:?}", runs(&words));
        }
    }
}
