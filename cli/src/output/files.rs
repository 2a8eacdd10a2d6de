//! The files of a task.

use crate::output::{
    measure,
    style::{FAINT, PLAIN},
    table::{cell, table},
};
use abide_client::protocol::method::task::TaskFile;

pub(crate) fn files(files: &[TaskFile], width: Option<usize>) -> String {
    let row = |file: &TaskFile| {
        let call = file.call_id.map(|id| id.short()).unwrap_or_default();
        let size = file.bytes.map(measure::bytes).unwrap_or_default();
        [cell(FAINT, file.change.name()), cell(FAINT, &call), cell(FAINT, &size), cell(PLAIN, &file.path)]
    };
    table(["CHANGE", "CALL", "SIZE", "FILE"], &files.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::method::task::FileChange;
    use insta::assert_snapshot;

    #[test]
    fn a_files_name_cannot_move_the_cursor() {
        let file = |path: &str, change| TaskFile { change, ..TaskFile::named(path.to_owned()) };
        let hostile = TaskFile { bytes: Some(4096), ..file("a\u{1b}[2J\nb", FileChange::Created) };
        let shown = files(&[file("notes.md", FileChange::Named), hostile], None);
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        CHANGE   CALL  SIZE   FILE
        named    -     -      notes.md
        created  -     4 KiB  a\x1b[2J b
        ");
    }
}
