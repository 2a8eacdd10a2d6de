//! The rules that stand in a workspace: those of the configuration, and those remembered for it.

use abide_protocol::inbox::{RuleEffect, TextRule};
use abide_rules::{Book, Effect, Rule, Source, Standing};
use abide_store::Store;
use abide_tools::Tools;
use std::sync::Arc;

/// The rules remembered for a workspace; for one in a git worktree of a task also those for the person's
/// folder that it stands for.
pub(crate) fn remembered(store: &Store, tools: &Tools, workspace: &str) -> Vec<TextRule> {
    let mut all = store.rules_of(workspace);
    all.extend(tools.worktrees().origin(workspace).iter().flat_map(|origin| store.rules_of(origin)));
    all
}

pub(crate) fn book(policy: &[Standing], remembered: Vec<TextRule>) -> Book {
    let standing = |TextRule { text, effect, .. }: TextRule| {
        let effect = self::effect(effect);
        match Rule::parse(&text, effect) {
            Ok(rule) => Some(Standing { rule: Arc::new(rule), effect, source: Source::Workspace }),
            // Another version accepted it. A rule that allows is dropped; without one that denies, people
            // must be asked.
            Err(error) if effect == Effect::Allow => {
                tracing::warn!("the remembered rule `{text}` {error}; it is not used");
                None
            }
            Err(error) => {
                tracing::warn!("the remembered rule `{text}` {error}; every command asks");
                let rule = Rule::parse("shell(*)", Effect::Ask).ok()?;
                Some(Standing { rule: Arc::new(rule), effect: Effect::Ask, source: Source::Workspace })
            }
        }
    };
    let remembered = remembered.into_iter().filter_map(standing);
    Book::new(policy.iter().cloned().chain(remembered).collect())
}

/// The texts of the rules that deny reading; commands cannot open these files either.
pub(crate) fn unreadable(policy: &[Standing], remembered: &[TextRule]) -> Vec<String> {
    let policy =
        policy.iter().filter(|standing| standing.effect == Effect::Deny).map(|standing| standing.rule.text());
    let remembered =
        remembered.iter().filter(|rule| effect(rule.effect) == Effect::Deny).map(|rule| rule.text.trim());
    policy.chain(remembered).filter(|text| text.starts_with("read(")).map(str::to_owned).collect()
}

pub(crate) const fn effect(effect: RuleEffect) -> Effect {
    match effect {
        RuleEffect::Deny => Effect::Deny,
        RuleEffect::Ask => Effect::Ask,
        RuleEffect::Allow => Effect::Allow,
    }
}

pub(crate) const fn on_wire(effect: Effect) -> RuleEffect {
    match effect {
        Effect::Deny => RuleEffect::Deny,
        Effect::Ask => RuleEffect::Ask,
        Effect::Allow => RuleEffect::Allow,
    }
}
