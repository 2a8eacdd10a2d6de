//! Token and cost limits, and the words about them.

use crate::state::{history::History, task::Task};
use abide_protocol::{
    measure::{count, money},
    task::Limits,
    transcript::Usage,
};

/// Percentage of a token or cost limit at which the user is alerted.
const ALERT_PERCENT: u64 = 80;

/// The text for a question, if a token or cost limit is reached.
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

/// [`exhausted`] for the whole tree of a task: the root's limits are those of all of them.
pub(crate) fn of_tree(history: &History, task: &Task) -> Option<String> {
    exhausted(&history.root().unwrap_or(task).limits, &history.usage())
}

/// The text for an alert, if a token or cost limit is nearly reached.
pub(crate) fn nearly_exhausted(limits: &Limits, usage: &Usage) -> Option<String> {
    let is_near =
        |used: u64, limit: u64| limit > 0 && used.saturating_mul(100) >= limit.saturating_mul(ALERT_PERCENT);
    if is_near(usage.tokens(), limits.max_tokens) {
        return Some(format!("{} of {} tokens are used.", count(usage.tokens()), count(limits.max_tokens)));
    }
    let cost = usage.cost_micros.unwrap_or(0);
    is_near(cost, limits.max_cost_micros)
        .then(|| format!("{} of {} are spent.", money(cost), money(limits.max_cost_micros)))
}

/// The limits after a person has said to go on: each one that was reached is raised by its first value,
/// `base`.
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
