//! The commands that a command runs: those of wrappers (`sudo rm x`), of shells (`bash -c 'rm x'`), and of
//! other programs that give a text to a shell (`git rebase -x 'rm x'`). Rules that allow do not look at them.

use crate::{Script, Simple, Word, git, hazard, runs, shell};
use std::{borrow::Cow, rc::Rc};

/// Shells within shells that are looked into.
const MAX_SHELLS: u32 = 3;

/// Scripts of shells that are looked into, in all.
const MAX_SCRIPTS: usize = 32;

/// Words of a command that runs another one.
const MAX_WORDS: usize = 256;

/// All commands that a line would run, as far as it shows them.
pub(crate) struct Inner {
    commands: Vec<Command>,
    /// The scripts of shells, each before those within it.
    pub(crate) scripts: Vec<Script>,
    /// Why there may be others.
    pub(crate) unclear: Option<String>,
}

struct Command {
    words: Rc<[Word]>,
    /// Where it begins among these.
    from: usize,
    /// See [`CommandPosition::is_near`].
    is_near: bool,
}

/// Where a command stands.
#[derive(Clone, Copy)]
struct CommandPosition {
    shells: u32,
    /// No more than options and their values are before it, and programs that run it. Elsewhere it may be no
    /// command.
    is_near: bool,
    /// It runs in the shell itself.
    is_builtin: bool,
}

impl Inner {
    pub(crate) fn of(script: &Script) -> Self {
        let mut inner = Self { commands: Vec::new(), scripts: Vec::new(), unclear: None };
        inner.add(script, 0);
        inner
    }

    pub(crate) fn commands(&self) -> impl Iterator<Item = &[Word]> {
        self.commands.iter().filter_map(Command::words)
    }

    /// Without those that may be mere words of another command.
    pub(crate) fn likely(&self) -> impl Iterator<Item = &[Word]> {
        self.commands.iter().filter(|command| command.is_near).filter_map(Command::words)
    }

    fn add(&mut self, script: &Script, shells: u32) {
        for Simple { assignments, words } in &script.commands {
            for (name, value) in assignments {
                self.variable(name, value.literal(), shells);
            }
            self.command(words, shells);
        }
    }

    /// What the options of a wrapper take as a value is not known here, so its command may begin at any
    /// further word. The command of `xargs` gets further words.
    fn command(&mut self, words: &[Word], shells: u32) {
        let gets_further =
            words.iter().any(|word| word.literal().is_some_and(|word| name_of(word) == "xargs"));
        let shared: Rc<[Word]> = words.iter().cloned().chain(gets_further.then_some(Word::Unknown)).collect();
        let words = &*Rc::clone(&shared);
        let (mut is_wrapped, mut is_find) = (false, false);
        let mut place = CommandPosition { shells, is_near: true, is_builtin: true };
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let is_run_by_find = is_find && before.is_some_and(runs);
            // The commands of many programs that run another one have these names: `docker exec`, `npm exec`,
            // `uv run`.
            is_wrapped |= before
                .filter(|_| at > 1)
                .and_then(Word::literal)
                .is_some_and(|word| matches!(word, "exec" | "run"));
            if at > 0 && !is_wrapped && !is_run_by_find {
                place.is_near = false;
                continue;
            }
            if at > MAX_WORDS {
                self.unclear = Some("it has too many words".to_owned());
                return;
            }
            // Alone `xargs` only shows what it reads.
            let is_read = gets_further && at + 1 == words.len();
            let is_run = before
                .and_then(Word::literal)
                .map(name_of)
                .is_some_and(|name| name != "xargs" && hazard::is_wrapper(name));
            if is_read && !is_run {
                continue;
            }
            let is_near = place.is_near || is_run_by_find;
            self.commands.push(Command { words: Rc::clone(&shared), from: at, is_near });
            let Some(text) = word.literal() else { continue };
            let program = name_of(text);
            place.is_near = is_near;
            self.program(program, &words[at + 1..], place);
            if let Some((name, value)) = text.split_once('=') {
                self.variable(name, Some(value), shells);
            }
            let is_wrapper =
                program == "builtin" || hazard::is_wrapper(program) && !only_looks(program, &words[at + 1..]);
            is_wrapped |= is_wrapper;
            is_find |= matches!(program, "find" | "fd" | "fdfind");
            let is_value = before.and_then(Word::literal).is_some_and(|before| before.starts_with('-'));
            let is_setting = text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) || text.contains('=');
            place.is_near &= is_wrapper || is_value || is_setting;
            place.is_builtin &=
                text.starts_with('-') || matches!(text, "builtin" | "command" | "coproc" | "time");
        }
    }

    /// What this program runs of its words.
    fn program(&mut self, program: &str, words: &[Word], place: CommandPosition) {
        let CommandPosition { shells, is_near, is_builtin } = place;
        // A file may hold anything, as a script may; what is piped to it is in the line.
        if is_builtin && matches!(program, "." | "source") && words.first().is_none_or(shell::is_stream) {
            self.reads(program);
        }
        let is_shell = shell::is_known(program);
        if is_shell || shell::is_likely(program) {
            for runs in shell::runs(words) {
                match runs {
                    shell::Runs::Text(text) => self.script(text, shells),
                    shell::Runs::Input if is_shell || is_near => self.reads(program),
                    shell::Runs::Input | shell::Runs::File => {}
                }
            }
        }
        if program == "git" {
            self.git(words, shells);
        } else if let Some(command) = program.strip_prefix("git-") {
            self.git_command(command, words);
        }
        let mut has_text = false;
        for text in runs::options_of(program).flat_map(|options| options.values(words)) {
            has_text = true;
            self.value(text, shells);
        }
        let operands = || words.iter().enumerate().filter(|(_, word)| !is_option(word));
        if is_near && !has_text && runs::starts_a_shell(program, operands().count()) {
            self.reads(program);
        }
        if runs::joins_operands(program) {
            for (at, _) in operands() {
                let text: Option<Vec<&str>> = words[at..].iter().map(Word::literal).collect();
                self.value(text.map(|words| words.join(" ")).as_deref(), shells);
            }
        }
    }

    fn git(&mut self, words: &[Word], shells: u32) {
        let git = git::read(words);
        for setting in git.settings {
            self.value(setting, shells);
        }
        if let Some((Word::Literal(command), further)) = git.command.split_first() {
            let program = Word::Literal(format!("git-{command}"));
            let words: Vec<Word> = std::iter::once(program).chain(further.iter().cloned()).collect();
            self.command(&words, shells);
        }
    }

    /// A command of git by its own program is the command, and one that publishes commits is `git push`.
    fn git_command(&mut self, command: &str, words: &[Word]) {
        if words.iter().any(|word| word.literal().is_some_and(|word| word.starts_with("ext::"))) {
            self.unclear = Some("git reaches the other side by a command".to_owned());
        }
        let push = Some("push").filter(|push| *push != command && git::is_push(command, words));
        for command in push.into_iter().chain([command]) {
            let program = ["git", command].map(|word| Word::Literal(word.to_owned()));
            let words = program.into_iter().chain(words.iter().cloned()).collect();
            // The command of `git` is one that is near itself, if it is.
            self.commands.push(Command { words, from: 0, is_near: false });
        }
    }

    fn reads(&mut self, program: &str) {
        self.unclear = Some(format!("`{program}` would run commands that it reads"));
    }

    /// A variable that programs run is looked into.
    fn variable(&mut self, name: &str, value: Option<&str>, shells: u32) {
        match value {
            // Which setting it is, is in another variable.
            Some(value) if name.starts_with("GIT_CONFIG_VALUE") => {
                self.value(Some(&format!("alias.x={value}")), shells);
            }
            value if runs::is_run(name) => self.value(value, shells),
            _ => {}
        }
    }

    /// A value that a shell runs, or what it sets: `core.pager=less`, `alias.l=!ls`.
    fn value(&mut self, text: Option<&str>, shells: u32) {
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
        let set = text.and_then(|text| text.split_once('=')).filter(|(name, _)| name.chars().all(is_in_name));
        // A variable may be before a command.
        if set.is_none_or(|(name, _)| !name.contains(['.', ':', '-'])) {
            self.script(text.map(without_sign), shells);
        }
        if let Some((_, value)) = set {
            self.script(Some(without_sign(value)), shells);
        }
        let alias = text.and_then(|text| text.split_once(['=', ' '])).filter(|(name, _)| is_alias(name));
        if let Some((_, command)) = alias.filter(|(_, command)| !command.starts_with('!')) {
            self.script(Some(&format!("git {command}")), shells);
        }
    }

    fn script(&mut self, text: Option<&str>, shells: u32) {
        let parsed = match text {
            _ if self.scripts.len() == MAX_SCRIPTS => Err("it has too many scripts".to_owned()),
            _ if shells == MAX_SHELLS => Err(format!("more than {MAX_SHELLS} shells run each other")),
            None => Err("it runs commands that are known only when it runs".to_owned()),
            Some(text) => Script::parse(&with_read_name(text)).map_err(|unclear| unclear.to_string()),
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

impl Command {
    fn words(&self) -> Option<&[Word]> {
        self.words.get(self.from..)
    }
}

/// A program's name without its folder.
pub(crate) fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// What stands before a command in settings: `!` of git, `|` of less.
fn without_sign(text: &str) -> &str {
    text.trim_start().trim_start_matches(['!', '|'])
}

/// The parser does not read an `@` in a program's name, which a host and an address have.
fn with_read_name(text: &str) -> Cow<'_, str> {
    let end = text.find(' ').unwrap_or(text.len());
    let (name, further) = text.split_at(end);
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_@%+:,./-".contains(c);
    if name.contains('@') && name.chars().all(is_bare) {
        format!("'{name}'{further}").into()
    } else {
        text.into()
    }
}

/// `command -v` only says where a program is.
fn only_looks(program: &str, words: &[Word]) -> bool {
    let mut options = words.iter().map_while(Word::literal).take_while(|word| word.starts_with('-'));
    program == "command" && options.any(|option| option.contains(['v', 'V']))
}

/// The name of a setting that gives a command of git another name.
fn is_alias(name: &str) -> bool {
    name.get(..6).is_some_and(|section| section.eq_ignore_ascii_case("alias."))
}

fn is_option(word: &Word) -> bool {
    word.literal().is_some_and(|word| word.starts_with('-'))
}

/// Whether this option of `find` or `fd` runs the words after it.
fn runs(word: &Word) -> bool {
    let begins =
        |word: &str| ["-exec", "-ok", "-x", "-X", "--exec"].iter().any(|option| word.starts_with(option));
    word.literal().is_none_or(begins)
}
