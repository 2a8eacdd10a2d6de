use super::word::word;
use crate::{complete::Kind, output::call::Extent};
use abide_client::protocol::{
    memory::MemoryUse,
    task::{Approvals, Mode, Status},
};
use clap::{
    Args, ValueHint,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use std::{path::PathBuf, time::Duration};

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.iter().map(|mode| mode.name())).try_map(|name| name.parse::<Mode>())
}

/// The modes that the demo's script plays.
fn demo_mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    let modes = [Mode::Agent, Mode::Roa, Mode::Plan, Mode::Tree];
    PossibleValuesParser::new(modes.map(Mode::name)).try_map(|name| name.parse::<Mode>())
}

fn status_parser() -> impl clap::builder::TypedValueParser<Value = Status> {
    PossibleValuesParser::new(Status::ALL.iter().map(|status| status.name()))
        .try_map(|name| name.parse::<Status>())
}

/// The words of `abide memory`.
fn memory_parser() -> impl clap::builder::TypedValueParser<Value = MemoryUse> {
    PossibleValuesParser::new(["on", "off", "private"]).map(|word| match &*word {
        "off" => MemoryUse::NoRecall,
        "private" => MemoryUse::Private,
        _ => MemoryUse::Normal,
    })
}

/// Seconds, or a number with `s`, `m` or `h`.
fn time(typed: &str) -> Result<Duration, String> {
    let (number, unit) = match typed.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &typed[number.len()..]),
        None => (typed, "s"),
    };
    let seconds = match unit {
        "h" => 3600,
        "m" => 60,
        _ => 1,
    };
    let number: u32 =
        number.parse().map_err(|_| "a time is a number of seconds, or one with s, m or h".to_owned())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// The names of tools in `--tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolNames(pub(crate) Vec<String>);

fn tool_names(typed: &str) -> Result<ToolNames, String> {
    if typed.trim() == "none" {
        return Ok(ToolNames(Vec::new()));
    }
    typed.split(',').map(word).collect::<Result<_, _>>().map(ToolNames)
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

/// The conversation, and the settings of its tasks.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentArgs {
    /// Go on with this conversation
    #[arg(long, short = 'C', value_name = "ID", conflicts_with = "continue_newest", value_parser = word, add = Kind::Conversation.completer())]
    pub(crate) conversation: Option<String>,
    /// Go on with the newest conversation of this folder
    #[arg(long = "continue", short = 'c')]
    pub(crate) continue_newest: bool,
    /// Work in a git worktree of its own: on a new branch or this one, begun with the last commit; see
    /// `abide worktree`
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, require_equals = true, conflicts_with_all = ["conversation", "continue_newest"])]
    pub(crate) worktree: Option<Option<String>>,
    /// How the new conversation takes part in the memory: off, it recalls nothing; private, nothing of it is
    /// recalled elsewhere
    #[arg(long, value_name = "USE", value_parser = memory_parser(), conflicts_with_all = ["conversation", "continue_newest"])]
    pub(crate) memory: Option<MemoryUse>,
    /// Allow every call that stays in the sandbox; what you have rejected for good stays rejected
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Allow changes of files in the folder, but not of files that other programs run
    #[arg(long)]
    pub(crate) yes_edits: bool,
    /// Allow also what leaves the sandbox: commands with all your rights, the network, files that other
    /// programs run
    #[arg(long)]
    pub(crate) yes_all: bool,
    /// How the task decides what to do next
    #[arg(long, value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    /// The model, as `abide models` names it
    #[arg(long, value_name = "PROVIDER/MODEL", value_parser = word, add = Kind::Model.completer())]
    pub(crate) model: Option<String>,
    /// The persona to start tasks with, as `abide personas` names it
    #[arg(long, value_name = "NAME", value_parser = word, add = Kind::Persona.completer())]
    pub(crate) persona: Option<String>,
    /// The only tools that it may use, with commas between them, or none; `abide tools` lists them
    #[arg(long, value_name = "TOOL,…|none", value_parser = tool_names, add = Kind::Tool.completer())]
    pub(crate) tools: Option<ToolNames>,
    /// Stop after so many steps; 0 means no limit
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
    /// Ask whether to go on when the task and its sub-tasks have used so many tokens (200000, 200k, 2m); 0
    /// means no limit
    #[arg(long, value_name = "TOKENS", value_parser = super::amount::tokens)]
    pub(crate) max_tokens: Option<u64>,
    /// The same when they have cost so many dollars (0.50, 2); 0 means no limit
    #[arg(long, value_name = "DOLLARS", value_parser = super::amount::micros)]
    pub(crate) max_cost: Option<u64>,
    /// Stop after so much time of work (90s, 10m, 2h, 1d), which waiting for you is not; 0 means no limit
    #[arg(long, value_name = "TIME", value_parser = super::duration::seconds)]
    pub(crate) max_duration: Option<u64>,
    /// Cancel the task when a question of the agent stays unanswered for so long (90s, 10m, 2h, 1d); 0 means
    /// never
    #[arg(long, value_name = "TIME", value_parser = super::duration::seconds)]
    pub(crate) question_timeout: Option<u64>,
}

impl AgentArgs {
    pub(crate) const fn approvals(&self) -> Approvals {
        match (self.yes_all, self.yes, self.yes_edits) {
            (true, ..) => Approvals::AllowAll,
            (false, true, _) => Approvals::Allow,
            (false, false, true) => Approvals::AllowEdits,
            (false, false, false) => Approvals::Ask,
        }
    }
}

/// What a sub-task has of its parent.
const OF_PARENT: [&str; 18] = [
    "conversation",
    "continue_newest",
    "worktree",
    "memory",
    "yes",
    "yes_edits",
    "yes_all",
    "mode",
    "model",
    "persona",
    "max_steps",
    "max_tokens",
    "max_cost",
    "max_duration",
    "question_timeout",
    "template",
    "files",
    "messages",
];

#[derive(Debug, Args)]
#[command(after_help = "\
The agent works in the current folder. Its words go to standard output, \
everything else to standard error. \
Ctrl-C detaches: the task goes on, and `abide watch` comes back to it.

Examples:
  abide run fix the failing test
  abide run --continue now add a changelog entry
  id=$(abide run --detach --yes update the dependencies)
  git diff | abide run --persona reviewer review this change -
  cargo test 2>&1 | abide run explain these failures -
  notes=$(git log v1.2.. | abide run --result --tools none write release notes -)")]
pub(crate) struct RunArgs {
    /// What to do; a dash at the end stands for standard input. A file is read without the dash, and so is a
    /// pipe without words
    pub(crate) prompt: Vec<String>,
    /// Print the task's id and leave
    #[arg(long, short = 'd')]
    pub(crate) detach: bool,
    /// Put the prompt into this template of the configuration
    #[arg(long, short = 't', value_name = "NAME", value_parser = word, add = Kind::Template.completer())]
    pub(crate) template: Option<String>,
    /// A file of the workspace that the prompt is about; repeat it for more
    #[arg(long = "file", short = 'f', value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Name the task: this id names it from then on, and no other task can have it
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub(crate) id: Option<String>,
    /// Work beneath this task, which has not ended: in its conversation and folder, with its model, and with
    /// its limits for sub-tasks
    #[arg(long, value_name = "ID", conflicts_with_all = OF_PARENT, value_parser = word, add = Kind::Task.completer())]
    pub(crate) parent: Option<String>,
    /// Continue the conversation in this file, a JSON list of messages as `startTask` takes them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) messages: Option<PathBuf>,
    /// Print nothing but the final text, on standard output, when the task has ended; errors and questions
    /// are on standard error
    #[arg(long, conflicts_with_all = ["json_result", "json", "detach"])]
    pub(crate) result: bool,
    /// The same as one JSON object: result, status, endReason, error, usage, cost (in US dollars), taskId,
    /// exit
    #[arg(long, conflicts_with_all = ["json", "detach"])]
    pub(crate) json_result: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
At a terminal Enter sends, Alt-Enter begins another line, and a pasted text is one message.
Ctrl-C stops a reply; Ctrl-D or /exit leaves, and the conversation stays.
What you type while the agent works is sent to the agent. Lines that come in one burst are one message.
/help lists the commands: /model /mode /stop /diff /undo /cost /new /exit. !COMMAND runs a command of your own,
@ and Tab name a file. From a pipe each line is a message.
The mode is `chat` unless another is named: nothing but talk. With `--mode agent` it uses tools.

Examples:
  abide chat
  abide chat --continue                  go on with the newest conversation of this folder
  abide chat --model local/smollm2 --mode agent")]
pub(crate) struct ChatArgs {
    /// Neither save what is typed here nor offer what was typed in earlier chats
    #[arg(long)]
    pub(crate) no_history: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// How the scripted agent works
    #[arg(long, default_value = Mode::Agent.name(), value_parser = demo_mode_parser())]
    pub(crate) mode: Mode,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The newest task is at the top. Wherever a task's id goes, `last` or `@1` is the newest task of all, ended ones too, `@2` the one
before it, and so on.

Examples:
  abide ps --status waiting_user,waiting_approval
  abide ps --all --format '{id} {status} {usage.output}'    fields as --json names them
  abide ps --watch                                          until Ctrl-C")]
pub(crate) struct PsArgs {
    /// Ended tasks too
    #[arg(long, short = 'a')]
    pub(crate) all: bool,
    /// Only tasks of these statuses; those that say an end take ended tasks too
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status_parser())]
    pub(crate) status: Vec<Status>,
    /// A line for each task, with its fields in braces; {{ and }} are braces themselves
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<String>,
    /// Go on showing the tasks that have not ended as they change, until Ctrl-C
    #[arg(long, short = 'w', conflicts_with_all = ["all", "format", "json"])]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints how each task ended, as it ends. The exit code is the worst of them:
  1    one has failed
  4    one waits for you (--or-waiting)
  5    one has reached a limit
  130  one was cancelled
  0    all are done

Examples:
  id=$(abide run --detach --yes fix the failing test); abide wait $id && git push
  abide wait --or-waiting --timeout 30m 5f2c81d0 77b01d4e")]
pub(crate) struct WaitArgs {
    /// The tasks' ids
    #[arg(required = true, value_name = "TASK", value_parser = word, add = Kind::LiveTask.completer())]
    pub(crate) tasks: Vec<String>,
    /// Do not wait any longer for a task that asks you something, or that Abide has paused
    #[arg(long)]
    pub(crate) or_waiting: bool,
    /// Give up after so long, with exit code 124: 90 (seconds), 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The task's id, or any unique beginning or end of it
    #[arg(value_parser = word, add = Kind::Task.completer())]
    pub(crate) task: String,
    /// What happened to it, oldest first: steps, failed model calls, what a model sent that made no sense,
    /// pauses
    #[arg(long)]
    pub(crate) history: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// A task's or a conversation's id, or any unique beginning or end of it; without one, all tasks that
    /// have not ended
    #[arg(value_parser = word, add = Kind::Task.completer())]
    pub(crate) id: Option<String>,
    /// Show ended tasks too
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// The task's id, or any unique beginning or end of it
    #[arg(value_parser = word, add = Kind::Task.completer())]
    pub(crate) task: String,
}

#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    /// The task's id, or any unique beginning or end of it
    #[arg(value_parser = word, add = Kind::Task.completer())]
    pub(crate) task: String,
    /// Only what it has changed in this step and later
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) step: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The difference is shown first, and then it asks. The task has to be over or paused. Files that somebody else has changed since the task \
did are kept and named. So are files that changed while a command of the task ran: the command may have changed them, or you. --all undoes \
those too. Git's index, branches and stash, and files that git ignores, are not touched. The files as they are now are kept: \
--redo brings them back.

Examples:
  abide diff 5f2c81d0             what the task has changed
  abide undo 5f2c81d0             undo all of it
  abide undo 5f2c81d0 --step 3    undo step 3 and later
  abide undo 5f2c81d0 --redo      redo what the last undo undid")]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) changes: ChangesArgs,
    /// Redo what the last undo of the task undid
    #[arg(long, conflicts_with = "step")]
    pub(crate) redo: bool,
    /// Also files that changed while a command ran, whoever changed them
    #[arg(long)]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
A comment is read before the next request to the model. New instructions take effect at once: a reply under way is withdrawn, what a tool \
runs goes on, and calls that wait are not run.

Examples:
  abide intervene 5f2c81d0 --comment 'Mind the tests, too'
  abide intervene 5f2c81d0 --modify 'Only the docs'
  abide intervene 5f2c81d0 --status completed --content 'Good enough'",
    group = clap::ArgGroup::new("what").required(true).args(["comment", "modify", "delete", "status"])
)]
pub(crate) struct InterveneArgs {
    /// The task's id, or any unique beginning or end of it
    #[arg(value_parser = word, add = Kind::LiveTask.completer())]
    pub(crate) task: String,
    /// Tell the agent something
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// Replace the task's instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) modify: Option<String>,
    /// End the task and everything beneath it
    #[arg(long)]
    pub(crate) delete: bool,
    /// Bring the task into a status
    #[arg(long, value_parser = ["running", "awaiting_user", "completed", "error", "deleted"])]
    pub(crate) status: Option<String>,
    /// The result or the reason, with `--status completed` or `--status error`
    #[arg(long, value_name = "TEXT", requires = "status")]
    pub(crate) content: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LiveTasksArgs {
    /// The tasks' ids, or any unique beginnings or ends of them
    #[arg(required = true, value_name = "TASK", value_parser = word, add = Kind::LiveTask.completer())]
    pub(crate) tasks: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
On a terminal, questions and approvals can be answered right there. Ctrl-C detaches and stops nothing. \
Watching a task ends with it, and with its exit code; watching a conversation goes on until Ctrl-C.

Examples:
  abide watch 5f2c81d0
  abide watch 5f2c81d0 --json --since 1042    every record after 1042, none missed, none repeated")]
pub(crate) struct WatchArgs {
    /// A task's or a conversation's id
    #[arg(value_name = "TASK|CONVERSATION", value_parser = word, add = Kind::TaskOrConversation.completer())]
    pub(crate) id: String,
    /// Only records after this sequence number
    #[arg(long, value_name = "SEQ")]
    pub(crate) since: Option<u64>,
    /// Print what sub-tasks do too, each with its id and title before it
    #[arg(long)]
    pub(crate) children: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
