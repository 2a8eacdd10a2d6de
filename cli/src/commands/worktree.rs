//! `abide worktree`: the git worktrees of tasks.

use crate::{
    args::{WorktreeArgs, WorktreeCommand},
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text, worktree as output},
};
use abide_client::protocol::method::{
    ListWorktrees, RemoveWorktree,
    worktree::{ListWorktreesParams, RemoveWorktreeReply, Worktree, WorktreeParams},
};
use std::{
    io::{self, IsTerminal as _},
    process::Stdio,
};
use tokio::process::Command;

pub(crate) async fn worktree(args: WorktreeArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    match args.command {
        None | Some(WorktreeCommand::List) => list(&mut daemon, json).await,
        Some(WorktreeCommand::Merge { worktree }) => merge(&mut daemon, worktree, json).await,
        Some(WorktreeCommand::Remove { worktree }) => {
            let reply = remove(&mut daemon, worktree).await?;
            print(&reply, "removed", json)
        }
    }
}

/// The worktrees: all, or the one of this name.
pub(crate) async fn of(daemon: &mut Daemon, worktree: Option<String>) -> Result<Vec<Worktree>, CommandError> {
    let found = daemon.call::<ListWorktrees>(ListWorktreesParams { worktree }).await;
    Ok(found.map_err(hinted)?.worktrees)
}

async fn list(daemon: &mut Daemon, json: bool) -> Result<Exit, CommandError> {
    let worktrees = of(daemon, None).await?;
    if json {
        json::document(&worktrees)?;
    } else if worktrees.is_empty() {
        screen::print(output::NONE)?;
    } else {
        screen::print(&output::worktrees(&worktrees, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}

/// The person's own git merges, in their work tree and at their terminal: it is their configuration, their
/// hooks, their editor and their conflicts.
async fn merge(daemon: &mut Daemon, named: String, json: bool) -> Result<Exit, CommandError> {
    let Some(worktree) = of(daemon, Some(named)).await?.pop() else {
        return Err(CommandError::failed("the worktree has gone meanwhile"));
    };
    if let Some(problem) = &worktree.problem {
        return Err(CommandError::failed(problem.clone()));
    }
    let Worktree { path, branch, repository, .. } = &worktree;
    if worktree.files > 0 {
        let what = output::state(&worktree).unwrap_or_default();
        return Err(CommandError::failed(format!(
            "the worktree {path} has {what}, which a merge would leave behind"
        ))
        .hinted("commit them there, or ask the task to; what is not needed, delete or add to .gitignore"));
    }
    if worktree.commits > 0 {
        #[expect(clippy::disallowed_methods, reason = "the person's git, at their terminal, until it ends")]
        let mut git = Command::new("git");
        git.args(["-C", repository, "merge", "--no-ff"]);
        if json {
            git.stdout(Stdio::null());
        }
        if !io::stdin().is_terminal() {
            git.arg("--no-edit");
        }
        let ended = git.arg(branch).status().await;
        let ended = ended.map_err(|error| CommandError::failed(format!("git cannot be started: {error}")))?;
        if !ended.success() {
            let words = format!(
                "{branch} is not merged into the branch of {repository}; its worktree stays as it is"
            );
            return Err(CommandError::failed(words).hinted(format!(
                "clear what is in its way and merge again, or finish the merge there; then: abide worktree remove {}",
                output::id(&worktree)
            )));
        }
    }
    let reply = remove(daemon, branch.clone()).await?;
    print(&reply, "merged and removed", json)
}

async fn remove(daemon: &mut Daemon, worktree: String) -> Result<RemoveWorktreeReply, CommandError> {
    daemon.call::<RemoveWorktree>(WorktreeParams { worktree }).await.map_err(hinted)
}

fn hinted(error: CommandError) -> CommandError {
    if error.is_not_found() { error.hinted("`abide worktree` lists them") } else { error }
}

fn print(reply: &RemoveWorktreeReply, done: &str, json: bool) -> Result<Exit, CommandError> {
    if json {
        json::document(reply)?;
    } else {
        let Worktree { branch, repository, .. } = &reply.worktree;
        let (branch, repository) = (text::one_line(branch), text::one_line(repository));
        screen::print(&format!("{branch} {done}; its conversation goes on in {repository}\n"))?;
    }
    Ok(Exit::Done)
}
