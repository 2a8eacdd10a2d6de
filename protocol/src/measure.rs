//! Durations, counts and money in words: the same wherever a person reads them.

use crate::Timestamp;

/// `340 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`.
#[must_use]
pub fn duration(ms: u64) -> String {
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
#[must_use]
pub fn took(ms: u64) -> String {
    match ms {
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => duration(ms),
    }
}

fn two(big: u64, big_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{big} {big_unit}") } else { format!("{big} {big_unit} {small} {small_unit}") }
}

/// How long ago, in one unit: `now`, `40 s`, `3 min`, `2 h`, `4 d`.
#[must_use]
pub fn age(at: Timestamp, now: Timestamp) -> String {
    match now.since(at) / 1000 {
        0 => "now".to_owned(),
        s @ 1..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s / 60),
        s @ 3600..86400 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86400),
    }
}

/// [`age`] in a sentence: `just now`, `3 min ago`.
#[must_use]
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    match age(at, now) {
        now if now == "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}

/// `1,234,567`
#[must_use]
pub fn count(n: u64) -> String {
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
#[must_use]
pub fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Dollars of micro-dollars: `$0`, `$0.0042`, and from a cent on `$0.09`, `$1,234.56`.
#[must_use]
pub fn money(micros: u64) -> String {
    match micros {
        0 => "$0".to_owned(),
        1..10_000 => format!("$0.{:04}", micros / 100),
        _ => format!("${}.{:02}", count(micros / 1_000_000), micros % 1_000_000 / 10_000),
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
        assert_eq!([took(3), took(41_020), took(93_000)], ["3 ms", "41.0 s", "1 min 33 s"]);
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
        assert_eq!([counted(1, "step"), counted(0, "step")], ["1 step", "0 steps"]);
        let table = [(0, "$0"), (4_200, "$0.0042"), (91_000, "$0.09"), (1_234_567_890, "$1,234.56")];
        for (micros, words) in table {
            assert_eq!(money(micros), words);
        }
    }
}
