//! Which commands must leave the sandbox.

use crate::corpus::{benign, daily};
use abide_rules::must_leave;

#[test]
fn what_needs_what_no_sandbox_gives_must_leave() {
    for (line, named) in [
        ("git push", "git push"),
        ("git push origin main", "git push"),
        ("cargo test && git push origin HEAD", "git push"),
        ("git -C sub push", "git push"),
        ("cd sub; git lfs pull", "git lfs"),
        ("bash -c 'git push'", "git push"),
        ("GIT_TRACE=1 git push 2>&1 | tail -n 5", "git push"),
        ("git fetch", "git fetch"),
        ("git fetch --depth 1 origin feature/x", "git fetch"),
        ("git pull --rebase origin main", "git pull"),
        ("git ls-remote origin", "git ls-remote"),
        ("git remote update", "git remote"),
        ("git clone https://example.org/x.git", "git clone"),
        ("git clone --depth 1 git@example.org:x/y.git y", "git clone"),
        ("git clone \"ssh://example.org/x\"", "git clone"),
        ("ssh host ls", "ssh"),
        ("/usr/bin/ssh host", "ssh"),
        ("for host in a b; do ssh \"$host\" uptime; done", "ssh"),
        ("scp file host:", "scp"),
        ("rsync -av --delete dist/ me@host:/srv/www/", "rsync"),
        ("rsync -av rsync://host/module .", "rsync"),
        ("gh pr create --fill", "gh"),
        ("npm run build && npm publish --access public", "npm publish"),
        ("cargo publish", "cargo publish"),
        ("docker build -t x .", "docker"),
        ("timeout 60 docker compose up -d", "docker"),
        ("kubectl get pods", "kubectl"),
        ("ls | xargs -n 1 ssh host", "ssh"),
        ("find . -name '*.sh' -exec scp {} host: ';'", "scp"),
        ("sudo apt-get install -y jq", "sudo"),
        ("systemctl --user restart x", "systemctl"),
        ("if true; then gh run list; fi", "gh"),
    ] {
        let why = must_leave(line).unwrap_or_else(|| panic!("{line}"));
        assert!(why.starts_with(&format!("`{named}` ")), "{line}: {why}");
    }
}

#[test]
fn what_can_be_done_in_the_sandbox_stays() {
    for line in [
        // On this machine.
        "git clone ../other",
        "git clone /srv/other.git copy",
        "git clone file:///srv/other.git",
        "git clone \"$URL\"",
        "git fetch ../other main",
        "git fetch --depth 1 file:///srv/other",
        "git fetch \"$REMOTE\"",
        "git pull . main",
        "git remote -v",
        "git remote add origin https://example.org/x",
        "git lfs ls-files",
        "git status",
        "git commit -am 'git push later'",
        "git log origin/main..HEAD",
        "rsync -av --exclude=a:b src/ dist/",
        "npm run deploy",
        "npm run publish",
        "npm install",
        "npm ci",
        "cargo build",
        "cargo run -- publish",
        "uv sync",
        "helm template chart",
        "terraform fmt",
        "curl http://localhost:3000",
        // They are only words.
        "echo git push",
        "grep -rn docker .",
        "find . -name '*.yml' | xargs grep -l docker",
        "time grep -rn ssh src",
        "timeout 10 rg gh",
        "command -v docker",
        "which gh",
        "npm run docker",
        "cat docs/ssh",
        // They are only asked about themselves.
        "docker --version",
        "gh help",
        "ssh -V",
        "gh pr create --help",
        "git push --help",
        // Not understood.
        "echo $((1 + 1)); git push",
    ] {
        assert_eq!(must_leave(line), None, "{line}");
    }
}

/// Lines as people use them every day.
#[test]
fn builds_and_tests_stay() {
    let leave = [
        "docker ",
        "gh ",
        "git clone https:",
        "git fetch --all",
        "kubectl ",
        "rsync -av -e",
        "scp ",
        "ssh ",
        "sudo ",
    ];
    let is_wrong =
        |line: &String| must_leave(line).is_some() != leave.iter().any(|begin| line.starts_with(begin));
    let wrong: Vec<String> = benign().into_iter().chain(daily()).filter(is_wrong).collect();
    assert_eq!(wrong, Vec::<String>::new());
}
