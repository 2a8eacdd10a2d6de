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

const PERHAPS_YOURS: &str =
    "changed while a command ran, by the command or by you (an undo keeps them, unless with --all):";

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
            [b'#', ..] => NEEDS_YOU,
            _ => FAINT,
        };
        let _ = writeln!(out, "{}", paint(style, &text::block(line)));
    }
    if found.cut {
        let _ = writeln!(out, "{}", paint(FAINT, "the rest of the diff is left out"));
    }
    out.push('\n');
    out + &files(found)
}

/// Lists three groups of files: changed by the task, perhaps changed by the task, and left alone by an undo.
pub(crate) fn files(found: &TaskChangesReply) -> String {
    let mut out = String::new();
    let (perhaps, certain): (Vec<_>, Vec<_>) = found.files.iter().partition(|file| file.perhaps_yours);
    for file in certain {
        let _ = writeln!(out, "{}", line(file));
    }
    if !perhaps.is_empty() {
        let _ = writeln!(out, "{}", paint(NEEDS_YOU, PERHAPS_YOURS));
    }
    for file in perhaps {
        let _ = writeln!(out, "{}", line(file));
    }
    for note in &found.notes {
        let _ = writeln!(out, "{}", paint(FAINT, &text::one_line(note)));
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
    if file.kept && !file.perhaps_yours {
        let words = "changed since, not by the task, or in no checkpoint: an undo keeps it";
        let _ = write!(line, "  {}", paint(NEEDS_YOU, words));
    }
    line
}

/// What is asked before an undo.
pub(crate) struct Asked {
    restored: u64,
    /// Files that only an undo of all takes back.
    perhaps: u64,
    redo: bool,
    all: bool,
}

impl Asked {
    pub(crate) fn of(found: &TaskChangesReply, params: &TaskChangesParams) -> Self {
        let count = |is: fn(&ChangedFile) -> bool| found.files.iter().filter(|file| is(file)).count() as u64;
        Self {
            restored: count(|file| !file.kept),
            perhaps: count(|file| file.kept && file.perhaps_yours),
            redo: params.redo,
            all: params.all,
        }
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        self.restored == 0 && self.perhaps == 0
    }

    pub(crate) fn question(&self) -> String {
        let (files, perhaps) =
            (measure::counted(self.restored, "file"), measure::counted(self.perhaps, "file"));
        let (of, keys) = match (self.restored, self.perhaps) {
            (_, 0) => (format!(" in {files}"), "y/n".to_owned()),
            (0, _) => (String::new(), format!("n/a: {perhaps} that changed while a command ran")),
            _ => (format!(" in {files}"), format!("y/n/a: also {perhaps} that changed while a command ran")),
        };
        if self.redo {
            return format!("redo that{of}? ({keys}) ");
        }
        format!("undo that{of}? --redo gets back what it is now ({keys}) ")
    }

    /// Whether all is undone; `None`: nothing is.
    pub(crate) fn answer(&self, key: u8) -> Option<bool> {
        match key.to_ascii_lowercase() {
            b'y' if self.restored > 0 => Some(self.all),
            b'a' if self.perhaps > 0 => Some(true),
            _ => None,
        }
    }
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
    for note in &done.notes {
        let _ = writeln!(out, "{}", paint(FAINT, &text::one_line(note)));
    }
    if done.kept.iter().any(|file| file.perhaps_yours) {
        let step = asked.step.map(|step| format!(" --step {step}")).unwrap_or_default();
        let words = format!(
            "to undo also what changed while a command ran: abide undo {}{step} --all",
            text::one_line(&asked.task_id)
        );
        let _ = writeln!(out, "{}", paint(FAINT, &words));
    }
    if done.restored > 0 && !asked.redo {
        let words = format!("to redo it: abide undo {} --redo", text::one_line(&asked.task_id));
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
            perhaps_yours: false,
        };
        let image = ChangedFile { added: None, removed: None, ..file("logo.png", ChangeKind::Added, false) };
        let found = TaskChangesReply {
            files: vec![
                file("a\u{1b}[2J", ChangeKind::Modified, false),
                ChangedFile { perhaps_yours: true, ..file("built.rs", ChangeKind::Modified, true) },
                file("gone", ChangeKind::Deleted, true),
                image,
            ],
            diff: "diff --git a/a b/a\n@@ -1 +1 @@\n-old\n+new\u{1b}[2J\n same\n".to_owned(),
            cut: true,
            steps: vec![1],
            can_redo: false,
            notes: vec!["HEAD was main".to_owned()],
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
        changed while a command ran, by the command or by you (an undo keeps them, unless with --all):
        modified  built.rs  +1 -2
        HEAD was main
        ");
        let nothing = TaskChangesReply {
            files: Vec::new(),
            diff: String::new(),
            cut: false,
            steps: vec![1],
            can_redo: false,
            notes: Vec::new(),
        };
        assert_snapshot!(plain(&all(&nothing)), @"nothing is changed: the task has changed no file, or all are what they were");
    }

    fn asked(redo: bool) -> TaskChangesParams {
        TaskChangesParams {
            task_id: "5f2c81d0".to_owned(),
            step: None,
            redo,
            all: false,
            files: Vec::new(),
            hunk: None,
        }
    }

    #[test]
    fn an_undo_names_what_it_has_kept() {
        let kept = KeptFile::because("src/a.rs", "it was changed since");
        let perhaps = KeptFile { perhaps_yours: true, ..KeptFile::because("b", "it may be yours") };
        let reply = UndoTaskReply { restored: 3, kept: vec![kept, perhaps], notes: Vec::new() };
        assert_snapshot!(plain(&done(&reply, &asked(false))), @r"
        3 files restored
        kept src/a.rs: it was changed since
        kept b: it may be yours
        to undo also what changed while a command ran: abide undo 5f2c81d0 --all
        to redo it: abide undo 5f2c81d0 --redo
        ");
        let nothing = plain(&super::done(&UndoTaskReply::default(), &asked(false)));
        assert_snapshot!(nothing, @"nothing is changed: the task has changed no file, or all are what they were");
        let redone = UndoTaskReply { restored: 2, ..UndoTaskReply::default() };
        let redone = plain(&super::done(&redone, &asked(true)));
        assert_snapshot!(redone, @"2 files restored");
    }

    #[test]
    fn what_is_perhaps_yours_takes_a_key_of_its_own() {
        let asked = |restored, perhaps, redo| Asked { restored, perhaps, redo, all: false };
        assert_snapshot!(asked(1, 0, false).question(), @"undo that in 1 file? --redo gets back what it is now (y/n)");
        assert_snapshot!(asked(2, 0, true).question(), @"redo that in 2 files? (y/n)");
        assert_snapshot!(asked(1, 2, false).question(), @"undo that in 1 file? --redo gets back what it is now (y/n/a: also 2 files that changed while a command ran)");
        assert_snapshot!(asked(0, 1, false).question(), @"undo that? --redo gets back what it is now (n/a: 1 file that changed while a command ran)");
        let answers = |asked: Asked| [b'y', b'a', b'n'].map(|key| asked.answer(key));
        assert_eq!(answers(asked(1, 0, false)), [Some(false), None, None]);
        assert_eq!(answers(asked(1, 2, false)), [Some(false), Some(true), None]);
        assert_eq!(answers(asked(0, 2, false)), [None, Some(true), None]);
    }
}
