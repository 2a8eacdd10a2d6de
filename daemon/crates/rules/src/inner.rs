//! The commands that a command runs: those of wrappers (`sudo rm x`) and of shells (`bash -c 'rm x'`). Rules that allow do not look at
//! them.

use crate::{Script, Simple, Word, hazard};
use std::rc::Rc;

/// Shells within shells that are looked into.
const MAX_SHELLS: u32 = 3;

/// Scripts of shells that are looked into, in all.
const MAX_SCRIPTS: usize = 32;

/// Words of a command that runs another one.
const MAX_WORDS: usize = 256;

/// All commands that a line would run, as far as it shows them.
pub(crate) struct Inner {
    /// Each is the words from a position on.
    commands: Vec<(Rc<[Word]>, usize)>,
    /// The scripts of shells, each before those within it.
    pub(crate) scripts: Vec<Script>,
    /// Why there may be others.
    pub(crate) unclear: Option<String>,
}

impl Inner {
    pub(crate) fn of(script: &Script) -> Self {
        let mut inner = Self { commands: Vec::new(), scripts: Vec::new(), unclear: None };
        inner.add(script, 0);
        inner
    }

    pub(crate) fn commands(&self) -> impl Iterator<Item = &[Word]> {
        self.commands.iter().filter_map(|(words, from)| words.get(*from..))
    }

    fn add(&mut self, script: &Script, shells: u32) {
        for Simple { words, .. } in &script.commands {
            self.command(words, shells);
        }
    }

    /// What the options of a wrapper take as a value is not known here, so its command may begin at any further word.
    fn command(&mut self, words: &[Word], shells: u32) {
        let shared: Rc<[Word]> = words.into();
        let (mut is_wrapped, mut is_find) = (false, false);
        for (at, word) in words.iter().enumerate() {
            let is_run_by_find = is_find && words.get(at.wrapping_sub(1)).is_some_and(runs);
            if at > 0 && !is_wrapped && !is_run_by_find {
                continue;
            }
            if at > MAX_WORDS {
                self.unclear = Some("it has too many words".to_owned());
                return;
            }
            self.commands.push((Rc::clone(&shared), at));
            let Some(program) = word.literal().map(|name| name.rsplit('/').next().unwrap_or(name)) else {
                continue;
            };
            let further = &words[at + 1..];
            match program {
                "find" | "fd" | "fdfind" => is_find = true,
                "eval" => {
                    let text: Option<Vec<&str>> = further.iter().map(Word::literal).collect();
                    self.script(text.map(|words| words.join(" ")).as_deref(), shells);
                }
                shell if is_shell(shell) => self.shell(shell, further, shells),
                wrapper => is_wrapped |= wrapper == "builtin" || hazard::is_wrapper(wrapper),
            }
        }
    }

    fn shell(&mut self, program: &str, words: &[Word], shells: u32) {
        let takes_text = |word: &Word| {
            word.literal()
                .is_some_and(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
        };
        let Some(at) = words.iter().position(takes_text) else {
            let is_option = |word: &Word| word.literal().is_none_or(|word| word.starts_with(['-', '+']));
            if words.iter().all(is_option) {
                self.unclear = Some(format!("`{program}` would run commands that it reads"));
            }
            return;
        };
        let text = words[at + 1..]
            .iter()
            .find(|word| word.literal().is_none_or(|word| !word.starts_with(['-', '+'])));
        self.script(text.and_then(Word::literal), shells);
    }

    fn script(&mut self, text: Option<&str>, shells: u32) {
        let parsed = match text {
            _ if self.scripts.len() == MAX_SCRIPTS => Err("it has too many scripts".to_owned()),
            _ if shells == MAX_SHELLS => Err(format!("more than {MAX_SHELLS} shells run each other")),
            None => Err("it runs commands that are known only when it runs".to_owned()),
            Some(text) => Script::parse(text).map_err(|unclear| unclear.to_string()),
        };
        match parsed {
            Ok(script) => {
                self.scripts.push(script.clone());
                self.add(&script, shells + 1);
            }
            Err(why) => self.unclear = Some(why),
        }
    }
}

fn is_shell(program: &str) -> bool {
    matches!(program, "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" | "su" | "fish")
}

/// Whether this option of `find` or `fd` runs the words after it.
fn runs(word: &Word) -> bool {
    let begins =
        |word: &str| ["-exec", "-ok", "-x", "-X", "--exec"].iter().any(|option| word.starts_with(option));
    word.literal().is_none_or(begins)
}
