use super::{RequestError, candidate, not_found, task::PAGE, unique};
use crate::{
    clock, rule_book,
    service::{Caller, Service},
};
use abide_protocol::{
    error::{Error, ErrorKind},
    inbox::{RuleEffect, TextRule, WiderRule},
    method::rule::{
        AddRuleParams, AddRuleReply, ForgetRuleParams, ForgetRuleReply, ListRulesParams, ListRulesReply,
        PolicyRule, TestRuleParams, TestRuleReply,
    },
};
use abide_rules::{Offer, Plain, Rule, Source, Standing, Verdict};
use std::path::Path;

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

/// The verdict of the rules, as the assessment of a call has it; where the program is found is not looked at.
pub(super) async fn test(service: &Service, params: &TestRuleParams) -> Result<TestRuleReply, RequestError> {
    let TestRuleParams { command, workspace } = params;
    absolute(workspace)?;
    let book = rule_book::book(service.settings.now().await.policy(), service.store.rules_of(workspace));
    let reply = |standing: Option<&Standing>, effect: Option<RuleEffect>, why: String| TestRuleReply {
        effect,
        rule: standing.map(|standing| standing.rule.text().to_owned()),
        is_policy: standing.is_some_and(|standing| standing.source == Source::Policy),
        why,
        wider: abide_rules::wider(command)
            .into_iter()
            .map(|Offer { text, matches }| WiderRule { text, matches })
            .collect(),
    };
    let matches = |standing: &Standing| format!("the rule matches {}", standing.rule.matches());
    Ok(match book.shell(command) {
        Verdict::Deny(standing) => reply(Some(standing), Some(RuleEffect::Deny), matches(standing)),
        Verdict::MayDeny(standing, why) => {
            let why = format!(
                "the rule denies, and whether it matches is not known: {why}. It asks, also with --yes"
            );
            reply(Some(standing), Some(RuleEffect::Ask), why)
        }
        Verdict::Ask(standing, None) => reply(Some(standing), Some(RuleEffect::Ask), matches(standing)),
        Verdict::Ask(standing, Some(why)) => {
            let why = format!("whether the rule matches is not known: {why}");
            reply(Some(standing), Some(RuleEffect::Ask), why)
        }
        Verdict::Allow(standing, _) => {
            let why = format!("{}; it is executed without a shell", matches(standing));
            reply(Some(standing), Some(RuleEffect::Allow), why)
        }
        Verdict::None => {
            let why = match Plain::parse(command) {
                _ if book.is_empty() => "there are no rules".to_owned(),
                Some(_) => "no rule matches it".to_owned(),
                None => "no rule denies or asks, and a rule allows only one plain command: a program and its words, \
                         without variables, globs, pipes or redirects to files"
                    .to_owned(),
            };
            reply(None, None, why)
        }
    })
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
