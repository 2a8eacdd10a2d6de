//! The risk of a command, for the person who decides about the command. The risk does not change whether a
//! call asks.
//!
//! Low: the command certainly only reads, within the workspace. Medium: the command changes files of the
//! workspace. High: everything else, and every command that is not understood. Understood are commands joined
//! by `;`, `&&`, `||` and `|`, each with a program by its bare name and words without expansions.

mod programs;

use abide_protocol::transcript::Risk;
use abide_rules::{Redirect, Script, Simple, Target, Word};
use std::path::{Component, Path};

/// Where a command would run.
pub(super) struct Ground<'a> {
    pub(super) workspace: &'a str,
    /// The command's `PATH`.
    pub(super) path: Option<&'a str>,
    /// The workspace holds more than one project, as the home folder does.
    pub(super) is_broad: bool,
}

/// The risk of a command line.
pub(super) fn of(command: &str, ground: &Ground<'_>) -> Risk {
    if ground.is_broad {
        return Risk::High;
    }
    let line = command.trim();
    let script = Script::parse(line).ok().filter(|script| script.is_flat && is_unescaped(line, script));
    let Some(script) = script else { return Risk::High };
    let is_found = programs_are_the_systems(ground);
    let commands = script.commands.iter().map(|command| simple(command, is_found));
    let redirects = script.redirects.iter().map(redirect);
    commands.chain(redirects).max().unwrap_or(Risk::High)
}

/// Whether no backslash escapes anything. Parsers and bash, which executes the line, differ most in how they
/// read escapes.
fn is_unescaped(line: &str, script: &Script) -> bool {
    let words = script.commands.iter().flat_map(|command| &command.words).filter_map(Word::literal);
    let backslashes = |text: &str| text.matches('\\').count();
    words.map(backslashes).sum::<usize>() == backslashes(line)
}

fn simple(command: &Simple, is_found: bool) -> Risk {
    let words = command.words.iter().map(|word| word.literal().map(str::to_owned));
    let Some(words) = words.collect::<Option<Vec<String>>>() else { return Risk::High };
    match programs::risk(&words) {
        _ if !command.assignments.is_empty() => Risk::High,
        Some((program, _)) if !is_found && !program.is_builtin => Risk::High,
        Some((_, risk)) => risk,
        None => Risk::High,
    }
}

fn redirect(Redirect { descriptor, operator, target }: &Redirect) -> Risk {
    let Target::Named(target) = target else { return Risk::High };
    match (descriptor.as_deref(), operator.as_str()) {
        (Some("2"), ">&") if target == "1" => Risk::Low,
        (None | Some("2"), ">") if target == "/dev/null" => Risk::Low,
        (None, ">" | ">>") if is_inside(target) => Risk::Medium,
        _ => Risk::High,
    }
}

/// Whether this word, taken as a path, stays in its folder. A word that is no path is a file name there.
fn is_inside(word: &str) -> bool {
    !word.starts_with('~')
        && Path::new(word).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Whether the `PATH` is searched only in folders that the agent cannot write to, up to the one with the
/// system's programs.
fn programs_are_the_systems(ground: &Ground<'_>) -> bool {
    for folder in ground.path.unwrap_or_default().split(':') {
        if matches!(folder, "/usr/bin" | "/bin") {
            return true;
        }
        let folder = Path::new(folder);
        let is_elsewhere = folder.is_absolute()
            && !folder.components().any(|part| part == Component::ParentDir)
            && !folder.starts_with(ground.workspace);
        if !is_elsewhere {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUND: Ground<'_> =
        Ground { workspace: "/home/me/src/web", path: Some("/home/me/bin:/usr/bin:/bin"), is_broad: false };

    fn all(expected: Risk, commands: &[&str]) {
        for command in commands {
            assert_eq!(of(command, &GROUND), expected, "{command:?}");
        }
    }

    #[test]
    fn what_only_reads_is_low() {
        all(
            Risk::Low,
            &[
                "echo one",
                "echo 'a; rm -rf x > y $(z)'",
                "echo \"two words\" | wc -w",
                "pwd && ls -la src",
                "cat src/main.rs 2>/dev/null | head -n 20",
                "head -20 notes.txt",
                "grep -rn TODO src --include='*.rs'",
                "rg -n 'fn main' src",
                "find . -name '*.rs' -type f -maxdepth 3",
                "sed -n '10,20p' src/main.rs",
                "cd src && ls",
                "sort -k2,3n names | uniq -c 2>&1",
                "diff -u a b || true",
                "date +%F",
                "test -f Cargo.toml; which cargo",
                "ls a~ 'b — c'",
                "grep -rn 'fn [a-z]*\\.x' src | wc -l",
                "ls src\nwc -l notes.txt",
            ],
        );
    }

    #[test]
    fn what_changes_the_workspace_is_medium() {
        all(
            Risk::Medium,
            &[
                "mkdir -p src/new && touch src/new/mod.rs",
                "cp a b",
                "mv src/a.rs src/b.rs",
                "echo one > notes.txt",
                "ls >> list.txt",
                // Git writes the index, and runs programs that the repository configures.
                "git status",
                "git diff --stat",
                "git log --oneline -5",
                "git add src/main.rs",
            ],
        );
    }

    /// None of these is of low risk, which a person may allow with one key.
    const HOSTILE: &[&str] = &[
        // Paths outside the workspace.
        "cat /etc/passwd",
        "cat ../../.ssh/id_rsa",
        "cat ~/.ssh/id_rsa",
        "ls ..",
        "cd .. && ls",
        "cd && ls",
        "cd - && ls",
        "cd src .. && ls",
        "grep -f/etc/shadow x",
        "grep --file=/etc/shadow x",
        "echo x > /etc/motd",
        "echo x > ../x",
        "echo x > ~/.bashrc",
        "cp a /usr/local/bin/ls",
        "mkdir -p ../x",
        "curl http://example.org",
        "ssh host ls",
        // Commands that destroy or run something.
        "rm -rf build",
        "rm notes.txt",
        "git reset --hard",
        "git clean -fd",
        "git push",
        "git -c core.fsmonitor=./x status",
        "git diff --output=x",
        "git diff --ext-diff",
        "git log --format=%h --output=x",
        "make",
        "cargo test",
        "npm run build",
        "python3 -c 'print(1)'",
        "sh -c ls",
        "bash script.sh",
        "eval ls",
        "exec ls",
        "source x",
        ". x",
        "env ls",
        "xargs ls",
        "sudo ls",
        "time ls",
        "coproc ls",
        "command ls",
        "nohup ls",
        // More than a plain command.
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "echo \"`rm x`\"",
        "echo ${x:-y}",
        "echo $IFS",
        "echo <(rm x)",
        "cat <<< x",
        "cat << EOF",
        "(ls)",
        "{ ls; }",
        "ls {a,b}",
        "! ls",
        "ls &",
        "ls & rm x",
        "ls |& tee x",
        "ls &> x",
        "ls >| x",
        "ls <> x",
        "ls 3> x",
        "ls >&x",
        "ls > $x",
        "ls >",
        "ls > a b > /etc/c",
        "ls\nrm x",
        "ls\rrm x",
        "ls \\\nrm",
        "l\\s",
        "ls\u{a0}-la",
        "ls \u{2028}rm",
        "echo 'a\u{202e}b'",
        "echo 'a",
        "echo \"a",
        "echo \"a\\\"; rm x\"",
        "echo $'a\\nb'",
        "echo $\"a\"",
        "ls #x\u{0}",
        "ls # a comment",
        "ls *",
        "ls [a]",
        "ls ?",
        "PATH=. ls",
        "LD_PRELOAD=./x.so ls",
        "A=1",
        "f() ls",
        "function f",
        "alias ls=rm",
        "if ls",
        "./ls",
        "bin/ls",
        "/bin/ls",
        "\"ls\" && 'rm' x",
        "r'm' x",
        "ls ;; ls",
        "ls && ",
        "&& ls",
        "| ls",
        "ls | | wc",
        ";",
        "",
        "LS",
        // Programs that only read, with options or words that make them write or run something.
        "sort -o x y",
        "sort -ox y",
        "sort --output=x y",
        "sort --outp=x y",
        "sort -uo x y",
        "sort --compress-program=./x y",
        "uniq a b",
        "find . -delete",
        "find . -exec rm '{}' ';'",
        "find . -execdir rm '{}' '+'",
        "find . -ok rm",
        "find . -fprint x",
        "find . -fls x",
        "find / -name x",
        "rg --pre ./x y",
        "rg -z x",
        "rg --hostname-bin=./x y",
        "sed -i 's/a/b/' x",
        "sed -n '1w x' y",
        "sed -n '1e' y",
        "sed -n '1,2p;w x' y",
        "sed '1p' y",
        "sed -n -e '1p' -i y",
        "sed -n '1p' -i y",
        "tree -o x",
        "tree -R -H . -L 1",
        "file -C -m x",
        "date 010100002030",
        "date -s yesterday",
        "hostname x",
        "tee x",
        "dd if=a of=b",
        "awk '{print > \"x\"}' y",
        "tail -f x",
        "printf -v PATH x",
        "column -t -- x",
        "test -f '/etc/passwd'",
        "test -v 'a[$(rm x)]'",
        "diff a /etc/passwd",
        "type -f -- ls",
        "cut --output-delimiter=/ x",
        "cat -",
        "ls --hyperlink",
        "jq -f /etc/passwd .",
        "jq --slurpfile a /etc/passwd .",
        "man ls",
        "less x",
        "vi x",
    ];

    #[test]
    fn what_is_not_surely_read_only_is_never_low() {
        for command in HOSTILE {
            let risk = of(command, &GROUND);
            assert_ne!(risk, Risk::Low, "{command:?}");
        }
        // Only a few of these are known well enough to be medium.
        let medium: Vec<&&str> =
            HOSTILE.iter().filter(|command| of(command, &GROUND) == Risk::Medium).collect();
        assert_eq!(medium, Vec::<&&str>::new());
    }

    #[test]
    fn a_program_found_in_a_writable_folder_is_never_low() {
        for path in [
            None,
            Some(""),
            Some("/opt/bin"),
            Some(".:/usr/bin"),
            Some(":/usr/bin"),
            Some("bin:/usr/bin"),
            Some("/home/me/src/web/node_modules/.bin:/usr/bin"),
            Some("/home/me/src/web:/usr/bin"),
            Some("/home/me/src/other/../web/bin:/usr/bin"),
        ] {
            let ground = Ground { path, ..GROUND };
            assert_eq!(of("ls", &ground), Risk::High, "{path:?}");
            assert_eq!(of("echo one; pwd", &ground), Risk::Low, "bash itself prints it: {path:?}");
        }
        let after = Ground { path: Some("/usr/bin:/home/me/src/web/bin"), ..GROUND };
        assert_eq!(of("ls", &after), Risk::Low);
    }

    #[test]
    fn in_a_broad_workspace_nothing_is_low() {
        assert_eq!(of("cat .ssh/id_rsa", &Ground { is_broad: true, ..GROUND }), Risk::High);
    }
}
