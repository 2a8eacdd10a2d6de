//! `abide approve TASK --all-shown`: shows the open approvals of a task, and allows by one word those that
//! are shown whole.

use super::{show, view};
use crate::{
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{measure, screen, text},
    prompt::{Edited, Terminal},
    verdict::Verdict,
};
use abide_client::protocol::{
    inbox::{Approval, Decision, Pending},
    method::{
        DecideApproval, GetTask, Inbox,
        inbox::{DecideApprovalParams, InboxParams},
        task::TaskParams,
    },
};

/// Shows the open approvals of the task and its sub-tasks, and allows those that were shown whole. What is
/// decided are these very calls: an approval that opens meanwhile waits on.
pub(super) async fn approve(task: &str, note: Option<String>) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let found = daemon.call::<GetTask>(TaskParams { task_id: task.to_owned() }.into()).await;
    let task = match found {
        Ok(reply) => reply.task.id,
        Err(error) => return Err(kind::not_a_task(&mut daemon, task, error).await),
    };
    let inbox = InboxParams { task_id: Some(task.to_string()) };
    let items = daemon.call::<Inbox>(inbox).await?.items;
    let approvals: Vec<Approval> = items
        .into_iter()
        .filter_map(|item| match item.pending {
            Pending::Approval(approval) => Some(approval),
            Pending::Question(_) => None,
        })
        .collect();
    if approvals.is_empty() {
        return Err(CommandError::failed(format!("no call of task {} waits for an approval", task.short()))
            .hinted("`abide inbox` lists what waits"));
    }
    let terminal = Terminal::open().ok_or_else(|| {
        CommandError::usage(
            "--all-shown shows the open approvals and asks once, and there is no terminal to ask on",
        )
        .hinted(
            "`abide inbox` lists what waits; to allow it without being asked, give the ids of the approvals",
        )
    })?;
    let mut shown = Vec::new();
    for approval in approvals {
        if show(&approval)? {
            shown.push(approval);
        } else {
            shown.extend(viewed(terminal, approval).await?);
        }
        screen::note("")?;
    }
    if shown.is_empty() {
        screen::note("nothing was shown whole, and nothing is allowed; it still waits")?;
        return Ok(Exit::Cancelled);
    }
    let calls = measure::counted(shown.len() as u64, "call");
    let label = format!("write yes to allow the {calls} shown whole: ");
    if !matches!(terminal.ask(&label).await?, Edited::Line(line) if line.trim().eq_ignore_ascii_case("yes")) {
        screen::note("nothing is decided; all of it still waits")?;
        return Ok(Exit::Cancelled);
    }
    let mut exit = Exit::Done;
    for approval in shown {
        let (approval_id, decision) = (approval.id.to_string(), Decision::AllowOnce);
        let params = DecideApprovalParams { approval_id, decision, note: note.clone(), rule: None };
        let reply = daemon.call_again::<DecideApproval>(params).await?;
        let verdict = Verdict::of_decision(&reply, decision, Some(&text::one_line(&approval.summary)));
        if !verdict.as_asked {
            exit = Exit::Failed;
        }
        screen::print(&format!("{}\n", verdict.words))?;
    }
    Ok(exit)
}

/// An approval of which only a part was shown, if the person views all of it.
async fn viewed(terminal: Terminal, approval: Approval) -> Result<Option<Approval>, CommandError> {
    let asked = terminal.ask("v views all of it; Enter leaves it out: ").await?;
    if !matches!(asked, Edited::Line(line) if matches!(&*line.trim().to_lowercase(), "v" | "view")) {
        screen::note(&format!("left out, and still waits: {}", approval.id.short()))?;
        return Ok(None);
    }
    view(&approval).await?;
    Ok(Some(approval))
}
