use crate::{
    args::{RulesArgs, RulesCommand},
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, rule, screen, text},
    pages::PAGE,
    request::{absolute, current_folder},
};
use abide_client::protocol::{
    inbox::{RuleEffect, TextRule},
    method::{
        AddRule, ForgetRule, ListRules, TestRule,
        rule::{AddRuleParams, ForgetRuleParams, ListRulesParams, ListRulesReply, TestRuleParams},
    },
};
use std::{env, path::PathBuf};

pub(crate) async fn rules(args: RulesArgs, json: bool) -> Result<Exit, CommandError> {
    match args.command {
        None | Some(RulesCommand::List) => list(json).await,
        Some(RulesCommand::Add { rule, deny, ask, workspace }) => {
            let effect = match (deny, ask) {
                (true, _) => RuleEffect::Deny,
                (false, true) => RuleEffect::Ask,
                (false, false) => RuleEffect::Allow,
            };
            add(TextRule { text: rule, workspace: folder(workspace)?, effect }, json).await
        }
        Some(RulesCommand::Test { command, workspace }) => test(command, folder(workspace)?, json).await,
        Some(RulesCommand::Forget { id }) => forget(id, json).await,
    }
}

/// The absolute path of a folder, or of the current one.
fn folder(given: Option<PathBuf>) -> Result<String, CommandError> {
    match given {
        None => current_folder(),
        Some(path) => absolute(&path),
    }
}

async fn add(rule: TextRule, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<AddRule>(AddRuleParams { rule }).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&rule::added(&reply.rule))?;
    }
    Ok(Exit::Done)
}

async fn test(command: String, workspace: String, json: bool) -> Result<Exit, CommandError> {
    let params = TestRuleParams { command, workspace, path: env::var("PATH").ok() };
    let reply = Daemon::started().await?.call::<TestRule>(params).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&rule::tested(&reply))?;
    }
    Ok(Exit::Done)
}

async fn list(json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let ListRulesReply { rules, policy, .. } = all(&mut daemon).await?;
    if json {
        json::document(&ListRulesReply { rules, policy, before: None })?;
        return Ok(Exit::Done);
    }
    if !policy.is_empty() {
        screen::print(&rule::policy(&policy))?;
    }
    if !rules.is_empty() {
        screen::print(&rule::rules(&rules, clock::now(), text::terminal_width()))?;
    } else if policy.is_empty() {
        screen::print("Nothing is remembered. `abide approve ID --always` remembers a decision.\n")?;
    }
    Ok(Exit::Done)
}

/// All of them on one page, newest first.
pub(super) async fn all(daemon: &mut Daemon) -> Result<ListRulesReply, CommandError> {
    let mut all = daemon.call::<ListRules>(ListRulesParams { before: None, limit: Some(PAGE) }).await?;
    while let Some(before) = all.before {
        let params = ListRulesParams { before: Some(before), limit: Some(PAGE) };
        let page = daemon.call::<ListRules>(params).await?;
        all.rules.extend(page.rules);
        all.before = page.before;
    }
    Ok(all)
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
