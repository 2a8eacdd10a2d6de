//! Commands that wait for somebody at a terminal, and would do so in vain: programs that draw on the whole of
//! it, and end only when they are told to. Others find out by themselves that there is none.

use crate::{
    Script, Word,
    inner::{Inner, name_of},
};

/// With options some of them work without a terminal: `vim -es`.
const PROGRAMS: [&str; 9] = ["joe", "mcedit", "micro", "nano", "nvim", "pico", "vi", "view", "vim"];

/// The program of a line that would wait for somebody at a terminal, as far as the line shows that.
#[must_use]
pub fn waits_at_terminal(line: &str) -> Option<String> {
    let script = Script::parse(line.trim()).ok()?;
    Inner::of(&script).likely().find_map(|words| {
        let (program, words) = words.split_first()?;
        let program = name_of(program.literal()?);
        let is_option = |word: &Word| word.literal().is_some_and(|word| word.starts_with(['-', '+']));
        let waits = PROGRAMS.contains(&program) && !words.is_empty() && !words.iter().any(is_option);
        waits.then(|| program.to_owned())
    })
}
