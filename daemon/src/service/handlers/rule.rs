use super::{RequestError, candidate, not_found, task::PAGE, unique};
use crate::service::Service;
use abide_engine::Command;
use abide_protocol::method::rule::{ForgetRuleParams, ForgetRuleReply, ListRulesParams, ListRulesReply};

pub(super) async fn list(service: &Service, params: ListRulesParams) -> Result<ListRulesReply, RequestError> {
    let ListRulesParams { before, limit } = params;
    Ok(service.store.rules(before, limit.unwrap_or(PAGE)).await?)
}

/// Each conversation that remembers the decision forgets it by a record. Deleted conversations have only a digest left, which is
/// dropped last.
pub(super) async fn forget(
    service: &Service,
    params: &ForgetRuleParams,
) -> Result<ForgetRuleReply, RequestError> {
    let ForgetRuleParams { rule_id: typed } = params;
    let store = &service.store;
    let lookup = store.find_rule(typed).await?;
    let fitting = async |ids: Vec<_>| candidate::rules(store, &ids).await;
    let id = unique(lookup, "remembered decision", typed, fitting).await?;
    let rule = store.remembered_rule(id).await?;
    // Another client has just forgotten it.
    let rule = rule.ok_or_else(|| not_found("remembered decision", typed))?;
    for (conversation, rule) in store.rule_holders(id).await? {
        service.sessions.command(conversation, Command::ForgetRule(rule)).await?;
    }
    store.forget_rule(id).await?;
    Ok(ForgetRuleReply { rule })
}
