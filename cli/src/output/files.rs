//! The files of a task.

use crate::output::{
    style::{FAINT, PLAIN},
    table::{cell, table},
};
use abide_client::protocol::method::task::TaskFile;

pub(crate) fn files(files: &[TaskFile], width: Option<usize>) -> String {
    let row = |file: &TaskFile| {
        let call = file.call_id.map(|id| id.short()).unwrap_or_default();
        [cell(FAINT, file.change.name()), cell(FAINT, &call), cell(PLAIN, &file.path)]
    };
    table(["CHANGE", "CALL", "FILE"], &files.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::method::task::FileChange;
    use insta::assert_snapshot;

    #[test]
    fn a_files_name_cannot_move_the_cursor() {
        let file = |path: &str, change| TaskFile { path: path.to_owned(), change, call_id: None };
        let shown =
            files(&[file("notes.md", FileChange::Named), file("a\u{1b}[2J\nb", FileChange::Created)], None);
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        CHANGE   CALL  FILE
        named          notes.md
        created        a\x1b[2J b
        ");
    }
}
