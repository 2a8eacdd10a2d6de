use super::{OutputArgs, word::word};
use crate::complete::Kind;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    /// The conversation's id, or a task's of it
    #[arg(value_parser = word, add = Kind::TaskOrConversation.completer())]
    pub(crate) conversation: String,
    /// At most so many, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// The page that ends before this message
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words or beginnings of words, all of which have to occur; words in double quotes have to stand
    /// together
    #[arg(required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Only in this conversation
    #[arg(long, value_name = "ID", value_parser = word, add = Kind::Conversation.completer())]
    pub(crate) conversation: Option<String>,
    /// At most so many messages, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// The page of messages that come before this one
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct GuiArgs {
    /// Show this conversation: its id, or a task's of it
    #[arg(value_parser = word, add = Kind::TaskOrConversation.completer(), conflicts_with = "inbox")]
    pub(crate) id: Option<String>,
    /// Show what waits for you
    #[arg(long)]
    pub(crate) inbox: bool,
    /// Open another window, also if one runs
    #[arg(long)]
    pub(crate) new_window: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConversationsArgs {
    /// The archived ones
    #[arg(long)]
    pub(crate) archived: bool,
    #[command(subcommand)]
    pub(crate) command: Option<ConversationsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConversationsCommand {
    /// Give a conversation another title
    Rename {
        /// The conversation's id
        #[arg(value_parser = word, add = Kind::Conversation.completer())]
        conversation: String,
        /// The new title
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Put a conversation aside
    Archive {
        /// The conversation's id
        #[arg(value_parser = word, add = Kind::ArchivedOrNot.completer())]
        conversation: String,
        /// Unarchive it
        #[arg(long)]
        undo: bool,
    },
    /// Give no desktop notifications about a conversation
    Mute {
        /// The conversation's id
        #[arg(value_parser = word, add = Kind::Conversation.completer())]
        conversation: String,
        /// Give them again
        #[arg(long)]
        undo: bool,
    },
    /// Delete a conversation and its history for good; a running task is stopped first
    Delete {
        /// The conversation's id
        #[arg(value_parser = word, add = Kind::ArchivedOrNot.completer())]
        conversation: String,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
