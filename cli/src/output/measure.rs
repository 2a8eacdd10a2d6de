//! Durations, counts and money in words.

pub(crate) use abide_client::protocol::measure::{age, ago, count, counted, duration, money, took};
use abide_client::protocol::transcript::Usage;

pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1024 => format!("{n} B"),
        1024..1_048_576 => format!("{} KiB", n / 1024),
        _ => format!("{}.{} MiB", n / 1_048_576, n % 1_048_576 * 10 / 1_048_576),
    }
}

/// `1,234 tokens · $0.0042`; `None` if the provider reports no tokens.
pub(crate) fn spent(usage: &Usage) -> Option<String> {
    let tokens = Some(usage.tokens()).filter(|tokens| *tokens > 0).map(|tokens| counted(tokens, "token"));
    let cost = usage.cost_micros.map(money);
    let parts: Vec<_> = tokens.into_iter().chain(cost).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// `1,234 tokens in 3 model calls · $0.0042`
pub(crate) fn usage(usage: &Usage) -> String {
    let cost = usage.cost_micros.map(|c| format!(" · {}", money(c))).unwrap_or_default();
    let calls = counted(usage.model_calls, "model call");
    match usage.tokens() {
        // Not every provider reports tokens.
        0 => format!("{calls}{cost}"),
        tokens => format!("{} in {calls}{cost}", counted(tokens, "token")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_words() {
        assert_eq!([bytes(12), bytes(2048), bytes(1_572_864)], ["12 B", "2 KiB", "1.5 MiB"]);
    }

    #[test]
    fn usage_says_what_it_cost_if_a_price_is_known() {
        let known =
            Usage { input: 1000, output: 234, model_calls: 3, cost_micros: Some(4_200), ..Usage::default() };
        assert_eq!(usage(&known), "1,234 tokens in 3 model calls · $0.0042");
        assert_eq!(usage(&Usage { cost_micros: None, ..known }), "1,234 tokens in 3 model calls");
        assert_eq!(usage(&Usage { model_calls: 1, ..Usage::default() }), "1 model call");
    }
}
