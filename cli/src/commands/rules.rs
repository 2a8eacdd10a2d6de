use crate::{
    args::{RulesArgs, RulesCommand},
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, rule, screen, text},
    pages::PAGE,
};
use abide_client::protocol::method::{
    ForgetRule, ListRules,
    rule::{ForgetRuleParams, ListRulesParams, RememberedRule},
};

pub(crate) async fn rules(args: RulesArgs, json: bool) -> Result<Exit, CommandError> {
    match args.command {
        None => list(json).await,
        Some(RulesCommand::Forget { id }) => forget(id, json).await,
    }
}

async fn list(json: bool) -> Result<Exit, CommandError> {
    let rules = all(&mut Daemon::started().await?).await?;
    if json {
        json::document(&rules)?;
    } else if rules.is_empty() {
        screen::print("Nothing is remembered. `abide approve ID --always` remembers a decision.\n")?;
    } else {
        screen::print(&rule::rules(&rules, clock::now(), text::terminal_width()))?;
    }
    Ok(Exit::Done)
}

/// Newest first.
pub(super) async fn all(daemon: &mut Daemon) -> Result<Vec<RememberedRule>, CommandError> {
    let mut rules = Vec::new();
    let mut params = ListRulesParams { before: None, limit: Some(PAGE) };
    loop {
        let page = daemon.call::<ListRules>(params).await?;
        rules.extend(page.rules);
        match page.before {
            Some(before) => params.before = Some(before),
            None => return Ok(rules),
        }
    }
}

async fn forget(rule_id: String, json: bool) -> Result<Exit, CommandError> {
    let forgotten = Daemon::started().await?.call::<ForgetRule>(ForgetRuleParams { rule_id }).await;
    let reply = forgotten.map_err(|e| match e.is_not_found() {
        true => e.hinted("`abide rules` lists what is remembered"),
        false => e,
    })?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&rule::forgotten(&reply.rule))?;
    }
    Ok(Exit::Done)
}
