use crate::{
    args::DecideArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{pending, screen, text},
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
    let decision =
        if args.always || args.rule.is_some() { Decision::AllowAlways } else { Decision::AllowOnce };
    decide(&args.id, decision, Said { note: args.note, rule: args.rule }, json).await
}

/// The note and the rule that a decision carries.
pub(crate) struct Said {
    pub(crate) note: Option<String>,
    /// The text of the rule that is remembered, if not the very call.
    pub(crate) rule: Option<String>,
}

pub(crate) async fn decide(
    id: &str,
    decision: Decision,
    Said { note, rule }: Said,
    json: bool,
) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    if decision.is_always()
        && let Some(approval) = open(&mut daemon, id).await?
    {
        let remembered = rule.as_ref().map_or_else(|| pending::rule(&approval), |rule| text::one_line(rule));
        screen::note(&format!("to be remembered: {remembered}"))?;
    }
    let params = DecideApprovalParams { approval_id: id.to_owned(), decision, note, rule };
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
            if super::answer::fits(&a.id.to_string(), id) || super::answer::fits_task(item.task_id, id) =>
        {
            Some(a)
        }
        _ => None,
    });
    Ok(fitting.next().filter(|_| fitting.next().is_none()))
}
