//! Which commands would wait for somebody at a terminal.

use crate::corpus::{benign, daily};
use abide_rules::waits_at_terminal;

#[test]
fn an_editor_that_opens_a_file_waits_and_nothing_else_is_known_to() {
    for (line, program) in [
        ("vim notes.txt", "vim"),
        ("cd src && /usr/bin/vi main.rs", "vi"),
        ("sudo nano /etc/hosts", "nano"),
        ("bash -c 'nvim \"$FILE\"'", "nvim"),
    ] {
        assert_eq!(waits_at_terminal(line).as_deref(), Some(program), "{line}");
    }
    for line in [
        "vim --version",
        "vim -es -c '%s/a/b/g' -c wq notes.txt",
        "vi +wq notes.txt",
        "export EDITOR=vim",
        "which vim",
        "grep -rn vim .",
        "time grep -rn vim src",
        "cat vim",
        "git commit --amend",
        "less notes.txt",
    ] {
        assert_eq!(waits_at_terminal(line), None, "{line}");
    }
    let known: Vec<String> =
        benign().into_iter().chain(daily()).filter(|line| waits_at_terminal(line).is_some()).collect();
    assert_eq!(known, ["vim x"]);
}
