//! Amounts as they are typed: `200k` tokens, `0.50` dollars.

/// Tokens; `k` and `m` stand for thousands and millions.
pub(super) fn tokens(typed: &str) -> Result<u64, String> {
    let (number, factor) = match typed.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1_000),
        None => typed.strip_suffix(['m', 'M']).map_or((typed, 1), |number| (number, 1_000_000)),
    };
    let parsed = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    parsed.ok_or_else(|| {
        format!("{typed:?} is no number of tokens; write 200000, 200k or 2m, or 0 for no limit")
    })
}

/// Dollars, in micro-dollars.
pub(super) fn micros(typed: &str) -> Result<u64, String> {
    let wrong = || format!("{typed:?} is no amount of dollars; write 2 or 0.50, or 0 for no limit");
    let number = typed.strip_prefix('$').unwrap_or(typed);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 6 {
        return Err(wrong());
    }
    let whole = whole.parse::<u64>().ok().and_then(|dollars| dollars.checked_mul(1_000_000));
    let part = format!("{part:0<6}").parse::<u64>().ok();
    whole.zip(part).and_then(|(whole, part)| whole.checked_add(part)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_in_thousands_and_millions() {
        let table = [("0", Some(0)), ("1234", Some(1234)), ("200k", Some(200_000)), ("2M", Some(2_000_000))];
        let wrong = ["", "k", "-1", "1.5m", "2g", "18446744073709551615k"].map(|typed| (typed, None));
        for (typed, expected) in table.into_iter().chain(wrong) {
            assert_eq!(tokens(typed).ok(), expected, "{typed:?}");
        }
    }

    #[test]
    fn money_is_in_dollars() {
        let table = [
            ("0", Some(0)),
            ("2", Some(2_000_000)),
            ("0.50", Some(500_000)),
            ("$1.25", Some(1_250_000)),
            ("0.000001", Some(1)),
        ];
        let wrong = ["", ".5", "1.", "-1", "0.0000001", "1,50", "1e3", "18446744073709551615"];
        for (typed, expected) in table.into_iter().chain(wrong.map(|typed| (typed, None))) {
            assert_eq!(micros(typed).ok(), expected, "{typed:?}");
        }
    }
}
