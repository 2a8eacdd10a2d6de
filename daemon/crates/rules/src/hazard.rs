//! Words that make a known program run another one or write a file. The `*` of a rule that allows does not
//! cover them.
//!
//! The list cannot be complete. It is for programs that people let run with any words because they take them
//! for reading.

use crate::{
    matching::{Pattern, WordPattern},
    options::{Options, options},
    runs,
};

/// They run the program that their words name.
const WRAPPERS: &[&str] = &[
    "adb",
    "autossh",
    "busybox",
    "bwrap",
    "capsh",
    "catchsegv",
    "ccache",
    "cgexec",
    "choom",
    "chpst",
    "chronic",
    "chroot",
    "chrt",
    "command",
    "concurrently",
    "coproc",
    "dbus-launch",
    "dbus-run-session",
    "distcc",
    "doas",
    "dumb-init",
    "eatmydata",
    "entr",
    "env",
    "eval",
    "exec",
    "fakechroot",
    "fakeroot",
    "faketime",
    "firejail",
    "flock",
    "gdb",
    "gosu",
    "hyperfine",
    "i386",
    "ifne",
    "ionice",
    "linux32",
    "linux64",
    "lldb",
    "logsave",
    "ltrace",
    "mosh",
    "nice",
    "nohup",
    "nsenter",
    "nsjail",
    "numactl",
    "parallel",
    "pee",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "retry",
    "rlwrap",
    "rsh",
    "runuser",
    "sandbox-exec",
    "schroot",
    "screen",
    "script",
    "sem",
    "setarch",
    "setlock",
    "setpriv",
    "setsid",
    "sg",
    "softlimit",
    "ssh",
    "ssh-agent",
    "sshpass",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "su-exec",
    "sudo",
    "systemd-cat",
    "systemd-inhibit",
    "systemd-nspawn",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "tini",
    "tmux",
    "torsocks",
    "toybox",
    "tsocks",
    "uname26",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "watchexec",
    "x86_64",
    "xargs",
    "xvfb-run",
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
static OPTIONS: &[Options] = &[
    Options {
        words: &["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"],
        ..options(&["find"], &[], "")
    },
    options(&["fd", "fdfind"], &["exec", "exec-batch"], "xX"),
    options(&["rg"], &["search-zip"], "z"),
    options(&["grep", "egrep", "fgrep"], &[], ""),
    options(
        &["tar", "bsdtar"],
        &[
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
        "xcruAfC",
    ),
    options(&["sort"], &["output", "temporary-directory", "files0-from"], "oT"),
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
        &["output-document", "output-file", "append-output", "directory-prefix", "config", "post-file"],
        "OoaPi",
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
    options(&["make", "gmake"], &["eval", "file", "makefile", "directory", "include-dir"], "fCEI"),
    Options {
        words: &["+"],
        ..options(&["cargo"], &["manifest-path", "target-dir", "artifact-dir", "out-dir"], "CZ")
    },
    Options { words: &["-overlay", "--overlay", "-modfile", "-o", "-C"], ..options(&["go"], &[], "") },
    options(
        &["npm", "pnpm", "yarn", "npx"],
        &["prefix", "globalconfig", "userconfig", "dir", "cwd", "node-options"],
        "C",
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

/// The positions of the words that are hazards.
pub(crate) fn of(program: &str, words: &[String]) -> Vec<usize> {
    let written =
        if program == "git" { Some(&GIT) } else { OPTIONS.iter().find(|o| o.programs.contains(&program)) };
    let mut hazards = Vec::new();
    let mut operands = 0;
    for (at, word) in words.iter().enumerate().skip(1) {
        let is_option = word.starts_with('-') && word.len() > 1;
        operands += usize::from(!is_option);
        let mut all = runs::options_of(program).chain(written);
        let is_one_too_many =
            written.and_then(|options| options.operands).is_some_and(|most| operands > most);
        if all.any(|options| options.has(word)) || !is_option && is_one_too_many {
            hazards.push(at);
        }
    }
    hazards
}

/// Whether a rule that allows would let this program run anything: it ends with `*` before it is known what
/// runs.
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
