//! Commands that cannot do their work in a sandbox, because they need what no sandbox gives.
//!
//! The list is for what people use often, and cannot be complete. What is not on it runs in the sandbox, and
//! fails there if it had to leave. Builds that download something are not on it: mostly they have what they
//! need.

use crate::{
    Script, Word, git,
    inner::{Inner, name_of},
};
use std::fmt;

/// What a sandbox does not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Machine,
    Services,
    User,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "reaches another machine, and the sandbox has no network and no keys",
            Self::Services => {
                "manages services or containers of this machine, which the sandbox cannot reach"
            }
            Self::User => "wants the rights of another user, which the sandbox does not give",
        })
    }
}

/// Programs, each with the commands of it that must leave; none named: all.
static PROGRAMS: &[(Need, &str, &[&str])] = &[
    (Need::Machine, "ssh", &[]),
    (Need::Machine, "ssh-copy-id", &[]),
    (Need::Machine, "scp", &[]),
    (Need::Machine, "sftp", &[]),
    (Need::Machine, "mosh", &[]),
    (Need::Machine, "gh", &[]),
    (Need::Machine, "glab", &[]),
    (
        Need::Machine,
        "npm",
        &["publish", "unpublish", "deprecate", "dist-tag", "owner", "login", "adduser", "whoami"],
    ),
    (Need::Machine, "pnpm", &["publish", "login"]),
    (Need::Machine, "yarn", &["publish", "login", "npm"]),
    (Need::Machine, "bun", &["publish"]),
    (Need::Machine, "cargo", &["publish", "yank", "owner", "login"]),
    (Need::Machine, "twine", &["upload"]),
    (Need::Machine, "poetry", &["publish"]),
    (Need::Machine, "uv", &["publish"]),
    (Need::Machine, "gem", &["push", "yank"]),
    (Need::Machine, "kubectl", &[]),
    (Need::Machine, "helm", &["install", "upgrade", "uninstall", "rollback", "list", "status", "push"]),
    (Need::Machine, "terraform", &["apply", "destroy"]),
    (Need::Machine, "aws", &[]),
    (Need::Machine, "gcloud", &[]),
    (Need::Machine, "az", &[]),
    (Need::Services, "docker", &[]),
    (Need::Services, "docker-compose", &[]),
    (Need::Services, "podman", &[]),
    (Need::Services, "systemctl", &[]),
    (Need::User, "sudo", &[]),
    (Need::User, "doas", &[]),
    (Need::User, "pkexec", &[]),
    (Need::User, "su", &[]),
];

/// Which command of a line must leave the sandbox to do its work, and why, in a sentence without a full stop.
/// Only what the line shows counts: what a script or a build runs is not known.
#[must_use]
pub fn must_leave(line: &str) -> Option<String> {
    let script = Script::parse(line.trim()).ok()?;
    let inner = Inner::of(&script);
    inner.likely().find_map(|words| {
        let (name, needs) = of_command(words)?;
        Some(format!("`{name}` {needs}"))
    })
}

/// The command's name, with its own command if that decides.
fn of_command(words: &[Word]) -> Option<(String, Need)> {
    let (program, words) = words.split_first()?;
    let program = name_of(program.literal()?);
    if only_tells(words) {
        return None;
    }
    if program == "git" {
        return of_git(words).map(|command| (format!("git {command}"), Need::Machine));
    }
    if program == "rsync" {
        return words.iter().any(is_remote).then(|| (program.to_owned(), Need::Machine));
    }
    let &(need, _, commands) = PROGRAMS.iter().find(|(_, name, _)| *name == program)?;
    if commands.is_empty() {
        return Some((program.to_owned(), need));
    }
    let command = operands(words).next()?.literal().filter(|command| commands.contains(command))?;
    Some((format!("{program} {command}"), need))
}

/// The command of git, if it speaks to another machine. A remote that is named is taken for one: where it is,
/// the configuration says.
fn of_git(words: &[Word]) -> Option<&str> {
    let (command, words) = git::read(words).command.split_first()?;
    let command = command.literal()?;
    let first = || operands(words).next().and_then(Word::literal);
    let reaches = match command {
        "clone" => words.iter().any(is_remote),
        "fetch" | "pull" | "ls-remote" => {
            let is_known = operands(words).next().is_none_or(|word| word.literal().is_some());
            is_known && !words.iter().any(is_path)
        }
        "remote" => first() == Some("update"),
        "lfs" => matches!(first(), Some("fetch" | "pull" | "push")),
        "send-email" => true,
        command => git::is_push(command, words),
    };
    reaches.then_some(command)
}

/// It is asked for its version or its manual.
fn only_tells(words: &[Word]) -> bool {
    let is = |word: &Word, names: &[&str]| word.literal().is_some_and(|word| names.contains(&word));
    match words {
        [only] => is(only, &["--version", "-V", "-v", "version", "--help", "-h", "help"]),
        [.., last] => is(last, &["--help"]),
        [] => false,
    }
}

fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| word.literal().is_none_or(|word| !word.starts_with('-')))
}

/// `https://host/path`, `host:path`, `host::module`.
fn is_remote(word: &Word) -> bool {
    let Some(word) = word.literal() else { return false };
    let Some((host, rest)) = word.split_once(':') else { return false };
    let is_host = |c: char| c.is_ascii_alphanumeric() || "@._-+[]".contains(c);
    let is_url_of_path = host == "file" && rest.starts_with("//");
    let is_name = !host.is_empty() && !host.starts_with('-') && host.chars().all(is_host);
    is_name && !is_url_of_path
}

fn is_path(word: &Word) -> bool {
    word.literal().is_some_and(|word| {
        matches!(word, "." | "..")
            || ["/", "./", "../", "file://"].iter().any(|begin| word.starts_with(begin))
    })
}
