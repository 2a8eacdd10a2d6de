//! Git worktrees of tasks.

use super::{
    measure::counted,
    style::{BAD, FAINT, PLAIN, STRONG},
    table::{cell, table},
    text,
};
use abide_client::protocol::method::worktree::Worktree;

pub(crate) const NONE: &str = "No worktrees. `abide run --worktree` gives a task one.\n";

pub(crate) fn worktrees(all: &[Worktree], width: Option<usize>) -> String {
    let row = |worktree: &Worktree| {
        let (style, state) = match &worktree.problem {
            Some(problem) => (BAD, problem.clone()),
            None => (PLAIN, state(worktree).unwrap_or_else(|| "nothing to merge".to_owned())),
        };
        [
            cell(STRONG, &id(worktree)),
            cell(PLAIN, &worktree.branch),
            cell(style, &state),
            cell(FAINT, &worktree.path),
        ]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    table(["ID", "BRANCH", "NOT MERGED", "FOLDER"], &rows, width)
}

/// What is in it alone; `None`: nothing.
pub(crate) fn state(worktree: &Worktree) -> Option<String> {
    let parts = [
        (worktree.commits > 0).then(|| counted(worktree.commits, "commit")),
        (worktree.files > 0).then(|| format!("{} without a commit", counted(worktree.files, "file"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What names it.
pub(crate) fn id(worktree: &Worktree) -> String {
    worktree.task_id.map_or_else(|| worktree.conversation_id.short(), |task| task.short())
}

/// Where a task works that has just begun.
pub(crate) fn begun(worktree: &Worktree) -> String {
    let (branch, path) = (text::one_line(&worktree.branch), text::one_line(&worktree.path));
    format!(
        "works on the branch {branch}, in {path}\nto merge it later: abide worktree merge {}",
        id(worktree)
    )
}
