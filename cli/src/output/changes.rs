//! What a task has changed in its files.

use crate::output::{
    measure,
    style::{BAD, FAINT, GOOD, NEEDS_YOU, PLAIN, STRONG, paint},
    text,
};
use abide_client::protocol::{
    checkpoint::{ChangeKind, ChangedFile},
    method::task::{TaskChangesParams, TaskChangesReply, UndoTaskReply},
};
use std::fmt::Write as _;

const NOTHING: &str = "nothing is changed: the task has changed no file, or all are what they were";

/// The diff, then the files.
pub(crate) fn all(found: &TaskChangesReply) -> String {
    if found.files.is_empty() {
        return format!("{NOTHING}\n");
    }
    let mut out = String::new();
    for line in found.diff.lines() {
        let style = match line.as_bytes() {
            [b'd', b'i', b'f', b'f', b' ', ..] => STRONG,
            [b'+', ..] => GOOD,
            [b'-', ..] => BAD,
            [b' ', ..] => PLAIN,
            _ => FAINT,
        };
        let _ = writeln!(out, "{}", paint(style, &text::block(line)));
    }
    if found.cut {
        let _ = writeln!(out, "{}", paint(FAINT, "the rest of the diff is left out"));
    }
    out.push('\n');
    for file in &found.files {
        let _ = writeln!(out, "{}", line(file));
    }
    out
}

/// `modified  +12 -3  src/a.rs`
fn line(file: &ChangedFile) -> String {
    let (style, kind) = match file.kind {
        ChangeKind::Added => (GOOD, "added   "),
        ChangeKind::Modified => (PLAIN, "modified"),
        ChangeKind::Deleted => (BAD, "deleted "),
    };
    let mut line = format!("{}  {}", paint(style, kind), text::one_line(&file.path));
    if let (Some(added), Some(removed)) = (file.added, file.removed) {
        let _ = write!(line, "  {}", paint(FAINT, &format!("+{added} -{removed}")));
    }
    if file.kept {
        let words = "changed since, not by the task, or in no checkpoint: an undo keeps it";
        let _ = write!(line, "  {}", paint(NEEDS_YOU, words));
    }
    line
}

/// What is asked before an undo.
pub(crate) fn question(restored: u64, redo: bool) -> String {
    let files = measure::counted(restored, "file");
    if redo {
        return format!("bring that back in {files}? (y/n) ");
    }
    format!("take that back in {files}? what it is now can be brought back with --redo (y/n) ")
}

/// What an undo has come to.
pub(crate) fn done(done: &UndoTaskReply, asked: &TaskChangesParams) -> String {
    if done.restored == 0 && done.kept.is_empty() {
        return format!("{NOTHING}\n");
    }
    let mut out = format!("{} restored\n", measure::counted(u64::from(done.restored), "file"));
    for file in &done.kept {
        let (path, why) = (text::one_line(&file.path), text::one_line(&file.why));
        let _ = writeln!(out, "{} {path}: {why}", paint(NEEDS_YOU, "kept"));
    }
    if done.restored > 0 && !asked.redo {
        let words =
            format!("to bring back what it was: abide undo {} --redo", text::one_line(&asked.task_id));
        let _ = writeln!(out, "{}", paint(FAINT, &words));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::checkpoint::KeptFile;
    use insta::assert_snapshot;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_diff_comes_before_its_files_and_neither_can_move_the_cursor() {
        let file = |path: &str, kind, kept| ChangedFile {
            path: path.to_owned(),
            kind,
            added: Some(1),
            removed: Some(2),
            kept,
        };
        let image = ChangedFile { added: None, removed: None, ..file("logo.png", ChangeKind::Added, false) };
        let found = TaskChangesReply {
            files: vec![
                file("a\u{1b}[2J", ChangeKind::Modified, false),
                file("gone", ChangeKind::Deleted, true),
                image,
            ],
            diff: "diff --git a/a b/a\n@@ -1 +1 @@\n-old\n+new\u{1b}[2J\n same\n".to_owned(),
            cut: true,
            steps: vec![1],
            can_redo: false,
        };
        assert_snapshot!(plain(&all(&found)), @r"
        diff --git a/a b/a
        @@ -1 +1 @@
        -old
        +new\x1b[2J
         same
        the rest of the diff is left out

        modified  a\x1b[2J  +1 -2
        deleted   gone  +1 -2  changed since, not by the task, or in no checkpoint: an undo keeps it
        added     logo.png
        ");
        let nothing = TaskChangesReply {
            files: Vec::new(),
            diff: String::new(),
            cut: false,
            steps: vec![1],
            can_redo: false,
        };
        assert_snapshot!(plain(&all(&nothing)), @"nothing is changed: the task has changed no file, or all are what they were");
    }

    fn asked(redo: bool) -> TaskChangesParams {
        TaskChangesParams { task_id: "5f2c81d0".to_owned(), step: None, redo }
    }

    #[test]
    fn an_undo_names_what_it_has_kept() {
        let kept = KeptFile { path: "src/a.rs".to_owned(), why: "it was changed since".to_owned() };
        let reply = UndoTaskReply { restored: 3, kept: vec![kept] };
        assert_snapshot!(plain(&done(&reply, &asked(false))), @r"
        3 files restored
        kept src/a.rs: it was changed since
        to bring back what it was: abide undo 5f2c81d0 --redo
        ");
        let nothing = plain(&super::done(&UndoTaskReply::default(), &asked(false)));
        assert_snapshot!(nothing, @"nothing is changed: the task has changed no file, or all are what they were");
        assert_snapshot!(question(1, false), @"take that back in 1 file? what it is now can be brought back with --redo (y/n)");
        assert_snapshot!(question(2, true), @"bring that back in 2 files? (y/n)");
        let redone = plain(&super::done(&UndoTaskReply { restored: 2, kept: Vec::new() }, &asked(true)));
        assert_snapshot!(redone, @"2 files restored");
    }
}
