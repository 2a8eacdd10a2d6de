mod all_shown;

use super::several::each;
use crate::{
    args::DecideArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    named::Named,
    output::{pending, screen, text},
    prompt::{Edited, Terminal, program},
    verdict::Verdict,
};
use abide_client::protocol::{
    inbox::{Approval, Decision},
    method::{DecideApproval, inbox::DecideApprovalParams},
    transcript::Risk,
};
use std::io;

const LABEL: &str = "high risk: write yes to allow it: ";

pub(crate) async fn approve(args: DecideArgs, json: bool) -> Result<Exit, CommandError> {
    if args.all_shown {
        return Ok(each(&args.ids, json, async |id| all_shown::approve(id, args.note.clone()).await).await);
    }
    let decision = if args.for_task {
        Decision::AllowForTask
    } else if args.always || args.rule.is_some() {
        Decision::AllowAlways
    } else {
        Decision::AllowOnce
    };
    decide_each(&args.ids, decision, &Said { note: args.note, rule: args.rule }, json).await
}

/// The note and the rule that a decision carries.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) note: Option<String>,
    /// The text of the rule that is remembered, if not the very call.
    pub(crate) rule: Option<String>,
}

pub(crate) async fn decide_each(
    ids: &[String],
    decision: Decision,
    said: &Said,
    json: bool,
) -> Result<Exit, CommandError> {
    if said.rule.is_some() && ids.len() > 1 {
        return Err(CommandError::usage("a rule is one of those that an approval offers")
            .hinted("give the id of one approval with --rule"));
    }
    Ok(each(ids, json, async |id| decide(id, decision, said.clone(), json).await).await)
}

async fn decide(
    id: &str,
    decision: Decision,
    Said { note, rule }: Said,
    json: bool,
) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    // None if it is decided already: the daemon replies with that decision and its time.
    let named = Named::find(&mut daemon, id).await?;
    let is_by_task = named.is_task();
    let approval = named.only_approval()?;
    if let Some((_, approval)) = &approval {
        if decision.is_always() && !(decision.allows() && approval.only_once.is_some()) {
            let remembered =
                rule.as_ref().map_or_else(|| pending::rule(approval), |rule| text::one_line(rule));
            screen::note(&format!("to be remembered: {remembered}"))?;
        }
        if decision.allows() && !json && !is_meant(approval, is_by_task).await? {
            screen::note("nothing is decided; it still waits")?;
            return Ok(Exit::Cancelled);
        }
    }
    // What is decided is what was found, although something else may open meanwhile.
    let approval_id =
        approval.as_ref().map_or_else(|| id.to_owned(), |(_, approval)| approval.id.to_string());
    let params = DecideApprovalParams { approval_id, decision, note, rule };
    let reply = daemon.call_again::<DecideApproval>(params).await.map_err(|e| match e.is_not_found() {
        true => e.hinted("`abide inbox` lists what waits"),
        false => e,
    })?;
    let about = approval.map(|(_, approval)| text::one_line(&approval.summary));
    Verdict::of_decision(&reply, decision, about.as_deref()).end(&reply, json)
}

/// Asks whether the person means this approval, if its call is of high risk and it was named by its task's
/// id: that id, repeated from a shell's history, names a later approval.
async fn is_meant(approval: &Approval, is_by_task: bool) -> Result<bool, CommandError> {
    if approval.risk != Risk::High || !is_by_task {
        return Ok(true);
    }
    let Some(terminal) = Terminal::open() else { return Ok(true) };
    show(approval)?;
    loop {
        let Edited::Line(line) = terminal.ask(LABEL).await? else { return Ok(false) };
        match &*line.trim().to_lowercase() {
            "yes" => return Ok(true),
            "v" | "view" => view(approval).await?,
            _ => return Ok(false),
        }
    }
}

/// Shows at most a screen of it. `false`: that is not all.
fn show(approval: &Approval) -> io::Result<bool> {
    let mut screen = screen::Screen::new();
    match screen.size() {
        Some(size) => {
            let shown = pending::screenful(approval, size);
            screen.note(&shown.words)?;
            Ok(shown.is_whole)
        }
        None => screen.note(&pending::whole(approval)).map(|()| true),
    }
}

/// Shows all of it in the person's pager; where there is none, here.
async fn view(approval: &Approval) -> io::Result<()> {
    let whole = pending::whole(approval);
    if program::view(&whole).await { Ok(()) } else { screen::note(&whole) }
}
