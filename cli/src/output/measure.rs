//! Durations, counts and money in words.

use abide_client::protocol::{Timestamp, transcript::Usage};

/// `340 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`.
pub(crate) fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..60 => format!("{s} s"),
        60..3600 => two(s / 60, "min", s % 60, "s"),
        3600..86400 => two(s / 3600, "h", s % 3600 / 60, "min"),
        _ => two(s / 86400, "d", s % 86400 / 3600, "h"),
    }
}

/// How long a tool took: `12 ms`, `3.4 s`, then as [`duration`].
pub(crate) fn took(ms: u64) -> String {
    match ms {
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => duration(ms),
    }
}

fn two(big: u64, big_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{big} {big_unit}") } else { format!("{big} {big_unit} {small} {small_unit}") }
}

/// How long ago, in one unit: `now`, `40 s`, `3 min`, `2 h`, `4 d`.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> String {
    match now.since(at) / 1000 {
        0 => "now".to_owned(),
        s @ 1..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s / 60),
        s @ 3600..86400 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86400),
    }
}

/// The same in a sentence.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    match age(at, now) {
        now if now == "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}

/// `1,234,567`
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 step`, `3 steps`
pub(crate) fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Dollars of micro-dollars, to a hundredth of a cent where it is little.
pub(crate) fn money(micros: u64) -> String {
    if micros < 1_000_000 {
        format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
    } else {
        format!("${}.{:02}", count(micros / 1_000_000), micros % 1_000_000 / 10_000)
    }
}

pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1024 => format!("{n} B"),
        1024..1_048_576 => format!("{} KiB", n / 1024),
        _ => format!("{}.{} MiB", n / 1_048_576, n % 1_048_576 * 10 / 1_048_576),
    }
}

/// `1,234 tokens · $0.0042`; nothing where the provider does not tell.
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
        // Not every provider tells.
        0 => format!("{calls}{cost}"),
        tokens => format!("{} in {calls}{cost}", counted(tokens, "token")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short_words() {
        let table = [
            (340, "340 ms"),
            (12_400, "12 s"),
            (60_000, "1 min"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (356_400_000, "4 d 3 h"),
        ];
        for (ms, words) in table {
            assert_eq!(duration(ms), words);
        }
    }

    #[test]
    fn ages_never_run_backwards() {
        assert_eq!(age(Timestamp(10_000), Timestamp(5_000)), "now");
        assert_eq!(ago(Timestamp(0), Timestamp(180_000)), "3 min ago");
        assert_eq!(ago(Timestamp(0), Timestamp(400)), "just now");
    }

    #[test]
    fn numbers_and_money_are_grouped() {
        assert_eq!([count(7), count(1_000), count(1_234_567)], ["7", "1,000", "1,234,567"]);
        assert_eq!([money(4_200), money(999_900), money(1_234_567_890)], ["$0.0042", "$0.9999", "$1,234.56"]);
        assert_eq!([counted(1, "step"), counted(0, "step")], ["1 step", "0 steps"]);
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
