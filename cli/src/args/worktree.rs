use super::word::word;
use crate::complete::Kind;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
`abide run --worktree` gives a task a git worktree of its own. It stays until it is merged or removed; \
neither is done while files in it have no commit, and none is removed with commits that no other branch has.

Examples:
  abide run --worktree --detach fix the failing test
  abide worktree
  abide worktree merge 5f2c81d0")]
pub(crate) struct WorktreeArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorktreeCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorktreeCommand {
    /// List them, with what is not merged yet (the same without a command)
    List,
    /// Merge a worktree's branch into the current branch of your work tree, with your git, and remove the
    /// worktree
    Merge {
        /// The branch, or the id of the conversation or of a task that works there
        #[arg(value_name = "ID", value_parser = word, add = Kind::TaskOrConversation.completer())]
        worktree: String,
    },
    /// Remove a worktree in which nothing would be lost
    Remove {
        /// The branch, or the id of the conversation or of a task that works there
        #[arg(value_name = "ID", value_parser = word, add = Kind::TaskOrConversation.completer())]
        worktree: String,
    },
}
