use super::{RequestError, candidate, not_found, task::PAGE, unique};
use crate::{
    clock,
    service::{Caller, Service},
};
use abide_protocol::method::rule::{ForgetRuleParams, ForgetRuleReply, ListRulesParams, ListRulesReply};

pub(super) async fn list(service: &Service, params: ListRulesParams) -> Result<ListRulesReply, RequestError> {
    let ListRulesParams { before, limit } = params;
    Ok(service.store.rules(before, limit.unwrap_or(PAGE)).await?)
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
