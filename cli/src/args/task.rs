use crate::output::call::Extent;
use abide_client::protocol::task::Mode;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};

/// The modes that can be named.
pub(crate) const MODES: [Mode; 2] = [Mode::Chat, Mode::Agent];

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(MODES.map(Mode::name))
        .try_map(|name| MODES.into_iter().find(|mode| mode.name() == name).ok_or("no such mode"))
}

/// How much of a tool's output is shown.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputArgs {
    /// Show all that is kept of what commands and tools put out, not only a command's last lines
    #[arg(long)]
    output: bool,
}

impl OutputArgs {
    pub(crate) const fn extent(self) -> Extent {
        if self.output { Extent::Whole } else { Extent::Tail }
    }
}

/// Which conversation, and how the agent works in it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentArgs {
    /// Go on with this conversation
    #[arg(long, short = 'C', value_name = "ID", conflicts_with = "continue_newest")]
    pub(crate) conversation: Option<String>,
    /// Go on with the newest conversation of this folder
    #[arg(long = "continue", short = 'c')]
    pub(crate) continue_newest: bool,
    /// Allow what would ask you; what a rule denies stays denied
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// How the task decides what to do next
    #[arg(long, value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    /// The model, as `abide models` names it
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// Stop after so many steps; 0 means no limit
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The agent works in the current folder. Its words go to standard output, everything else to standard error.
Ctrl-C detaches: the task goes on, and `abide watch` comes back to it.

Examples:
  abide run fix the failing test
  abide run --continue now add a changelog entry
  id=$(abide run --detach --yes update the dependencies)
  cargo test 2>&1 | abide run explain these failures")]
pub(crate) struct RunArgs {
    /// What to do; standard input, if it is not a terminal, is appended
    pub(crate) prompt: Vec<String>,
    /// Print the task's id and leave
    #[arg(long, short = 'd')]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
At a terminal: Enter sends, Alt-Enter begins another line, and a pasted text is one message. Ctrl-C stops a reply,
Ctrl-D or /exit leaves; the conversation stays. /help lists the commands: /model /mode /stop /new /exit.
From a pipe each line is a message.
The mode is `chat` unless another is named: nothing but talk. With `--mode agent` it uses tools.

Examples:
  abide chat
  abide chat --continue                  go on with the newest conversation of this folder
  abide chat --model local/smollm2 --mode agent")]
pub(crate) struct ChatArgs {
    /// Do not keep what is typed for the arrow keys of later chats, and offer nothing of earlier ones
    #[arg(long)]
    pub(crate) no_history: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    /// Ended tasks too
    #[arg(long, short = 'a')]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The task's id, or any unique beginning or end of it
    pub(crate) task: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// The task's id, or any unique beginning or end of it
    pub(crate) task: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
On a terminal, questions and approvals can be answered right there. Ctrl-C detaches and stops nothing.
Watching a task ends with it, and with its exit code; watching a conversation goes on until Ctrl-C.

Examples:
  abide watch 5f2c81d0
  abide watch 5f2c81d0 --json --since 1042    every record after 1042, none missed, none repeated")]
pub(crate) struct WatchArgs {
    /// A task's or a conversation's id
    #[arg(value_name = "TASK|CONVERSATION")]
    pub(crate) id: String,
    /// Only what was recorded after this number
    #[arg(long, value_name = "SEQ")]
    pub(crate) since: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
