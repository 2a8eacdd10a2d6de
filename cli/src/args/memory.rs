use super::word::word;
use crate::complete::Kind;
use clap::{Args, Subcommand};
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
    /// Never recall what a message says; the message itself stays
    Forget {
        /// The number that the search, or a task's row, shows
        #[arg(value_name = "NUMBER")]
        number: u64,
    },
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
