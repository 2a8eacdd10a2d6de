use crate::{
    args::DecideArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{pending, screen},
    verdict::Verdict,
};
use abide_client::protocol::{
    inbox::{Approval, Decision, Pending},
    method::{
        DecideApproval, Inbox,
        inbox::{DecideApprovalParams, InboxParams},
    },
};

pub(crate) async fn approve(args: DecideArgs, json: bool) -> Result<Exit, CommandError> {
    let decision = if args.always { Decision::AllowAlways } else { Decision::AllowOnce };
    decide(&args.id, decision, args.note, json).await
}

pub(crate) async fn decide(
    id: &str,
    decision: Decision,
    note: Option<String>,
    json: bool,
) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    if decision.is_always()
        && let Some(approval) = open(&mut daemon, id).await?
    {
        screen::note(&format!("to be remembered: {}", pending::rule(&approval)))?;
    }
    let params = DecideApprovalParams { approval_id: id.to_owned(), decision, note };
    let reply = daemon.call_again::<DecideApproval>(params).await.map_err(|e| match e.is_not_found() {
        true => e.hinted("`abide inbox` lists what waits"),
        false => e,
    })?;
    Verdict::of_decision(&reply, decision).end(&reply, json)
}

/// The open approval that the daemon will decide for this id, if there is exactly one.
async fn open(daemon: &mut Daemon, id: &str) -> Result<Option<Approval>, CommandError> {
    let items = daemon.call::<Inbox>(InboxParams::default()).await?.items;
    let mut fitting = items.into_iter().filter_map(|item| match item.pending {
        Pending::Approval(a)
            if super::answer::fits(&a.id.to_string(), id)
                || super::answer::fits(&item.task_id.to_string(), id) =>
        {
            Some(a)
        }
        _ => None,
    });
    Ok(fitting.next().filter(|_| fitting.next().is_none()))
}
