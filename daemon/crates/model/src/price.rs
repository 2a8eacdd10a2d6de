//! What tokens cost.

use abide_protocol::transcript::Usage;
use std::collections::HashMap;

/// Micro-dollars for a million tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Price {
    /// What `usage` costs, in micro-dollars, rounded up.
    #[must_use]
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let sum: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// The price table. A model that is not in it has no known price: its cost is absent, not zero.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    own: HashMap<String, Price>,
}

impl Prices {
    /// The built-in list prices of the big providers' own addresses.
    #[must_use]
    pub fn built_in() -> Self {
        Self::default()
    }

    /// Sets the price of `provider/model`; it overrides the built-in one.
    pub fn set(&mut self, model: impl Into<String>, price: Price) {
        self.own.insert(model.into(), price);
    }

    /// The price of a model at a provider whose address has this host.
    #[must_use]
    pub fn get(&self, provider: &str, model: &str, host: &str) -> Option<Price> {
        self.own.get(&format!("{provider}/{model}")).copied().or_else(|| built_in(host, model))
    }
}

/// Only for the vendors' own hosts: a local model named like a hosted one costs nothing.
fn built_in(host: &str, model: &str) -> Option<Price> {
    LIST.iter().find(|row| row.0 == host && is_version_of(model, row.1)).map(
        |&(_, _, [input, output, cache_read, cache_write])| Price { input, output, cache_read, cache_write },
    )
}

/// Whether `model` is `name`, or `name` followed by a date or `latest`. (`gpt-5-mini` is no version of
/// `gpt-5`.)
fn is_version_of(model: &str, name: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else { return false };
    rest.is_empty()
        || rest == "-latest"
        || rest
            .strip_prefix('-')
            .is_some_and(|date| date.starts_with("20") && date.len() >= 8 && date.bytes().all(is_of_date))
}

const fn is_of_date(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'-'
}

const OPENAI: &str = "api.openai.com";
const ANTHROPIC: &str = "api.anthropic.com";

/// Host, model, then micro-dollars for a million tokens: input, output, cache read, cache write.
const LIST: &[(&str, &str, [u64; 4])] = &[
    (OPENAI, "gpt-4o", [2_500_000, 10_000_000, 1_250_000, 2_500_000]),
    (OPENAI, "gpt-4o-mini", [150_000, 600_000, 75_000, 150_000]),
    (OPENAI, "gpt-4.1", [2_000_000, 8_000_000, 500_000, 2_000_000]),
    (OPENAI, "gpt-4.1-mini", [400_000, 1_600_000, 100_000, 400_000]),
    (OPENAI, "gpt-4.1-nano", [100_000, 400_000, 25_000, 100_000]),
    (OPENAI, "gpt-5", [1_250_000, 10_000_000, 125_000, 1_250_000]),
    (OPENAI, "gpt-5-mini", [250_000, 2_000_000, 25_000, 250_000]),
    (OPENAI, "gpt-5-nano", [50_000, 400_000, 5_000, 50_000]),
    (OPENAI, "gpt-5.1", [1_250_000, 10_000_000, 125_000, 1_250_000]),
    (OPENAI, "gpt-5.2", [1_750_000, 14_000_000, 175_000, 1_750_000]),
    (OPENAI, "o3", [2_000_000, 8_000_000, 500_000, 2_000_000]),
    (OPENAI, "o4-mini", [1_100_000, 4_400_000, 275_000, 1_100_000]),
    (ANTHROPIC, "claude-3-haiku", [250_000, 1_250_000, 30_000, 300_000]),
    (ANTHROPIC, "claude-3-5-haiku", [800_000, 4_000_000, 80_000, 1_000_000]),
    (ANTHROPIC, "claude-3-7-sonnet", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    (ANTHROPIC, "claude-sonnet-4", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    (ANTHROPIC, "claude-sonnet-4-5", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    (ANTHROPIC, "claude-haiku-4-5", [1_000_000, 5_000_000, 100_000, 1_250_000]),
    (ANTHROPIC, "claude-opus-4", [15_000_000, 75_000_000, 1_500_000, 18_750_000]),
    (ANTHROPIC, "claude-opus-4-1", [15_000_000, 75_000_000, 1_500_000, 18_750_000]),
    (ANTHROPIC, "claude-opus-4-5", [5_000_000, 25_000_000, 500_000, 6_250_000]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dated_versions_have_the_price_of_their_model_and_cousins_have_none() {
        let prices = Prices::built_in();
        let known = |model| prices.get("x", model, ANTHROPIC).map(|p| p.input);
        assert_eq!(known("claude-opus-4-5-20251101"), Some(5_000_000));
        assert_eq!(known("claude-opus-4-20250514"), Some(15_000_000));
        assert_eq!(known("claude-opus-4-9"), None);
        assert_eq!(prices.get("x", "gpt-5-2025-08-07", OPENAI).map(|p| p.input), Some(1_250_000));
        assert_eq!(prices.get("x", "gpt-5-pro", OPENAI), None);
        assert_eq!(prices.get("local", "gpt-4o", "127.0.0.1"), None);
    }

    #[test]
    fn a_set_price_wins_and_fractions_round_up() {
        let mut prices = Prices::built_in();
        let price = Price { input: 1, output: 2_000_000, cache_read: 0, cache_write: 0 };
        prices.set("openai/gpt-4o", price);
        assert_eq!(prices.get("openai", "gpt-4o", OPENAI), Some(price));
        let usage = Usage { input: 1, output: 3, ..Usage::default() };
        assert_eq!(price.cost_micros(&usage), 7);
    }
}
