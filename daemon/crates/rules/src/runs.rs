//! Where the words of a program hold the text of a shell: in the value of an option, or in the operands.
//!
//! The value is looked at as a shell's text also where the program takes it for a program and its words.

use crate::options::{Options, beginnings, options};

/// Options whose value is run.
static OPTIONS: &[Options] = &[
    // Under these names it is run by many.
    beginnings(&[], &["--exec", "--command"]),
    options(&["su", "runuser"], &["command", "session-command"], "c"),
    options(&["capsh", "flock", "newgrp", "script", "sg"], &["command"], "c"),
    options(&["fish"], &["command", "init-command"], "cC"),
    options(&["nu"], &["commands", "execute"], "ce"),
    options(&["env"], &["split-string"], "S"),
    options(&["nix-shell", "nix"], &["run", "command"], "c"),
    options(&["npm", "npx", "pnpm", "yarn"], &["call", "script-shell"], "c"),
    options(&["ssh", "scp", "sftp"], &[], "oSD"),
    options(&["rsync"], &["rsh", "rsync-path"], "e"),
    options(
        &["tar", "bsdtar"],
        &[
            "checkpoint-action",
            "to-command",
            "use-compress-program",
            "info-script",
            "new-volume-script",
            "rmt-command",
            "rsh-command",
        ],
        "IF",
    ),
    options(&["rg"], &["pre", "hostname-bin"], ""),
    options(&["sort"], &["compress-program"], ""),
    options(&["man"], &["pager"], "P"),
    options(&["wget"], &["use-askpass", "execute"], "e"),
    options(&["zip"], &["unzip-command"], ""),
    beginnings(&["go"], &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool"]),
    beginnings(&["make", "gmake"], &["SHELL=", "MAKEFLAGS=", "CC=", "CXX=", "LD=", "AR="]),
    options(&["cargo"], &["config"], ""),
    // Builtins of the shell.
    options(&["mapfile", "readarray", "complete", "compgen"], &[], "C"),
    options(&["hash"], &[], "p"),
    options(&["fc"], &[], "e"),
    // Commands of git.
    options(&["git-rebase"], &["exec"], "x"),
    options(&["git-difftool"], &["extcmd"], "x"),
    options(&["git-grep"], &["open-files-in-pager"], "O"),
    options(&["git-clone"], &["upload-pack", "config"], "uc"),
    options(&["git-fetch", "git-pull", "git-fetch-pack", "git-ls-remote"], &["upload-pack", "exec"], ""),
    options(&["git-push", "git-send-pack", "git-archive"], &["receive-pack", "exec"], ""),
    options(&["git-send-email"], &["smtp-server", "sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd"], ""),
    options(
        &["git-filter-branch"],
        &[
            "setup",
            "env-filter",
            "tree-filter",
            "index-filter",
            "parent-filter",
            "msg-filter",
            "commit-filter",
            "tag-name-filter",
        ],
        "",
    ),
];

/// Programs whose operands, joined by blanks, are run.
const JOINING: &[&str] = &[
    "adb",
    "alias",
    "autossh",
    "concurrently",
    "entr",
    "eval",
    "git-config",
    "git-submodule",
    "hyperfine",
    "mispipe",
    "mosh",
    "parallel",
    "pee",
    "rsh",
    "screen",
    "script",
    "sem",
    "sg",
    "ssh",
    "tmux",
    "trap",
    "watch",
    "watchexec",
];

/// Programs that run a shell if they have no command, with the number of operands that are none.
const STARTING: &[(&str, usize)] = &[
    ("chroot", 1),
    ("doas", 0),
    ("fakeroot", 0),
    ("i386", 0),
    ("linux32", 0),
    ("linux64", 0),
    ("login", usize::MAX),
    ("newgrp", usize::MAX),
    ("nsenter", 0),
    ("proot", 0),
    ("runuser", 0),
    ("script", usize::MAX),
    ("setarch", 1),
    ("sg", 1),
    ("su", usize::MAX),
    ("sudo", 0),
    ("unshare", 0),
];

/// Ends of the names of variables whose value programs run.
const VARIABLES: &[&str] = &[
    "ASKPASS",
    "BROWSER",
    "COMMAND",
    "DIFF",
    "EDITOR",
    "LESSCLOSE",
    "LESSOPEN",
    "PAGER",
    "PS0",
    "PS1",
    "PS4",
    "RSH",
    "SHELL",
    "SSH",
    "VISUAL",
    "WRAPPER",
];

/// The options of this program whose value is run.
pub(crate) fn options_of(program: &str) -> impl Iterator<Item = &'static Options> {
    OPTIONS.iter().filter(move |options| options.programs.is_empty() || options.programs.contains(&program))
}

pub(crate) fn joins_operands(program: &str) -> bool {
    JOINING.contains(&program)
}

/// Whether it runs a shell with so many operands.
pub(crate) fn starts_a_shell(program: &str, operands: usize) -> bool {
    STARTING.iter().any(|(name, most)| *name == program && operands <= *most)
}

pub(crate) fn is_run(variable: &str) -> bool {
    VARIABLES.iter().any(|end| variable.ends_with(end))
}
