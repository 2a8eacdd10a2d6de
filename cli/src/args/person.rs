use super::word::word;
use crate::complete::Kind;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  abide answer 5f2c81d0 use the second one
  abide answer 5f2c81d0 2                     the second of the proposed answers
  abide answer 5f2c81d0 --decline")]
pub(crate) struct AnswerArgs {
    /// The question's id, or that of a task with one open question
    #[arg(value_parser = word, add = Kind::Question.completer())]
    pub(crate) id: String,
    /// The answer, or the number of a proposed one; absent: asked for, or read from standard input
    #[arg(conflicts_with = "decline")]
    pub(crate) text: Vec<String>,
    /// Do not answer; the agent is told so
    #[arg(long)]
    pub(crate) decline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  abide approve 77b01d4e
  abide approve 77b01d4e 5f2c81d0 --note 'but mind the tests'
  abide approve last --all-shown      shows all that waits in the newest task, and asks once")]
pub(crate) struct DecideArgs {
    /// The approvals' ids, or those of tasks with one open approval each
    #[arg(required = true, value_name = "ID", value_parser = word, add = Kind::Approval.completer())]
    pub(crate) ids: Vec<String>,
    /// Show the open approvals of a task and ask once; those that are shown whole are allowed, and nothing
    /// that comes later
    #[arg(long, conflicts_with_all = ["always", "rule", "json"])]
    pub(crate) all_shown: bool,
    /// Remember it: the same call in the same folder does not ask again
    #[arg(long)]
    pub(crate) always: bool,
    /// Remember this rule of those that the approval offers, as shell(cargo test *)
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Option<String>,
    /// Allow also what else of the task asks only because it could not be undone
    #[arg(long, conflicts_with_all = ["always", "rule"])]
    pub(crate) for_task: bool,
    /// A note to the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// The approvals' ids, or those of tasks with one open approval each
    #[arg(required = true, value_name = "ID", value_parser = word, add = Kind::Approval.completer())]
    pub(crate) ids: Vec<String>,
    /// Remember it: the same call in the same folder is refused without asking
    #[arg(long)]
    pub(crate) always: bool,
    /// Remember this rule of those that the approval offers, as shell(cargo test *)
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Option<String>,
    /// Why; the agent reads it
    #[arg(long, alias = "reason", value_name = "REASON")]
    pub(crate) note: Option<String>,
}
