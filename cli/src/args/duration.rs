//! A time as it is typed: `90s`, `10m`, `2h`, `1d`.

/// The duration in seconds. A number needs a unit, except 0.
pub(super) fn seconds(typed: &str) -> Result<u64, String> {
    let wrong = || format!("{typed:?} is not a time; write 90s, 10m, 2h or 1d, or 0 for none");
    if typed == "0" {
        return Ok(0);
    }
    let unit = match typed.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86400,
        _ => return Err(wrong()),
    };
    let number: u32 = typed[..typed.len() - 1].parse().map_err(|_| wrong())?;
    Ok(u64::from(number) * unit)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn numbers_have_units() {
        let table = [
            ("90s", Some(90)),
            ("10m", Some(600)),
            ("2h", Some(7200)),
            ("1d", Some(86400)),
            ("0", Some(0)),
            ("0s", Some(0)),
            ("4294967295d", Some(371_085_174_288_000)),
            ("", None),
            ("10", None),
            ("m", None),
            ("-1m", None),
            ("1.5h", None),
            ("10 m", None),
            ("10min", None),
            ("5é", None),
            ("4294967296d", None),
        ];
        for (typed, expected) in table {
            assert_eq!(seconds(typed).ok(), expected, "{typed:?}");
        }
        assert!(seconds("10").unwrap_err().contains("10m"));
    }
}
