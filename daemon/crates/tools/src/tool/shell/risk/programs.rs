//! Programs that are known to only read when used with these options and words. Any other option may write,
//! run or use the network, in this version of the program or a later one.

use super::is_inside;
use abide_protocol::transcript::Risk;

/// A program and its known options.
pub(super) struct Program {
    name: &'static str,
    /// Bash runs the program without searching `PATH`.
    pub(super) is_builtin: bool,
    /// Option letters that may be combined after one `-`, with a number after them.
    letters: &'static str,
    /// Options that are whole words; those with `=` at their end take a value.
    options: &'static [&'static str],
    operands: Operands,
}

/// What the words that are not options may be.
enum Operands {
    /// The program does not open them.
    Words,
    /// Paths within the workspace.
    Inside,
    /// At most one such path, because the program would write to a second one.
    OneInside,
    /// Exactly one such path, because without a path the program takes the home folder.
    FolderInside,
    /// A format that begins with this character: anything else would set something.
    Beginning(char),
}

const fn builtin(name: &'static str, letters: &'static str, operands: Operands) -> Program {
    Program { name, is_builtin: true, letters, options: &[], operands }
}

const fn reads(name: &'static str, letters: &'static str, options: &'static [&'static str]) -> Program {
    Program { name, is_builtin: false, letters, options, operands: Operands::Inside }
}

const fn prints(name: &'static str, letters: &'static str, operands: Operands) -> Program {
    Program { name, is_builtin: false, letters, options: &[], operands }
}

static READ_ONLY: &[Program] = &[
    builtin("echo", "neE", Operands::Words),
    builtin("printf", "", Operands::Words),
    builtin("pwd", "LP", Operands::Words),
    builtin("true", "", Operands::Words),
    builtin("false", "", Operands::Words),
    builtin("type", "tapP", Operands::Words),
    // Not `-v`, which evaluates the text in brackets.
    builtin("test", "defrswxznto", Operands::Inside),
    builtin("cd", "", Operands::FolderInside),
    reads("ls", "aAlhRrtSFdginopsX1cuU", &["--all", "--almost-all", "--recursive", "--color", "--color="]),
    reads("cat", "nAbeEstTv", &[]),
    reads("head", "ncqv", &["--lines=", "--bytes="]),
    reads("tail", "ncqv", &["--lines=", "--bytes="]),
    reads("tac", "", &[]),
    reads("nl", "ba", &[]),
    reads("wc", "lwcmL", &[]),
    reads("rev", "", &[]),
    reads("cut", "dfcbs", &[]),
    reads("sort", "nrukhtfbdVgMsz", &["--reverse", "--unique", "--numeric-sort"]),
    reads("diff", "urqNwbiaBy", &["--unified", "--unified=", "--brief", "--recursive"]),
    reads("cmp", "sl", &[]),
    reads("stat", "cLft", &["--format=", "--printf="]),
    reads("file", "bihL", &[]),
    reads("du", "shacd", &["--max-depth="]),
    reads("tree", "aLdIfshpugC", &["--gitignore"]),
    reads("realpath", "ems", &[]),
    reads("readlink", "fem", &[]),
    reads("md5sum", "bc", &[]),
    reads("sha1sum", "bc", &[]),
    reads("sha256sum", "bc", &[]),
    reads(
        "grep",
        "rniIlLcvEFGPwxohHsqaABCemRz",
        &["--include=", "--exclude=", "--exclude-dir=", "--color=never"],
    ),
    reads("rg", "niIlcvFwxogtTsSUuABCemPNH", &["--files", "--hidden", "--type=", "--glob=", "--color=never"]),
    reads(
        "find",
        "",
        &[
            "-name",
            "-iname",
            "-path",
            "-ipath",
            "-type",
            "-maxdepth",
            "-mindepth",
            "-size",
            "-mtime",
            "-mmin",
            "-newer",
            "-empty",
            "-print",
            "-print0",
            "-not",
            "-o",
            "-a",
            "-prune",
        ],
    ),
    Program { operands: Operands::OneInside, ..reads("uniq", "cdui", &[]) },
    prints("tr", "dsc", Operands::Words),
    prints("seq", "sw", Operands::Words),
    prints("sleep", "", Operands::Words),
    prints("basename", "as", Operands::Words),
    prints("dirname", "", Operands::Words),
    prints("which", "a", Operands::Words),
    prints("whoami", "", Operands::Words),
    prints("nproc", "", Operands::Words),
    prints("uname", "asrmnvpio", Operands::Words),
    prints("id", "ugnrG", Operands::Words),
    prints("date", "uIR", Operands::Beginning('+')),
];

static CHANGE_FILES: &[Program] = &[
    reads("mkdir", "pv", &["--parents"]),
    reads("touch", "acm", &[]),
    reads("cp", "rRapvnif", &["--recursive"]),
    reads("mv", "vnif", &[]),
];

/// These git commands write at most to the repository, but they run programs that it configures.
static GIT: &[Program] = &[
    reads("status", "sbuv", &["--short", "--branch", "--porcelain"]),
    reads("diff", "uwbM", &["--stat", "--cached", "--staged", "--name-only", "--name-status", "--no-color"]),
    reads(
        "log",
        "np",
        &["--oneline", "--stat", "--graph", "--all", "--decorate", "--no-color", "--max-count="],
    ),
    reads("show", "ps", &["--stat", "--name-only", "--oneline"]),
    reads("blame", "wL", &[]),
    reads("ls-files", "comd", &[]),
    reads("rev-parse", "", &["--short", "--abbrev-ref", "--show-toplevel"]),
    reads("add", "Aupvn", &["--all"]),
];

/// The program that these words run, and the risk of this use. `None`: the risk is not known.
pub(super) fn risk(words: &[String]) -> Option<(&'static Program, Risk)> {
    let (name, words) = words.split_first()?;
    if name == "git" {
        let (verb, words) = words.split_first()?;
        return known(GIT, verb, words).map(|program| (program, Risk::Medium));
    }
    if name == "sed" {
        return sed(words).map(|program| (program, Risk::Low));
    }
    if let Some(program) = known(READ_ONLY, name, words) {
        return Some((program, Risk::Low));
    }
    known(CHANGE_FILES, name, words).map(|program| (program, Risk::Medium))
}

fn known(programs: &'static [Program], name: &str, words: &[String]) -> Option<&'static Program> {
    programs.iter().find(|program| program.name == name && program.takes(words))
}

/// `sed -n '10,20p' file` prints lines by number. Other commands of sed write files and run programs.
fn sed(words: &[String]) -> Option<&'static Program> {
    static SED: Program = reads("sed", "", &[]);
    let [print, script, files @ ..] = words else { return None };
    let lines = script.strip_suffix('p')?;
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit() || b == b'$');
    let is_lines = lines.splitn(2, ',').all(is_number);
    (print == "-n" && is_lines && SED.takes(files)).then_some(&SED)
}

impl Program {
    fn takes(&self, words: &[String]) -> bool {
        let (options, operands): (Vec<&str>, Vec<&str>) =
            words.iter().map(String::as_str).partition(|word| word.starts_with('-'));
        options.into_iter().all(|option| self.has(option)) && self.operands.take(&operands)
    }

    /// A single `-`, which means stdin, is not known either: there is no input.
    fn has(&self, option: &str) -> bool {
        let is_named = self.options.iter().any(|known| match known.strip_suffix('=') {
            Some(_) => option.strip_prefix(known).is_some_and(is_inside),
            None => option == *known,
        });
        let together = option.strip_prefix('-').unwrap_or_default();
        let letters = together.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '.'));
        // Text after a number belongs to a value, as in `-k2,3n`.
        let is_together = !together.is_empty()
            && letters.chars().all(|c| self.letters.contains(c) || c.is_ascii_digit() || c == ',');
        is_named || is_together && !self.letters.is_empty()
    }
}

impl Operands {
    fn take(&self, operands: &[&str]) -> bool {
        let are_inside = || operands.iter().all(|word| is_inside(word));
        match self {
            Self::Words => true,
            Self::Inside => are_inside(),
            Self::OneInside => operands.len() <= 1 && are_inside(),
            Self::FolderInside => operands.len() == 1 && are_inside(),
            Self::Beginning(sign) => operands.iter().all(|word| word.starts_with(*sign)),
        }
    }
}
