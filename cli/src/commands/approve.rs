use crate::{
    args::DecideArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, pending, screen},
};
use abide_client::protocol::{
    inbox::{Approval, Decision, Pending},
    method::{
        DecideApproval, Inbox,
        inbox::{DecideApprovalParams, DecideApprovalReply, InboxParams},
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
    let reply = daemon.call_again::<DecideApproval>(params).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&format!("{}\n", told(&reply)))?;
    }
    Ok(Exit::Done)
}

/// The open approval that the daemon will take this id for, if it is plain which.
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

/// What counts now, and whether it was this decision.
pub(crate) fn told(reply: &DecideApprovalReply) -> String {
    let counts = match reply.decision {
        Decision::AllowOnce => "allowed",
        Decision::AllowAlways => "allowed, always",
        Decision::RejectOnce => "rejected",
        Decision::RejectAlways => "rejected, always",
    };
    if reply.won { counts.to_owned() } else { format!("somebody else was first: {counts}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losing_a_race_is_told() {
        assert_eq!(
            told(&DecideApprovalReply { won: true, decision: Decision::AllowAlways }),
            "allowed, always"
        );
        assert_eq!(
            told(&DecideApprovalReply { won: false, decision: Decision::RejectOnce }),
            "somebody else was first: rejected"
        );
    }
}
