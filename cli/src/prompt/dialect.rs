//! What the line editor knows of the text: how it is completed, and when it has changed.

use super::{Draft, burst::Burst, paths};
use rustyline::{
    Helper,
    completion::{Completer, Pair},
    highlight::Highlighter,
    hint::Hinter,
    validate::Validator,
};
use std::{borrow::Cow, path::PathBuf};

/// A backslash before the cursor, at the end of the text, stands for a newline.
pub(super) fn is_continued(line: &str, position: usize) -> bool {
    position == line.len() && line.ends_with('\\')
}

/// Completion, and a coloured prompt.
pub(super) struct Dialect {
    /// The lines that Tab completes to.
    pub(super) lines: Vec<String>,
    /// The files that Tab completes to after an `@` are here; `None`: no file is completed.
    pub(super) folder: Option<PathBuf>,
    pub(super) draft: Draft,
    /// `None`: each Enter ends the line.
    pub(super) burst: Option<Burst>,
}

impl Dialect {
    pub(super) const fn new(draft: Draft) -> Self {
        Self { lines: Vec::new(), folder: None, draft, burst: None }
    }
}

impl Completer for Dialect {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if is_continued(line, position) {
            let newline = Pair { display: String::new(), replacement: "\n".to_owned() };
            return Ok((position - 1, vec![newline]));
        }
        let typed = line.get(..position).unwrap_or_default();
        if let (Some(folder), Some(begin)) = (&self.folder, paths::beginning(typed)) {
            return Ok((begin, paths::candidates(folder, &typed[begin..])));
        }
        Ok((0, candidates(typed, &self.lines)))
    }
}

/// The completions of `typed`, up to the end of a word.
fn candidates(typed: &str, lines: &[String]) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    for line in lines {
        let Some(rest) = line.strip_prefix(typed).filter(|rest| !rest.is_empty() && !typed.is_empty()) else {
            continue;
        };
        let end = rest.find(' ').map_or(line.len(), |space| typed.len() + space + 1);
        let replacement = &line[..end];
        if found.iter().all(|pair| pair.replacement != replacement) {
            let display =
                replacement.split(' ').rfind(|word| !word.is_empty()).unwrap_or_default().to_owned();
            found.push(Pair { display, replacement: replacement.to_owned() });
        }
    }
    found
}

impl Highlighter for Dialect {
    /// The coloured prompt replaces the plain one, except while the history is searched.
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }
}

impl Hinter for Dialect {
    type Hint = String;

    /// Called after each change of the line. It hints at nothing, and keeps the line.
    fn hint(&self, line: &str, _: usize, _: &rustyline::Context<'_>) -> Option<String> {
        self.draft.set_text(line);
        if let Some(burst) = &self.burst {
            burst.changed(line);
        }
        None
    }
}

impl Validator for Dialect {}
impl Helper for Dialect {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_completed_word_by_word() {
        let lines = ["/help", "/mode chat", "/model demo/demo", "/model demo/slow"];
        let lines = lines.map(str::to_owned);
        let complete = |typed: &str| -> Vec<String> {
            candidates(typed, &lines).into_iter().map(|pair| pair.replacement).collect()
        };
        assert_eq!(complete("/he"), ["/help"]);
        assert_eq!(complete("/mo"), ["/mode ", "/model "]);
        assert_eq!(complete("/model d"), ["/model demo/demo", "/model demo/slow"]);
        assert_eq!(complete("/mode "), ["/mode chat"]);
        for nothing in ["", "/help", "hello", "/x"] {
            assert_eq!(complete(nothing), [""; 0], "{nothing:?}");
        }
    }
}
