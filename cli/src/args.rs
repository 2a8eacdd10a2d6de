//! The command line's grammar, parsing only. What a command does is in [`crate::commands`].

mod amount;
mod conversation;
mod daemon;
mod duration;
mod elsewhere;
mod http;
mod memory;
mod person;
mod provider;
mod task;
mod usage;
mod word;
mod worktree;

pub(crate) use self::{
    conversation::{ConversationsArgs, ConversationsCommand, GuiArgs, MessagesArgs, SearchArgs},
    daemon::{
        CompletionsArgs, ConfigCommand, DaemonCommand, DoctorArgs, InstallArgs, KeyCommand, LogsArgs,
        ManArgs, ModelsArgs, PersonasArgs, PromptsArgs, RulesArgs, RulesCommand, Setting, UninstallArgs,
    },
    elsewhere::elsewhere,
    http::{ServeArgs, TokenCommand},
    memory::{MemoryArgs, MemoryCommand},
    person::{AnswerArgs, DecideArgs, RejectArgs},
    provider::{AddArgs, ProviderCommand},
    task::{
        AgentArgs, ChangesArgs, ChatArgs, DemoArgs, FilesArgs, InterveneArgs, LiveTasksArgs, OutputArgs,
        PsArgs, RunArgs, ShowArgs, TreeArgs, UndoArgs, WaitArgs, WatchArgs,
    },
    usage::{Since, UsageArgs},
    worktree::{WorktreeArgs, WorktreeCommand},
};

use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

const EXAMPLES: &str = "\
Examples:
  abide demo                          see a whole task, no key and no network needed
  abide provider add                  set up a provider of models
  abide run fix the failing test      give the agent in this folder something to do
  git diff | abide run review this -  the dash: standard input, after the words
  abide ps                            what goes on, and what waits for you
  abide inbox                         the questions and approvals that wait

Exit codes:
  0    done, or left while the work goes on
  1    failed
  2    the command line makes no sense
  3    no daemon
  4    a task waits for you, and there is no terminal (`watch` waits on)
  5    a step, time or budget limit ended the task
  124  the time of `abide wait --timeout` is over
  130  the task was stopped
  143  this program was told to end (SIGTERM, SIGHUP)

Environment:
  ABIDE_HOME      one folder for configuration, data, logs and socket
                  instead of the platform's own folders
  ABIDE_SOCKET    connect to this socket, as that of another computer, and
                  start nothing
  ABIDE_DAEMON    the daemon's program, if it is neither beside this one nor
                  in PATH; ABIDE_GUI likewise for the window
  ABIDE_LOG       what the daemon logs, such as debug or abide_daemon=trace
  NO_COLOR        no colours; --color decides before it
  ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL
                  read by the daemon when it starts, from the shell that
                  starts it; `abide key set` stores a key for good";

/// Whether `--json` is among arguments that could not be parsed.
pub(crate) fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Agents that go on when the window closes
///
/// Tasks belong to a daemon, which starts by itself when it is needed: closing this program stops none of
/// them. Ids are shown short. The beginning of what is shown of a task or a conversation is accepted, and any
/// unique beginning or end of a whole id. `last` or `@1` is the newest task, `@2` the one before it.
#[derive(Debug, Parser)]
#[command(name = "abide", version, propagate_version = true, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print JSON: one document, or one line per event where a command follows something. Errors are one line
    /// of JSON on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours (NO_COLOR is respected)
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::AlwaysAnsi,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Give an agent something to do and watch it
    Run(RunArgs),
    /// Talk, message by message
    Chat(ChatArgs),
    /// See a whole scripted task: no key, no network
    Demo(DemoArgs),
    /// List tasks: what goes on, what waits for you
    #[command(aliases = ["ls", "list"])]
    Ps(PsArgs),
    /// Show all about a task
    #[command(alias = "inspect")]
    Show(ShowArgs),
    /// Show tasks with their sub-tasks
    Tree(TreeArgs),
    /// List the files that a task was given and has written
    Files(FilesArgs),
    /// Show what a task and its sub-tasks have changed in files
    Diff(ChangesArgs),
    /// Undo what a task and its sub-tasks have changed in files
    #[command(alias = "revert")]
    Undo(UndoArgs),
    /// List, merge or remove the git worktrees of tasks
    Worktree(WorktreeArgs),
    /// Follow a task or a conversation
    #[command(aliases = ["attach", "follow", "tail"])]
    Watch(WatchArgs),
    /// Wait until tasks have ended
    Wait(WaitArgs),
    /// Print a conversation
    #[command(alias = "history")]
    Messages(MessagesArgs),
    /// Find words in messages and titles
    Search(SearchArgs),
    /// List the questions and approvals that wait for you
    Inbox,
    /// Answer a question
    Answer(AnswerArgs),
    /// Allow tool calls that wait
    #[command(aliases = ["allow", "accept"])]
    Approve(DecideArgs),
    /// Refuse tool calls that wait
    #[command(aliases = ["deny", "refuse"])]
    Reject(RejectArgs),
    /// End tasks at once and for good
    #[command(aliases = ["kill", "cancel"])]
    Stop(LiveTasksArgs),
    /// Pause tasks: what runs finishes, nothing new begins
    Pause(LiveTasksArgs),
    /// Comment on a task while it works, replace its instructions, or end it
    Intervene(InterveneArgs),
    /// Let paused tasks go on
    Resume(LiveTasksArgs),
    /// Show what models have used: tokens and money by day, model and conversation
    #[command(alias = "cost")]
    Usage(UsageArgs),
    /// List the decisions that are remembered (--always), or forget one
    Rules(RulesArgs),
    /// Show what tasks recall of earlier conversations, search it, or turn it off
    Memory(MemoryArgs),
    /// List, rename, archive, mute or delete conversations
    #[command(aliases = ["chats", "sessions"])]
    Conversations(ConversationsArgs),
    /// Set up providers of models, list or remove them
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// List providers and models, and which one is the default and why
    Models(ModelsArgs),
    /// Store or remove a provider's API key
    #[command(subcommand)]
    Key(KeyCommand),
    /// Open the HTTP interface, for other programs and devices
    Serve(ServeArgs),
    /// Make, list or revoke the tokens of devices that use the HTTP interface
    #[command(subcommand)]
    Token(TokenCommand),
    /// Start, stop and look at the daemon
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// Check that everything is well: home, database, configuration, providers, notifications
    Doctor(DoctorArgs),
    /// Show, change, edit or check the configuration, or print all its keys
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List the personas that a task can have, or write the built-in ones to edit
    Personas(PersonasArgs),
    /// List the templates that a task's prompt can be put into
    Templates,
    /// List the tools that a task can have
    Tools,
    /// List the files with the prompts of a step's phases, or write the built-in ones to edit
    Prompts(PromptsArgs),
    /// Open the window, or bring it to the front
    Gui(GuiArgs),
    /// Print a completion script for a shell; it completes ids and models too
    Completions(CompletionsArgs),
    /// Write a manual page for each command into a folder
    #[command(hide = true)]
    Man(ManArgs),
}

#[cfg(test)]
mod tests;
