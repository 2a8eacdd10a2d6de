//! The system as a witness: a command that a rule allows executes the program that it names, and no other
//! one.

#![expect(clippy::disallowed_methods, reason = "the test itself starts what it witnesses")]

use crate::corpus::{benign, seeds};
use abide_rules::Verdict;
use std::{fs, path::Path, process::Command};

/// Programs whose work is to run others.
const RUN_OTHERS: [&str; 1] = ["cargo"];

#[test]
fn an_allowed_command_executes_only_its_own_program() {
    if Command::new("strace").arg("-V").output().is_err() {
        let mut stderr = std::io::stderr();
        let _ = std::io::Write::write_all(&mut stderr, b"skipped: there is no strace\n");
        return;
    }
    let folder = repository();
    let (seeds, mut witnessed) = (seeds(), 0);
    for line in benign() {
        let Verdict::Allow(_, plain) = seeds.shell(&line) else { continue };
        if RUN_OTHERS.contains(&plain.program()) || !is_installed(plain.program()) {
            continue;
        }
        let executed = executed(folder.path(), &plain.words, &plain.environment);
        let name = |path: &String| Path::new(path).file_name().is_some_and(|name| name == plain.program());
        assert!(executed.len() == 1 && executed.iter().all(name), "{line:?} executed {executed:?}");
        witnessed += 1;
    }
    assert!(witnessed >= 150, "only {witnessed}");
}

/// The programs that a command executes.
fn executed(folder: &Path, words: &[String], environment: &[(String, String)]) -> Vec<String> {
    let trace = folder.join(".git/trace");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-e", "trace=execve,execveat", "-o"])
        .arg(&trace)
        .args(words)
        .current_dir(folder);
    strace.envs(environment.iter().cloned()).stdin(std::process::Stdio::null()).output().unwrap();
    let trace = fs::read_to_string(trace).unwrap();
    let successful = trace.lines().filter(|line| line.contains("execve") && line.ends_with("= 0"));
    successful.filter_map(|line| Some(line.split('"').nth(1)?.to_owned())).collect()
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// A git repository with two commits and a change, and the files that the lines name.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
            .args(words)
            .current_dir(folder.path())
            .output();
        assert!(done.unwrap().status.success());
    };
    git(&["init", "-q"]);
    for text in ["one\n", "two\n"] {
        fs::create_dir_all(folder.path().join("src")).unwrap();
        for name in ["x", "y", "a", "b", "README.md", "src/main.rs", "src/lib.rs"] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "change"]);
    }
    fs::write(folder.path().join("x"), "changed\n").unwrap();
    folder
}
