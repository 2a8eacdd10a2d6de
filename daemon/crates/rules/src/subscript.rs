//! Subscripts that bash evaluates: where it takes a word for a number or for the name of a variable,
//! `a[$(ls)]` runs `ls`, also if it is quoted.

/// Builtins that take words so.
const EVALUATING: [&str; 14] = [
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

pub(crate) fn is_evaluating(builtin: &str) -> bool {
    EVALUATING.contains(&builtin)
}

/// Whether this text runs a command if it is evaluated.
pub(crate) fn is_run(text: &str) -> bool {
    text.split_once('[').is_some_and(|(_, inside)| inside.contains('`') || inside.contains("$("))
}

/// Whether a word, as it is written, may become such a text. A substitution that is not quoted runs before,
/// and is looked at by itself.
pub(crate) fn may_be_run(written: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, 'x' | 'u' | 'U');
    let written_by_number =
        written.split('\\').skip(1).filter(|escape| escape.starts_with(is_number)).count();
    let is_quoted = written.contains(['\\', '\'']);
    is_quoted && is_run(&written.replace(['\\', '\'', '"'], ""))
        || written.contains("$'") && written_by_number > 2
}
