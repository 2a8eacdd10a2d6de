use super::{RequestError, candidate, not_found, task::PAGE, unique};
use crate::{
    clock, rule_book,
    service::{Caller, Service},
};
use abide_protocol::{
    error::{Error, ErrorKind},
    inbox::TextRule,
    method::rule::{
        AddRuleParams, AddRuleReply, ForgetRuleParams, ForgetRuleReply, ListRulesParams, ListRulesReply,
        PolicyRule, TestRuleParams, TestRuleReply,
    },
};
use abide_rules::Rule;
use abide_tools::RuleQuestion;
use std::{env, path::Path};

pub(super) async fn list(service: &Service, params: ListRulesParams) -> Result<ListRulesReply, RequestError> {
    let ListRulesParams { before, limit } = params;
    let page = service.store.rules(before, limit.unwrap_or(PAGE)).await?;
    if before.is_some() {
        return Ok(page);
    }
    let catalog = service.settings.now().await;
    let policy = catalog.policy().iter().map(|standing| PolicyRule {
        text: standing.rule.text().to_owned(),
        effect: rule_book::on_wire(standing.effect),
    });
    Ok(ListRulesReply { policy: policy.collect(), ..page })
}

pub(super) async fn add(
    service: &Service,
    caller: &Caller,
    params: AddRuleParams,
) -> Result<AddRuleReply, RequestError> {
    let AddRuleParams { rule } = params;
    let invalid = |words: String| Error::new(ErrorKind::InvalidParams, words);
    absolute(&rule.workspace)?;
    let parsed = Rule::parse(&rule.text, rule_book::effect(rule.effect))
        .map_err(|error| invalid(format!("{:?} {error}", rule.text)))?;
    let rule = TextRule { text: parsed.text().to_owned(), ..rule };
    let store = &service.store;
    let id = store.add_rule(rule, caller.by(), clock::now(), clock::mint().record_id()).await?;
    let rule = store.remembered_rule(id).await?;
    Ok(AddRuleReply { rule: rule.ok_or_else(|| not_found("rule", &id.to_string()))? })
}

/// The verdict of the rules, as the assessment of a call has it.
pub(super) async fn test(service: &Service, params: TestRuleParams) -> Result<TestRuleReply, RequestError> {
    absolute(&params.workspace)?;
    let catalog = service.settings.now().await;
    let (tools, store) = (service.tools.clone(), service.store.clone());
    let tested = tokio::task::spawn_blocking(move || {
        let TestRuleParams { command, workspace, path } = &params;
        let rules = rule_book::book(catalog.policy(), rule_book::remembered(&store, &tools, workspace));
        let sandbox = catalog.config().sandbox_settings(tools.home());
        let path = path.clone().or_else(|| env::var("PATH").ok());
        tools.test_rules(&RuleQuestion {
            command,
            workspace,
            path: path.as_deref(),
            rules: &rules,
            sandbox: &sandbox,
        })
    });
    let tested = tested.await.map_err(|error| {
        tracing::error!("testing rules failed: {error}");
        Error::new(ErrorKind::Internal, "testing the rules failed; this is a fault in Abide")
    })?;
    Ok(tested.map_err(|unusable| Error::new(ErrorKind::InvalidParams, unusable.to_string()))?)
}

fn absolute(workspace: &str) -> Result<(), Error> {
    if Path::new(workspace).is_absolute() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidParams, format!("the workspace {workspace:?} is not an absolute path")))
}

pub(super) async fn forget(
    service: &Service,
    caller: &Caller,
    params: &ForgetRuleParams,
) -> Result<ForgetRuleReply, RequestError> {
    let ForgetRuleParams { rule_id: typed } = params;
    let store = &service.store;
    let lookup = store.find_rule(typed).await?;
    let fitting = async |ids: Vec<_>| candidate::rules(store, &ids).await;
    let id = unique(lookup, "remembered decision", typed, fitting).await?;
    let rule = store.remembered_rule(id).await?;
    let was_remembered = store.forget_rule(id, caller.by(), clock::now(), clock::mint().record_id()).await?;
    // Otherwise another client has just forgotten it.
    let rule = rule.filter(|_| was_remembered).ok_or_else(|| not_found("remembered decision", typed))?;
    Ok(ForgetRuleReply { rule })
}
