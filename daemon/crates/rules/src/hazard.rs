//! Words that make a known program run another one or write a file. The `*` of a rule that allows does not cover them.
//!
//! The list cannot be complete. It is for programs that people let run with any words because they take them for reading.

use crate::matching::{Pattern, WordPattern};

/// They run the program that their words name.
const WRAPPERS: &[&str] = &[
    "busybox",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "doas",
    "env",
    "eval",
    "exec",
    "flock",
    "ionice",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "prlimit",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "ssh",
    "sshpass",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// They run the code that their words hold or name.
const INTERPRETERS: &[&str] = &[
    "awk",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "ed",
    "emacs",
    "ex",
    "expect",
    "fish",
    "gawk",
    "gdb",
    "ksh",
    "lua",
    "m4",
    "mawk",
    "nano",
    "nawk",
    "node",
    "osascript",
    "perl",
    "php",
    "psql",
    "pwsh",
    "ruby",
    "sed",
    "sh",
    "sqlite3",
    "tclsh",
    "vi",
    "vim",
    "zsh",
];

/// The options of a program that run another one or write a file.
struct Options {
    programs: &'static [&'static str],
    /// Without the `--`. An abbreviation counts as the option.
    long: &'static [&'static str],
    /// Letters after one `-`, also among others.
    letters: &'static str,
    /// Beginnings of whole words.
    words: &'static [&'static str],
    /// So many words that are no options are harmless.
    operands: Option<usize>,
}

const fn options(
    programs: &'static [&'static str],
    long: &'static [&'static str],
    letters: &'static str,
) -> Options {
    Options { programs, long, letters, words: &[], operands: None }
}

static OPTIONS: &[Options] = &[
    Options {
        words: &["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"],
        ..options(&["find"], &[], "")
    },
    options(&["fd", "fdfind"], &["exec", "exec-batch"], "xX"),
    options(&["rg"], &["pre", "hostname-bin", "search-zip"], "z"),
    options(&["grep", "egrep", "fgrep"], &[], ""),
    options(
        &["tar", "bsdtar"],
        &[
            "checkpoint-action",
            "to-command",
            "use-compress-program",
            "rsh-command",
            "info-script",
            "new-volume-script",
            "rmt-command",
            "extract",
            "get",
            "create",
            "append",
            "update",
            "delete",
            "file",
            "directory",
            "index-file",
            "volno-file",
            "remove-files",
        ],
        "IFxcruAfC",
    ),
    options(&["sort"], &["output", "compress-program", "temporary-directory", "files0-from"], "oT"),
    Options { operands: Some(1), ..options(&["uniq"], &[], "") },
    options(&["tree"], &["output"], "oR"),
    options(&["file"], &["compile", "magic-file"], "Cm"),
    options(&["date"], &["set"], "s"),
    options(&["less", "more", "man", "info"], &["pager", "html", "log-file", "preprocessor"], "PHoO+"),
    options(
        &["curl"],
        &[
            "output",
            "remote-name",
            "config",
            "dump-header",
            "trace",
            "cookie-jar",
            "upload-file",
            "stderr",
            "output-dir",
        ],
        "oOKDcT",
    ),
    options(
        &["wget"],
        &[
            "output-document",
            "output-file",
            "append-output",
            "directory-prefix",
            "use-askpass",
            "execute",
            "config",
            "post-file",
        ],
        "OoaPei",
    ),
    options(&["zip", "unzip"], &["unzip-command"], "TdoO"),
    options(&["diff"], &["output"], ""),
    options(&["jq", "yq"], &["in-place", "inplace", "from-file"], "if"),
    options(&["base64", "xxd", "hexdump"], &["output"], "or"),
    options(
        &["tee", "dd", "split", "csplit", "cp", "mv", "ln", "install", "rsync", "scp"],
        &["rsh", "rsync-path", "filter"],
        "e",
    ),
    Options {
        words: &["SHELL=", "MAKEFLAGS=", "CC=", "CXX=", "LD=", "AR="],
        ..options(&["make", "gmake"], &["eval", "file", "makefile", "directory", "include-dir"], "fCEI")
    },
    Options {
        words: &["+"],
        ..options(&["cargo"], &["config", "manifest-path", "target-dir", "artifact-dir", "out-dir"], "CZ")
    },
    Options {
        words: &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-overlay",
            "--overlay",
            "-modfile",
            "-o",
            "-C",
            "-vettool",
        ],
        ..options(&["go"], &[], "")
    },
    options(
        &["npm", "pnpm", "yarn", "npx"],
        &["prefix", "script-shell", "globalconfig", "userconfig", "dir", "cwd", "node-options", "call"],
        "Cc",
    ),
    options(
        &["pytest"],
        &["rootdir", "confcutdir", "basetemp", "junitxml", "override-ini", "config-file", "pdbcls"],
        "pco",
    ),
    options(
        &["docker", "podman"],
        &["volume", "mount", "privileged", "pid", "config", "host", "device"],
        "vH",
    ),
];

/// Options of git and of its commands.
static GIT: Options = Options {
    words: &["ext::", "-c", "-C"],
    ..options(
        &["git"],
        &[
            "config-env",
            "exec-path",
            "git-dir",
            "work-tree",
            "namespace",
            "super-prefix",
            "attr-source",
            "paginate",
            "ext-diff",
            "textconv",
            "upload-pack",
            "receive-pack",
            "exec",
            "open-files-in-pager",
            "output",
            "output-directory",
            "template",
            "config",
            "separate-git-dir",
            "filters",
            "upload-archive",
            "reference",
            "show-signature",
            "gpg-sign",
            "sign",
            "no-index",
            "edit",
            "extcmd",
            "tool",
        ],
        "OopxuSC",
    )
};

/// The positions of the words that are hazards. `None`: the program is not known to have any.
pub(crate) fn of(program: &str, words: &[String]) -> Option<Vec<usize>> {
    let options =
        if program == "git" { &GIT } else { OPTIONS.iter().find(|o| o.programs.contains(&program))? };
    let mut hazards = Vec::new();
    let mut operands = 0;
    for (at, word) in words.iter().enumerate().skip(1) {
        if word.starts_with('-') && word.len() > 1 {
            if options.has(word) {
                hazards.push(at);
            }
            continue;
        }
        operands += 1;
        let is_named = options.words.iter().any(|named| !named.starts_with('-') && word.starts_with(named));
        if is_named || options.operands.is_some_and(|most| operands > most) {
            hazards.push(at);
        }
    }
    Some(hazards)
}

impl Options {
    fn has(&self, word: &str) -> bool {
        if self.words.iter().any(|named| word.starts_with(named)) {
            return true;
        }
        match word.strip_prefix("--") {
            Some(long) => {
                let name = long.split('=').next().unwrap_or(long);
                !name.is_empty()
                    && self.long.iter().any(|option| option.starts_with(name) || name.starts_with(option))
            }
            None => word.chars().skip(1).any(|c| self.letters.contains(c)),
        }
    }
}

/// Whether a rule that allows would let this program run anything: it ends with `*` before it is known what runs.
pub(crate) fn is_too_wide(program: &str, pattern: &Pattern) -> bool {
    let is_open = pattern.has_rest || pattern.words.iter().any(|word| word.literal().is_none());
    if !is_open {
        return false;
    }
    let names_a_script = pattern
        .words
        .get(1)
        .and_then(WordPattern::literal)
        .is_some_and(|first| !first.starts_with('-') && first.contains(['/', '.']));
    WRAPPERS.contains(&program) || is_interpreter(program) && !names_a_script
}

/// Whether this program runs what its words hold or name; `python3.12` too.
pub(crate) fn is_interpreter(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&program) || INTERPRETERS.contains(&name) || name == "python" || name == "pypy"
}

pub(crate) fn is_wrapper(program: &str) -> bool {
    WRAPPERS.contains(&program)
}
