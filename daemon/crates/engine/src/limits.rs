//! Limits: what is over, and what is said.

use abide_protocol::{
    measure::{count, money},
    task::Limits,
    transcript::Usage,
};

/// Share of a token or cost limit at which the user is told, in percent.
const ALERT_PERCENT: u64 = 80;

/// A token or cost limit that has been reached, in words for a question.
pub(crate) fn exhausted(limits: &Limits, usage: &Usage) -> Option<String> {
    if limits.max_tokens > 0 && usage.tokens() >= limits.max_tokens {
        return Some(format!(
            "This task has used {} of {} tokens.",
            count(usage.tokens()),
            count(limits.max_tokens)
        ));
    }
    let cost = usage.cost_micros.unwrap_or(0);
    if limits.max_cost_micros > 0 && cost >= limits.max_cost_micros {
        return Some(format!("This task has cost {} of {}.", money(cost), money(limits.max_cost_micros)));
    }
    None
}

/// Most of a token or cost limit is used, in words.
pub(crate) fn nearly_exhausted(limits: &Limits, usage: &Usage) -> Option<String> {
    let over =
        |used: u64, limit: u64| limit > 0 && used.saturating_mul(100) >= limit.saturating_mul(ALERT_PERCENT);
    if over(usage.tokens(), limits.max_tokens) {
        return Some(format!("{} of {} tokens are used.", count(usage.tokens()), count(limits.max_tokens)));
    }
    let cost = usage.cost_micros.unwrap_or(0);
    over(cost, limits.max_cost_micros)
        .then(|| format!("{} of {} are spent.", money(cost), money(limits.max_cost_micros)))
}

/// The limits after a person said to go on: those reached are raised by `base`, what they were at first.
pub(crate) fn raised(limits: &Limits, base: &Limits, usage: &Usage) -> Limits {
    let raise = |limit: u64, base: u64, used: u64| {
        if limit > 0 && used >= limit { used.saturating_add(base.max(1)) } else { limit }
    };
    Limits {
        max_tokens: raise(limits.max_tokens, base.max_tokens, usage.tokens()),
        max_cost_micros: raise(limits.max_cost_micros, base.max_cost_micros, usage.cost_micros.unwrap_or(0)),
        ..*limits
    }
}
